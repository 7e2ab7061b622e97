// Show the inputs of the chosen kind of library; `paths` has the label and the placeholder of its path.
window.nt2vr.chooseKind = (paths, kind) => {
  const [label, placeholder] = paths[kind];
  const update = (visible, rest) => ({ __type__: "update", visible, ...rest });
  return [
    update(kind === "uploads"),
    update(kind !== "uploads", { label, placeholder }),
    update(kind === "dataset"),
    update(true, { value: kind === "folder" || kind === "uploads" ? 10 : 0 }),
  ];
};
