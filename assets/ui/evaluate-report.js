element.addEventListener("click", ({ target }) => {
  if (target.closest("[data-queries]")) document.querySelector("#evaluate-filters")?.scrollIntoView({ block: "start" });
});
