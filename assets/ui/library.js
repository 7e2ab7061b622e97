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
// Files dropped anywhere on the Library tab go to the open library of uploads, otherwise to the form.
{
  const place = ({ target, dataTransfer }) => {
    const tab = document.querySelector("#library");
    if (!tab?.checkVisibility() || !dataTransfer?.types.includes("Files") || target.closest?.("#library-files")) return null;
    return tab.querySelector("#library-open input[type=file]") ?? tab.querySelector("#library-files input[type=file]"); // what is hidden is not mounted
  };
  addEventListener("dragover", (event) => { if (place(event)) event.preventDefault(); });
  addEventListener("drop", (event) => {
    const input = place(event);
    if (!input) return;
    event.preventDefault();
    input.files = event.dataTransfer.files;
    input.dispatchEvent(new Event("change", { bubbles: true }));
  });
}
