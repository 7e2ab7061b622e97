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
