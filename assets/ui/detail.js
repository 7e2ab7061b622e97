// A modal dialog: the browser keeps the focus inside. It returns to the clip that had it, which may have been drawn anew.
let lastFocused = {};
const columnOf = (clip) => clip.closest("[data-column]").dataset.column;
document.addEventListener("focusin", ({ target }) => {
  if (target.matches(".nt-clip")) lastFocused = { id: target.dataset.id, column: columnOf(target) };
});
const clips = () => [...document.querySelectorAll(".nt-clip")].filter((clip) => columnOf(clip) === lastFocused.column);
const positionOf = (all) => {
  const position = all.findIndex(({ dataset }) => dataset.id === props.value.id);
  return position < 0 ? all.findIndex(({ dataset }) => dataset.id === lastFocused.id) : position;
};
const close = () => {
  const all = clips();
  const shownClip = all[positionOf(all)];
  element.querySelector("dialog")?.close();
  trigger("close", {});
  shownClip?.focus();
};
const step = (by) => {
  const all = clips();
  const next = all[positionOf(all) + by];
  if (next) trigger("pick", { id: next.dataset.id });
};
element.addEventListener("click", (event) => {
  const like = event.target.closest("[data-like]");
  const moment = event.target.closest("[data-moment]");
  const stepButton = event.target.closest("[data-step]");
  if (stepButton) step(Number(stepButton.dataset.step));
  else if (like) trigger("like", { id: like.dataset.like, wanted: Number(like.dataset.wanted) });
  else if (moment) trigger("pick", { id: moment.dataset.moment });
  else if (event.target.matches("[data-copy]")) nt2vr.copy(event.target, event.target.dataset.copy, "select it");
  else if (event.target.matches("[data-close]")) close();
});
element.addEventListener("cancel", (event) => { event.preventDefault(); close(); }, true);
// The clip is one of the search that Back and Forward leave.
window.addEventListener("popstate", () => { if (element.querySelector("dialog[open]")) close(); });
document.addEventListener("keydown", ({ key, ctrlKey, metaKey, altKey, target }) => {
  const by = target.matches("textarea") ? 0 : { n: 1, ArrowRight: 1, p: -1, ArrowLeft: -1 }[key];
  if (by && !(ctrlKey || metaKey || altKey) && element.querySelector("dialog[open]")) step(by);
});
// Best-matching frames are stills of the video itself.
element.addEventListener("loadedmetadata", (event) => {
  const { position } = event.target.dataset;
  if (position) event.target.currentTime = position * event.target.duration;
}, true);
// The clip itself is its only control: those of browsers would cover what it shows.
element.addEventListener("click", ({ target }) => {
  if (!target.matches(".nt-large video")) return;
  if (target.paused) target.play().catch(() => {}); else target.pause();
});
watch("value", () => {
  const video = element.querySelector(".nt-large video");
  if (video) nt2vr.showBoxes(video, video.dataset.boxes);
});
const isStill = matchMedia("(prefers-reduced-motion: reduce)");
watch("value", () => {
  const dialog = element.querySelector("dialog");
  if (!dialog || dialog.open) return;
  if (isStill.matches) dialog.querySelectorAll("video[autoplay]").forEach((video) => { video.autoplay = false; video.pause(); });
  const focused = document.activeElement; // Gradio takes `open` away whenever it draws; what had the focus keeps it
  dialog.showModal();
  if (dialog.contains(focused)) focused.focus();
});

// Backwards: browsers play forwards only, so the video is set to one moment after the other; pressed again, it plays on.
const STEP_S = 1 / 12;
let rewinding;
element.addEventListener("click", ({ target }) => {
  const button = target.closest("[data-backwards]");
  if (button) trigger(button.ariaPressed === "true" ? "pick" : "backwards", { id: props.value.id });
});
watch("value", () => {
  const [video, was] = [element.querySelector(".nt-stage video"), rewinding];
  clearInterval(rewinding);
  rewinding = undefined;
  if (!video) return;
  if (props.value.pressed !== "true") { if (was) video.play().catch(() => {}); return; }
  video.pause();
  rewinding = setInterval(() => {
    if (video.seeking || !video.duration) return;
    const at = video.currentTime - STEP_S;
    video.currentTime = at > 0 ? at : video.duration - STEP_S;
  }, 1000 * STEP_S);
});

// Why: the reasons of two systems at a time; another one takes the place of the first, and one always remains.
let isAsked = false; // whether the answer is to be scrolled to
const toggled = (column) => {
  const columns = props.value.why.columns.split(",");
  const others = columns.filter((name) => name !== column);
  if (others.length < columns.length) return (others.length ? others : columns).join(",");
  return [...columns, column].slice(-2).join(",");
};
element.addEventListener("click", (event) => {
  const why = event.target.closest("[data-why]");
  const column = event.target.closest(".nt-choices [data-column]");
  if (why) {
    isAsked = true;
    trigger("why", { id: props.value.id, columns: why.dataset.why });
  } else if (column) trigger("why", { id: props.value.id, columns: toggled(column.dataset.column) });
});
watch("value", () => {
  if (!isAsked || !props.value.why) return;
  isAsked = false;
  requestAnimationFrame(() => element.querySelector(".nt-why")?.scrollIntoView({ block: "start" }));
});

// Which caption fits: what is typed goes along with every change that the rules make.
element.addEventListener("click", ({ target }) => {
  const button = target.closest("[data-match]");
  if (!button) return;
  const lines = element.querySelector(".nt-lines textarea")?.value ?? "";
  isMatched = true;
  trigger("match", { id: props.value.id, lines, change: button.dataset.match });
});
let isMatched = false;
watch("value", () => {
  if (!isMatched || !props.value.match) return;
  isMatched = false;
  const box = element.querySelector(".nt-lines textarea");
  if (box) box.value = props.value.match.text; // a box that was typed in keeps its own text otherwise
  requestAnimationFrame(() => element.querySelector(".nt-match")?.scrollIntoView({ block: "start" }));
});
// A match is also asked for by a link or a story, as the clip and a caption per line, and on the stage by a key.
nt2vr.match = (text) => {
  const [id, ...lines] = text.split("\n");
  isMatched = true;
  trigger("match", { id, lines: lines.join("\n"), change: lines.length ? "" : "negate" });
};
const LONGEST = 4000; // letters of a link
const ofAddress = () => new URLSearchParams(location.search).get("match") ?? "";
nt2vr.matching = ofAddress(); // once there is an answer
window.addEventListener("popstate", () => { nt2vr.matching = ofAddress(); });
document.addEventListener("nt-answered", () => {
  const text = nt2vr.matching;
  nt2vr.matching = "";
  if (text) nt2vr.match(text);
});
watch("value", () => {
  const { id, match } = props.value;
  const address = new URLSearchParams(location.search);
  if (match) address.set("match", `${id}\n${match.text}`); else if (!nt2vr.matching) address.delete("match");
  if (`${address}`.length < LONGEST) history.replaceState(history.state, "", `?${address}`);
});
