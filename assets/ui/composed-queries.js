// A row is an ordinary link to its text; a plain click opens it in this page, with the reference.
element.addEventListener("click", (event) => {
  const link = event.target.closest("[data-place]");
  if (link && !(event.ctrlKey || event.metaKey || event.shiftKey)) {
    event.preventDefault();
    scrollTo(0, 0);
    trigger("open", { id: props.value.id, place: Number(link.dataset.place) });
  }
  const turn = event.target.closest("[data-page]");
  if (turn) trigger("turn", { page: props.value.page + Number(turn.dataset.page) });
});
