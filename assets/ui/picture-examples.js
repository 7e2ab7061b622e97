element.addEventListener("click", ({ target }) => {
  const example = target.closest("[data-link]");
  if (example) trigger("open", { link: example.dataset.link });
});
