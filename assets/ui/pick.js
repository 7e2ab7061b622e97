// Of what can be picked, Python gets the id, whether it is picked by mouse or by key.
const pick = (event) => {
  const picked = event.target.closest("[data-id]");
  if (picked) trigger("pick", { id: picked.dataset.id });
};
element.addEventListener("click", pick);
element.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" && event.key !== " ") return;
  event.preventDefault();
  pick(event);
});
