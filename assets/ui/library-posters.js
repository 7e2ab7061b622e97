// An ordinary link (for a new tab, say); a plain click opens it in this page.
element.addEventListener("click", (event) => {
  const link = event.target.closest("[data-open]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  trigger("open", { id: link.dataset.open, link: nt2vr.lastIn(link.dataset.open) });
});
// A pointer over a film leads through its moments.
const moment = ({ target, clientX, type }) => {
  const film = target.closest?.("[data-moments]");
  if (!film) return;
  const [moments, { left, width }] = [film.dataset.moments.split(" "), film.getBoundingClientRect()];
  const at = type === "pointerout" ? 0 : Math.max(0, Math.min(0.999, (clientX - left) / width));
  film.querySelector("img").src = moments[Math.floor(at * moments.length)];
  film.style.setProperty("--nt-at", `${100 * at}%`);
};
element.addEventListener("pointermove", moment);
element.addEventListener("pointerout", moment);
