// Columns of runs have a slider through the epochs.
const REST_MS = 150;
let waiting; // for the slider to rest
element.addEventListener("input", ({ target }) => {
  if (!target.matches(".nt-epochs input")) return;
  const { run } = target.closest("[data-run]").dataset;
  const epoch = Number(target.dataset.epochs.split(",")[target.value]);
  target.nextElementSibling.textContent = `${epoch}`;
  clearTimeout(waiting);
  waiting = setTimeout(() => { waiting = undefined; trigger("epoch", { run, epoch }); }, REST_MS);
});
watch("value", () => {
  if (waiting) return; // moved on meanwhile
  for (const slider of element.querySelectorAll(".nt-epochs input")) slider.value = slider.dataset.place;
});
