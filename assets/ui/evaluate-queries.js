// A row is an ordinary link (for a new tab, say); a plain click opens it in this page, which keeps the list.
element.addEventListener("click", (event) => {
  const link = event.target.closest("[data-open]");
  if (link && !(event.ctrlKey || event.metaKey || event.shiftKey)) {
    event.preventDefault();
    scrollTo(0, 0);
    trigger("open", { link: link.getAttribute("href") });
  }
  const turn = event.target.closest("[data-page]");
  if (turn) trigger("turn", { page: props.value.page + Number(turn.dataset.page) });
});
// Unfolded details belong to a query, not to its position: close them when the list changes.
watch("value", () => element.querySelectorAll("details[open]").forEach((details) => { details.open = false; }));
