const pick = (event) => {
  const report = event.target.closest("[data-id]");
  if (report) trigger("pick", { id: report.dataset.id });
};
element.addEventListener("click", pick);
element.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" && event.key !== " ") return;
  event.preventDefault();
  pick(event);
});
