element.addEventListener("click", (event) => {
  const chosen = event.target.closest("[data-name]");
  if (chosen) trigger("choose", { name: chosen.dataset.name });
});
