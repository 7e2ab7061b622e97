const close = () => trigger("close", {});
element.addEventListener("click", (event) => {
  const like = event.target.closest("[data-like]");
  const moment = event.target.closest("[data-moment]");
  if (like) trigger("like", { id: like.dataset.like });
  else if (moment) trigger("pick", { id: moment.dataset.moment });
  else if (event.target.matches("[data-close]")) close();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && element.querySelector(".nt-detail")) close();
  const typing = /^(INPUT|TEXTAREA)$/.test(document.activeElement?.tagName ?? "");
  if (event.key === "/" && !typing) {
    event.preventDefault();
    document.querySelector("#query textarea")?.focus();
  }
});
// Best-matching frames are stills of the video itself.
element.addEventListener("loadedmetadata", (event) => {
  const { at } = event.target.dataset;
  if (at) event.target.currentTime = at * event.target.duration;
}, true);
watch("value", () => element.querySelector(".nt-close")?.focus());
