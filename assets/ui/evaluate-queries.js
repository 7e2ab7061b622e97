// A row is an ordinary link (for a new tab, say); a plain click opens its review, and the list stays as it is. A picture
// plus a text has none: a click opens it in Search, with its reference.
element.addEventListener("click", (event) => {
  const link = event.target.closest("[data-show], [data-search]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  if (link.dataset.search) {
    scrollTo(0, 0);
    trigger("search", { link: link.dataset.search });
    return;
  }
  window.nt2vr.go(link.getAttribute("href"));
  trigger("show", {});
});
watch("value", () => {
  // Unfolded details belong to a query, not to its position: close them when the list changes.
  element.querySelectorAll("details[open]").forEach((details) => { details.open = false; });
});
