// An ordinary link (for a new tab, say); a plain click opens it in this page.
element.addEventListener("click", (event) => {
  const link = event.target.closest("[data-open]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  trigger("open", { id: link.dataset.open, link: nt2vr.lastIn(link.dataset.open) });
});
