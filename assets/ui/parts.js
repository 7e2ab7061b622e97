// A word moves to the other part by a click.
element.addEventListener("click", ({ target }) => {
  const word = target.closest("[data-wanted]");
  if (!word) return;
  nt2vr.change({ parts: nt2vr.parts(word.dataset) });
  trigger("ask", {});
});
// Words also move by drag: dropped in the other zone, one does what a click on it would.
let dragged;
const zoneOf = (target) => target.closest?.("[data-zone]");
const isOther = (zone) => dragged && zone && zone !== zoneOf(dragged);
element.addEventListener("dragstart", (event) => {
  dragged = event.target.closest?.("[data-wanted]");
  if (!dragged) return;
  event.dataTransfer.setData("text/plain", dragged.textContent); // Firefox drags nothing without
  element.classList.add("nt-dragging");
});
element.addEventListener("dragover", (event) => { if (isOther(zoneOf(event.target))) event.preventDefault(); });
element.addEventListener("drop", (event) => {
  if (!isOther(zoneOf(event.target))) return;
  event.preventDefault();
  dragged.click();
});
element.addEventListener("dragend", () => { dragged = undefined; element.classList.remove("nt-dragging"); });
