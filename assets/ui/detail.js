// A modal dialog: the browser keeps the focus inside. It returns to the clip that was opened last.
let opener = null;
const close = () => {
  element.querySelector("dialog")?.close();
  trigger("close", {});
  opener?.focus();
  opener = null;
};
const clips = () => [...(opener?.closest("ol") ?? element).querySelectorAll(".nt-clip")];
const step = (by) => {
  const all = clips();
  const next = all[all.indexOf(opener) + by];
  if (!next) return;
  opener = next;
  trigger("pick", { id: next.dataset.id });
};
element.addEventListener("click", (event) => {
  const like = event.target.closest("[data-like]");
  const moment = event.target.closest("[data-moment]");
  if (like) trigger("like", { id: like.dataset.like });
  else if (moment) trigger("pick", { id: moment.dataset.moment });
  else if (event.target.matches("[data-close]")) close();
});
element.addEventListener("cancel", (event) => { event.preventDefault(); close(); }, true);
document.addEventListener("keydown", ({ key, ctrlKey, metaKey, altKey }) => {
  const by = { n: 1, p: -1 }[key];
  if (by && !(ctrlKey || metaKey || altKey) && element.querySelector("dialog[open]")) step(by);
});
// Best-matching frames are stills of the video itself.
element.addEventListener("loadedmetadata", (event) => {
  const { at } = event.target.dataset;
  if (at) event.target.currentTime = at * event.target.duration;
}, true);
const isStill = matchMedia("(prefers-reduced-motion: reduce)");
watch("value", () => {
  const dialog = element.querySelector("dialog");
  if (!dialog || dialog.open) return;
  if (document.activeElement?.matches(".nt-clip")) opener = document.activeElement;
  if (isStill.matches) dialog.querySelectorAll("video[autoplay]").forEach((video) => { video.autoplay = false; video.pause(); });
  dialog.showModal();
});
