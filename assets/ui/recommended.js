element.addEventListener("click", (event) => {
  const chosen = event.target.closest("[data-name]");
  if (chosen) trigger("choose", { name: chosen.dataset.name });
  const taught = event.target.closest("[data-teach]");
  if (taught) trigger("teach", { name: taught.dataset.teach });
});
