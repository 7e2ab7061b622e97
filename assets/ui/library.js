// Show the inputs of the chosen kind of library; `paths` has the label and the placeholder of its path.
window.nt2vr.chooseKind = (paths, kind) => {
  const [label, placeholder] = paths[kind];
  const { show } = window.nt2vr;
  return [
    show(kind === "uploads"),
    { ...show(kind !== "uploads"), label, placeholder },
    show(kind === "dataset"),
    { ...show(true), value: kind === "folder" || kind === "uploads" ? 10 : 0 },
  ];
};
