element.addEventListener("click", ({ target }) => {
  const example = target.closest("[data-link]");
  if (!example) return;
  nt2vr.borrow(example.dataset.link);
  trigger("ask", {});
});
