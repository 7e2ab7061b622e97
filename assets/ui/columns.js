// With reduced motion, clips play only while hovered.
if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
  const still = () => element.querySelectorAll("video").forEach((video) => { video.autoplay = false; video.pause(); });
  still();
  watch("value", still);
  element.addEventListener("mouseover", (event) => { if (event.target.tagName === "VIDEO") event.target.play(); });
  element.addEventListener("mouseout", (event) => { if (event.target.tagName === "VIDEO") event.target.pause(); });
}
