element.addEventListener("click", (event) => {
  const modelButton = event.target.closest("[data-name]");
  if (modelButton) trigger("choose", { name: modelButton.dataset.name });
  const teachButton = event.target.closest("[data-teach]");
  if (teachButton) trigger("teach", { name: teachButton.dataset.teach });
});
