// A clicked entry, or one activated by key, is the place that is opened next; see evaluate.js.
const open = (event) => {
  const entry = event.target.closest("[data-place]");
  if (!entry) return;
  event.preventDefault();
  nt2vr.wantPlace(entry.dataset.place);
  trigger("pick", {});
};
element.addEventListener("click", open);
element.addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") open(event); });
