element.addEventListener("click", (event) => {
  if (event.target.closest("[data-get]")) return trigger("get", {});
  const button = event.target.closest("[data-models]");
  if (button) trigger("start", { models: button.dataset.models });
});
