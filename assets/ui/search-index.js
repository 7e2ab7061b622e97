element.addEventListener("click", (event) => {
  if (event.target.closest("[data-get]")) return trigger("get", {});
  const teachButton = event.target.closest("[data-teach]");
  if (teachButton) return trigger("teach", { name: teachButton.dataset.teach });
  const link = event.target.closest("[data-open]");
  if (link && !(event.ctrlKey || event.metaKey || event.shiftKey)) {
    event.preventDefault();
    return trigger("open", { id: link.dataset.open, link: link.search.slice(1) });
  }
  const button = event.target.closest("[data-models]");
  if (button) trigger("start", { models: button.dataset.models });
});
