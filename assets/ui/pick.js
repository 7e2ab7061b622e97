// Send the id of a clicked element, or of one activated by key, to Python.
const pick = (event) => {
  const target = event.target.closest("[data-id]");
  if (target) trigger("pick", { id: target.dataset.id });
};
element.addEventListener("click", pick);
element.addEventListener("keydown", (event) => {
  if ((event.key !== "Enter" && event.key !== " ") || !event.target.closest("[data-id]")) return;
  event.preventDefault();
  pick(event);
});
