element.addEventListener("click", async (event) => {
  const read = event.target.closest("[data-word]");
  const moved = event.target.closest("[data-wanted]");
  const offer = event.target.closest("[data-query]");
  if (event.target.closest("[data-flip]")) return trigger("flip", {});
  nt2vr.clicked = { ...(read ?? moved ?? offer)?.dataset };
  if (read) return trigger("literal", {});
  if (moved) return trigger("correct", {});
  if (offer) return trigger("take", {});
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  try {
    await navigator.clipboard.writeText(location.href);
    button.textContent = "copied";
  } catch {
    button.textContent = "copy it from the address bar";
  }
  setTimeout(() => { button.textContent = "copy link"; }, 2000);
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
// Back and Forward open the link that the address then holds.
window.addEventListener("popstate", () => {
  const link = location.search.slice(1);
  if (new URLSearchParams(link).has("report")) trigger("report", { link });
  else {
    nt2vr.popped = location.search;
    trigger("back", {});
  }
});
