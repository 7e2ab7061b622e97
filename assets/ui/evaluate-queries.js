// A row is a link that works by itself (a new tab, say); a plain click opens it in this page, which keeps its list.
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
// What one unfolded belongs to the query, not to the place in the list.
watch("value", () => element.querySelectorAll("details[open]").forEach((details) => { details.open = false; }));
