// A search with the run's model is an ordinary link (for a new tab, say); a plain click opens it in this page.
element.addEventListener("click", (event) => {
  const link = event.target.closest("[data-search]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  history.pushState({}, "", link.getAttribute("href"));
  dispatchEvent(new PopStateEvent("popstate", { state: {} }));
  scrollTo(0, 0);
});
