// An ordinary link (for a new tab, say); a plain click opens it in this page.
element.addEventListener("click", (event) => {
  const link = event.target.closest("[data-open]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  trigger("open", { id: link.dataset.open, link: nt2vr.lastIn(link.dataset.open) });
});
// A pointer over a long video leads through its moments.
const moment = ({ target, clientX, type }) => {
  const poster = target.closest?.("[data-moments]");
  if (!poster) return;
  const [moments, { left, width }] = [poster.dataset.moments.split(" "), poster.getBoundingClientRect()];
  const at = type === "pointerout" ? 0 : Math.max(0, Math.min(0.999, (clientX - left) / width));
  poster.querySelector("img").src = moments[Math.floor(at * moments.length)];
  poster.style.setProperty("--nt-at", `${100 * at}%`);
};
element.addEventListener("pointermove", moment);
element.addEventListener("pointerout", moment);
