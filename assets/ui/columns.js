const pick = (event) => {
  const clip = event.target.closest("[data-id]");
  if (clip) trigger("pick", { id: clip.dataset.id });
};
element.addEventListener("click", pick);
element.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" && event.key !== " ") return;
  event.preventDefault();
  pick(event);
});
// Who asked the system for less motion sees still clips, which play while pointed at.
if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
  const still = () => element.querySelectorAll("video").forEach((video) => { video.autoplay = false; video.pause(); });
  still();
  watch("value", still);
  element.addEventListener("mouseover", (event) => { if (event.target.tagName === "VIDEO") event.target.play(); });
  element.addEventListener("mouseout", (event) => { if (event.target.tagName === "VIDEO") event.target.pause(); });
}
