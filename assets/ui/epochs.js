// Columns of runs: a slider through the epochs, and clips that move to their new places.
const [MOVE_MS, REST_MS] = [600, 150];
const isStill = matchMedia("(prefers-reduced-motion: reduce)");
const runColumns = () => [...element.querySelectorAll("[data-run]")];
const placesIn = (column) => new Map([...column.querySelectorAll(".nt-clip")].map((clip) => [
  clip.dataset.id, { left: clip.offsetLeft, top: clip.offsetTop },
]));
let shown = { key: "", places: new Map() }; // by run, where each clip was
const fly = (column, before) => {
  for (const clip of column.querySelectorAll(".nt-clip")) {
    const was = before.get(clip.dataset.id);
    const frames = was
      ? { transform: [`translate(${was.left - clip.offsetLeft}px, ${was.top - clip.offsetTop}px)`, "none"] }
      : { opacity: [0, 1] };
    if (!was || was.left !== clip.offsetLeft || was.top !== clip.offsetTop) {
      clip.animate(frames, { duration: MOVE_MS, easing: "ease-in-out" });
    }
  }
};
// To be called once the clips have their sizes; they fly only if the same query was searched for again.
const moveClips = (isNew) => {
  const key = props.value.key ?? "";
  const places = new Map(runColumns().map((column) => [column.dataset.run, placesIn(column)]));
  if (isNew && key === shown.key && !isStill.matches) {
    for (const column of runColumns()) {
      if (shown.places.has(column.dataset.run)) fly(column, shown.places.get(column.dataset.run));
    }
  }
  shown = { key, places };
};
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
