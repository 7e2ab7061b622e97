// On narrow pages the columns scroll sideways; a score brings its column into view.
element.addEventListener("click", (event) => {
  const system = event.target.closest("[data-system]")?.dataset.system;
  const column = [...element.querySelectorAll("[data-column]")].find(({ dataset }) => dataset.column === system);
  if (system) column?.scrollIntoView({ block: "nearest", inline: "start" });
});
// With reduced motion, clips play only while hovered.
if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
  const still = () => element.querySelectorAll("video").forEach((video) => { video.autoplay = false; video.pause(); });
  still();
  watch("value", still);
  element.addEventListener("mouseover", (event) => { if (event.target.tagName === "VIDEO") event.target.play(); });
  element.addEventListener("mouseout", (event) => { if (event.target.tagName === "VIDEO") event.target.pause(); });
}
