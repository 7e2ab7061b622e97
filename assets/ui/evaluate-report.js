// A figure is an ordinary link (for a new tab, say) to its queries; a plain click lists them below.
element.addEventListener("click", (event) => {
  const link = event.target.closest("[data-show]");
  const isPlain = !event.ctrlKey && !event.metaKey && !event.shiftKey;
  if (link && isPlain) {
    event.preventDefault();
    window.nt2vr.go(link.getAttribute("href"));
    trigger("show", {});
  }
  if ((link && isPlain) || event.target.closest("[data-queries]")) document.querySelector("#evaluate-filters")?.scrollIntoView({ block: "start" });
});
// A term is explained below its table: where the mouse is, where the focus is, and where somebody taps.
const explain = ({ target }) => {
  const term = target.closest(".nt-term");
  if (term) term.closest(".nt-explained").querySelector(".nt-explains").textContent = `${term.textContent}: ${term.title}`;
};
["pointerover", "focusin", "click"].forEach((event) => element.addEventListener(event, explain));
