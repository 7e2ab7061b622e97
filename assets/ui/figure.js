// The first clip of several systems, as a figure in a dialog. It stands still, as the SVG does that it is saved as.
const draw = (systems) => trigger("draw", { systems: systems.join("|") });
const close = () => {
  element.querySelector("dialog")?.close();
  props.value = {};
};
const toggled = (system) => props.value.choices
  .filter((each) => (each.on === "true") !== (each.system === system)).map((each) => each.system);
const loaded = (video) => video.readyState > 1 || new Promise((done) => {
  for (const end of ["loadeddata", "error"]) video.addEventListener(end, done, { once: true });
});
const saveSvg = async () => {
  const all = (selector) => [...element.querySelectorAll(selector)];
  await Promise.all(all("video").map(loaded));
  const [figure] = all("figure");
  const { x, y, width, height } = figure.getBoundingClientRect();
  const drawn = slide({ x, y, width, height }, figure, all("figcaption, h3, .nt-note"), all(".nt-found-clip"));
  save(drawn, "nt2vr-figure.svg", "image/svg+xml");
};
document.addEventListener("click", ({ target }) => { if (target.closest("[data-figure]")) draw([]); });
element.addEventListener("click", ({ target }) => {
  const { system } = target.closest("[data-system]")?.dataset ?? {};
  if (system) draw(toggled(system));
  else if (target.closest("[data-save]")) saveSvg();
  else if (target.matches("[data-close]")) close();
});
element.addEventListener("cancel", (event) => { event.preventDefault(); close(); }, true);
window.addEventListener("popstate", () => { if (element.querySelector("dialog[open]")) close(); }); // at another search
watch("value", () => {
  const dialog = element.querySelector("dialog");
  if (!dialog || dialog.open) return;
  const held = document.activeElement; // Gradio takes `open` away whenever it draws; what had the focus keeps it
  dialog.showModal();
  if (dialog.contains(held)) held.focus();
});
