element.addEventListener("click", (event) => {
  const button = event.target.closest("[data-models]");
  if (button) trigger("start", { models: button.dataset.models });
});
