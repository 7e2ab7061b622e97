const pick = (event) => {
  const run = event.target.closest("[data-id]");
  if (run) trigger("pick", { id: run.dataset.id });
};
element.addEventListener("click", pick);
element.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" && event.key !== " ") return;
  event.preventDefault();
  pick(event);
});
