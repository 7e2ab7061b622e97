// Stage mode: the sentence, the columns and their verdicts fill the screen; stories are searches with a speaker's note.
const ON = "nt-on-stage";
const page = document.body.classList;
const part = (selector) => element.querySelector(selector);
const isOn = () => page.contains(ON);
const isGuessing = () => page.contains("nt-guessing");

let stories = nt2vr.loadStories();
const storeAll = () => nt2vr.storeStories(stories);
let position = -1; // of the story that is shown; -1 for another search

// Classes of the body, as Gradio scopes what is inside @media to below it.
const MEDIA = { "nt-narrow": "(max-width: 1000px)", "nt-phone": "(max-width: 640px)", "nt-touch": "(hover: none)" };
for (const [name, query] of Object.entries(MEDIA)) {
  const media = matchMedia(query);
  const follow = () => page.toggle(name, media.matches);
  media.addEventListener("change", follow);
  follow();
}
const OFF = ["nt-off-1", "nt-off-2", "nt-off-3", "nt-off-4"];
const reveal = () => page.remove(...OFF, "nt-ends");
const writeAddress = (isStage) => {
  const address = new URLSearchParams(location.search);
  if (isStage) address.set("stage", "1"); else ["stage", "stories"].forEach((name) => address.delete(name));
  if (page.contains("nt-guessing")) address.set("guess", "1"); else address.delete("guess");
  history.replaceState(history.state, "", `?${address}`);
};
// The closing slide follows the last story, and any story can be left for it.
const CLOSING = "nt-closing";
const isClosing = () => page.contains(CLOSING);
const writeLabel = () => {
  const count = `${position + 1} of ${stories.length}`;
  const ofStory = position < 0 ? "" : count;
  part(".nt-place").textContent = isClosing() ? "The end" : ofStory;
  part("[data-do=end]").ariaPressed = `${isClosing()}`;
  writeNotes();
};
const openClosing = () => {
  page.add(CLOSING);
  nt2vr.fillClosing();
  writeLabel();
};
const closeClosing = () => {
  page.remove(CLOSING);
  writeLabel();
};
const show = (to) => {
  if (!stories[to]) return;
  position = to;
  page.remove(CLOSING);
  reveal();
  page.toggle("nt-covered", isGuessing());
  page.toggle("nt-one", !isGuessing() && (revealsEach || page.contains("nt-one")));
  writeLabel();
  nt2vr.matching = isGuessing() ? "" : `${stories[position].match ?? ""}`;
  nt2vr.borrow(isGuessing() ? nt2vr.linkOfGuess(stories[position]) : nt2vr.linkOfStory(stories[position]));
  trigger("ask", {});
};
// Who guesses passes over stories about captions.
const playable = () => [...stories.keys()].filter((number) => !isGuessing() || !stories[number].match);
const goOn = () => {
  const next = playable().find((number) => number > position);
  if (next === undefined) openClosing();
  else show(next);
};
const startAgain = () => {
  nt2vr.startGuessing();
  show(playable()[0]);
};
const goBack = () => {
  const previous = playable().findLast((number) => number < position);
  if (previous !== undefined) show(previous);
};
const guessFirst = (isOn) => {
  page.toggle("nt-guessing", isOn);
  part("[data-do=guess]").ariaPressed = `${isOn}`;
  writeAddress(true);
  if (!isOn) return nt2vr.uncover();
  nt2vr.startGuessing();
  const current = playable().find((number) => number >= position);
  show(current ?? playable()[0]);
};
// The story that the address shows, if it is one.
const findStory = () => {
  const now = new URLSearchParams(location.search);
  const chosen = (now.get("systems") ?? "").split("|");
  position = stories.findIndex(({ query, systems }) => query === now.get("q") && chosen.every((each) => systems.includes(each)));
  page.toggle("nt-ends", position < 0);
  writeLabel();
};
let revealsEach = false;
const revealEach = () => {
  revealsEach = !revealsEach;
  part("[data-do=each]").ariaPressed = `${revealsEach}`;
};
// All systems of a story; of any other search the first, the last and those that learn, which can be read from the last row.
const enter = () => {
  findStory();
  page.add(ON);
  writeAddress(true);
  window.scrollTo(0, 0);
  document.activeElement?.blur();
};
const leave = () => {
  page.remove(ON, "nt-one", "nt-guessing", CLOSING);
  part("[data-do=guess]").ariaPressed = "false";
  nt2vr.uncover();
  reveal();
  writeAddress(false);
};
const toggle = (number) => {
  const between = [...document.querySelectorAll("#columns [data-column]")].slice(1, -1);
  if (page.contains("nt-ends")) between.forEach((column, i) => { if (!column.matches(".nt-learner")) page.add(OFF[i + 1]); });
  page.remove("nt-ends");
  page.toggle(OFF[number - 1]);
};

// The speaker's window: note, clock and next story, which the audience never sees.
const CLOSING_NOTES = { query: "The end", note: "The room's score, the systems' figures, and the address of this page." };
let speaker;
let since = 0;
const clock = (ms) => new Date(ms).toISOString().slice(11, 19);
const inNotes = (tag, text) => speaker.document.body.appendChild(Object.assign(speaker.document.createElement(tag), { textContent: text }));
const writeNotes = () => {
  if (!speaker || speaker.closed) return;
  const { body } = speaker.document;
  body.replaceChildren();
  inNotes("time", "");
  const story = isClosing() ? CLOSING_NOTES : stories[position];
  inNotes("h1", story?.query ?? "");
  inNotes("p", story?.note ?? "No story is on the stage.");
  const next = isClosing() ? undefined : stories[position + 1] ?? CLOSING_NOTES;
  inNotes("h2", next ? "Next" : "");
  inNotes("h3", next?.query ?? "");
  inNotes("p", next?.note ?? "");
  for (const [text, act] of [["‹ back", acts.back], ["next ›", acts.next]]) inNotes("button", text).addEventListener("click", () => act());
  tick();
};
const tick = () => {
  if (!speaker || speaker.closed) return;
  const now = new Date().toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  speaker.document.querySelector("time").textContent = `${position < 0 ? "–" : position + 1} of ${stories.length} · ${clock(Date.now() - since)} · ${now}`;
};
const openNotes = () => {
  if (speaker && !speaker.closed) return speaker.focus();
  speaker = window.open("", "nt2vr-notes", "popup,width=720,height=520");
  if (!speaker) return window.alert("The browser has blocked the window with the notes. Allow windows of this page.");
  since = Date.now();
  speaker.document.title = "nT2VR notes";
  speaker.document.head.innerHTML = "<style>body{margin:24px;font:20px/1.45 system-ui,sans-serif;color:#e6e9ef;background:#14181f}time{color:#9aa4b2;font-variant-numeric:tabular-nums}h1{margin:8px 0;font-size:30px}h2{margin:28px 0 0;font-size:16px;color:#9aa4b2}h3{margin:0}button{margin:0 8px 0 0;padding:8px 18px;font:inherit}</style>";
  speaker.addEventListener("keydown", onKey, true);
  writeNotes();
};
setInterval(tick, 1000);

// A slide is an SVG of what an area of the page shows: every word, box and clip at its place.
const escaped = (text) => text.replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);
const box = (each) => {
  const { x, y, width, height } = each.getBoundingClientRect();
  return `x="${x}" y="${y}" width="${width}" height="${height}"`;
};
const words = (root) => {
  const drawn = [];
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const style = getComputedStyle(node.parentElement);
    for (const { 0: word, index } of node.data.matchAll(/\S+/g)) {
      const range = document.createRange();
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      const { x, y, width, height } = range.getBoundingClientRect();
      if (width) drawn.push(`<text x="${x}" y="${y + height / 2}" dominant-baseline="central" textLength="${width}" font-family="${escaped(style.fontFamily)}" font-size="${style.fontSize}" font-weight="${style.fontWeight}" fill="${style.color}" text-decoration="${style.textDecorationLine}">${escaped(word)}</text>`);
    }
  }
  return drawn.join("");
};
const visible = (selector, root = document) => [...root.querySelectorAll(selector)].filter((each) => each.checkVisibility({ visibilityProperty: true }));
const ground = (each) => `<rect ${box(each)} rx="8" fill="${getComputedStyle(each).backgroundColor}"/>`;
const onGround = (each) => ground(each) + words(each);
// As CSS draws borders, within the box.
const outline = (each, color, line) => {
  const { x, y, width, height } = each.getBoundingClientRect();
  return `<rect x="${x + line / 2}" y="${y + line / 2}" width="${width - line}" height="${height - line}" rx="${line * 2}" fill="none" stroke-width="${line}" stroke="${color}"/>`;
};
const clip = (each) => {
  const video = each.querySelector("video");
  const canvas = Object.assign(document.createElement("canvas"), { width: video.videoWidth, height: video.videoHeight });
  canvas.getContext("2d").drawImage(video, 0, 0);
  const around = visible(".nt-box rect", each).map((mark) => outline(mark, getComputedStyle(mark).stroke, 2.5));
  const marks = visible(".nt-rank, .nt-mark, .nt-lacks", each).map(onGround);
  return `<image ${box(video)} href="${canvas.toDataURL("image/jpeg", 0.92)}"/>${around.join("")}${outline(each, getComputedStyle(each).borderColor, 4)}${marks.join("")}`;
};
const line = (row) => {
  const { x, y, width } = row.getBoundingClientRect();
  return `<rect x="${x}" y="${y}" width="${width}" height="1" fill="${getComputedStyle(row).borderTopColor}"/>`;
};
const picture = (each) => `<image ${box(each)} href="${each.src}"/>`;
const ofStory = () => {
  const texts = visible("#understood .nt-sentence, #columns h3, #columns .nt-about-it, #columns .nt-sum, #columns .nt-stayed");
  const cues = texts.flatMap((text) => [...text.querySelectorAll(".nt-cue")]);
  return [...cues.map(ground), ...texts.map(words), ...visible("#columns .nt-score").map(onGround), ...visible(".nt-clip").map(clip)];
};
const ofClosing = () => [
  ...visible(".nt-end .nt-dots i").map(ground),
  ...visible(".nt-end tbody tr").map(line),
  ...visible(".nt-end :is(h2, caption, th, td, figcaption)").map(words),
  ...visible(".nt-end img").map(picture),
];
const drawn = () => {
  const title = document.querySelector(isClosing() ? ".nt-end h2" : "#understood .nt-sentence")?.textContent;
  const [size, paper] = [`width="${innerWidth}" height="${innerHeight}"`, getComputedStyle(document.querySelector(".gradio-container")).backgroundColor];
  const parts = isClosing() ? ofClosing() : ofStory();
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} viewBox="0 0 ${innerWidth} ${innerHeight}"><title>${escaped(title ?? "nT2VR")}</title><rect ${size} fill="${paper}"/>${parts.join("")}</svg>`;
};
const save = (content, name, type) => {
  const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(new Blob([content], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
};
const saveSvg = () => save(drawn(), "nt2vr.svg", "image/svg+xml");
const savePng = async () => {
  const picture = new Image();
  picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(drawn())}`;
  await picture.decode();
  const times = Math.max(1, 1920 / innerWidth);
  const canvas = Object.assign(document.createElement("canvas"), { width: innerWidth * times, height: innerHeight * times });
  canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
  canvas.toBlob((blob) => save(blob, "nt2vr.png"));
};

// The story list, edited in a dialog.
const field = (name, value, change) => {
  const input = Object.assign(document.createElement("input"), { type: "text", value, ariaLabel: name, placeholder: name });
  input.addEventListener("input", () => { change(input.value); storeAll(); });
  return input;
};
const button = (text, name, act) => {
  const node = Object.assign(document.createElement("button"), { type: "button", textContent: text, ariaLabel: name });
  node.addEventListener("click", act);
  return node;
};
const list = () => part(".nt-stories ol").replaceChildren(...stories.map((story, i) => {
  const row = document.createElement("li");
  const move = (to) => () => {
    if (to >= stories.length || to < 0) return;
    stories.splice(to, 0, ...stories.splice(i, 1));
    changed();
  };
  row.append(
    field("Query", story.query, (value) => { story.query = value; }),
    field("Systems, separated by |", story.systems.join(" | "), (value) => { story.systems = value.split("|").map((each) => each.trim()); }),
    field("Note for the speaker", story.note ?? "", (value) => { story.note = value; }),
    button("▶", `Show story ${i + 1}`, () => { part("dialog").close(); enter(); show(i); }),
    button("↑", `Move story ${i + 1} up`, move(i - 1)),
    button("↓", `Move story ${i + 1} down`, move(i + 1)),
    button("×", `Remove story ${i + 1}`, () => { if (stories.length > 1) stories.splice(i, 1); changed(); }),
  );
  return row;
}));
const changed = () => { storeAll(); writeLabel(); list(); };
const remark = (text) => { part(".nt-stories .nt-remark").textContent = text; };
const acts = {
  back: () => (isClosing() ? closeClosing() : goBack()),
  next: () => (isClosing() ? startAgain() : goOn()),
  end: () => (isClosing() ? closeClosing() : openClosing()),
  guess: () => guessFirst(!isGuessing()),
  each: revealEach,
  notes: openNotes,
  stories: () => { remark(""); list(); part("dialog").showModal(); },
  close: () => part("dialog").close(),
  png: () => savePng().catch(saveSvg),
  svg: saveSvg,
  leave,
  add: () => {
    const now = new URLSearchParams(location.search);
    stories.push({ query: now.get("q") ?? "", systems: (now.get("systems") ?? "").split("|"), k: Number(now.get("k")) || 8, note: "", ...(now.has("match") && { match: now.get("match") }) });
    changed();
  },
  save: () => save(JSON.stringify(stories, null, 1), "stories.json", "application/json"),
  link: async () => {
    const link = nt2vr.linkOfStories(stories);
    try { await navigator.clipboard.writeText(link); remark("The link is copied."); } catch { remark(link); }
  },
  reset: () => { stories = nt2vr.builtInStories(); changed(); },
};
element.addEventListener("click", ({ target }) => acts[target.closest("[data-do]")?.dataset.do]?.());
element.addEventListener("change", async ({ target }) => {
  if (!target.matches("[data-open]") || !target.files[0]) return;
  try { stories = nt2vr.readStories(await target.files[0].text()); changed(); remark(""); } catch { remark("This file has no stories."); }
  target.value = "";
});
document.addEventListener("click", ({ target }) => {
  if (target.closest("[data-stage]")) enter();
  if (target.closest("[data-stories]")) acts.stories();
  if (target.closest("[data-next]")) acts.next();
  if (target.closest("[data-back]")) acts.back();
  if (!target.closest("[data-guess-first]")) return;
  document.querySelector("#menu").hidePopover();
  enter();
  guessFirst(true);
});

const KEYS = {
  ArrowRight: acts.next, PageDown: acts.next, ArrowLeft: acts.back, PageUp: acts.back, End: acts.end, Escape: leave,
  " ": () => page.toggle("nt-one"),
  n: openNotes,
  m: () => nt2vr.match((document.activeElement?.closest(".nt-clip") ?? document.querySelector(".nt-clip")).dataset.id),
  ...Object.fromEntries([1, 2, 3, 4].map((i) => [i, () => toggle(i)])),
};
// Before the guess, a key that would tell does not.
const GUESS_KEYS = {
  1: () => nt2vr.uncover(0), 2: () => nt2vr.uncover(1), h: () => document.querySelector(".nt-hands").focus(),
  ...Object.fromEntries(["ArrowRight", "PageDown", " "].map((key) => [key, () => nt2vr.uncover()])),
  ...Object.fromEntries(["0", "3", "4", "m"].map((key) => [key, () => {}])),
};
// On the closing slide, a key that would change the story behind it does nothing.
const CLOSING_KEYS = {
  Escape: closeClosing,
  ...Object.fromEntries([" ", "0", "1", "2", "3", "4", "m"].map((key) => [key, () => {}])),
};
const actOf = (key) => {
  const ofClosing = isClosing() ? CLOSING_KEYS[key] : undefined;
  const ofGuess = page.contains("nt-covered") && !isClosing() ? GUESS_KEYS[key] : undefined;
  return ofClosing ?? ofGuess ?? KEYS[key];
};
const onKey = (event) => {
  const isCounting = document.activeElement?.matches(".nt-hands") && ["ArrowRight", "PageDown"].includes(event.key); // a number has no use for these
  const isTyping = !isCounting && document.activeElement?.matches("input:not([type=checkbox], [type=radio]), textarea, select");
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping) return;
  const dialog = document.querySelector("dialog[open]");
  const turns = isOn() && dialog?.matches(".nt-shade") && [acts.next, acts.back].includes(KEYS[event.key]);
  if (turns) dialog.querySelector(".nt-close").click(); // an enlarged clip makes way for the next story
  else if (dialog) return;
  if (event.key.toLowerCase() === "f" && document.querySelector("#columns")?.checkVisibility()) return isOn() ? leave() : enter();
  const act = isOn() ? actOf(event.key) : undefined;
  if (!act) return;
  event.preventDefault();
  event.stopPropagation();
  act();
};
document.addEventListener("keydown", onKey, true);
// Back and Forward leave and enter the stage as their address says.
window.addEventListener("popstate", () => {
  const isStage = new URLSearchParams(location.search).get("stage") === "1";
  page.remove(CLOSING);
  if (isStage !== isOn()) (isStage ? enter : leave)();
  else if (isStage) findStory();
});
const address = new URLSearchParams(location.search);
if (address.get("stage") === "1") {
  page.toggle("nt-guessing", address.has("guess"));
  page.toggle("nt-covered", address.has("guess"));
  part("[data-do=guess]").ariaPressed = `${address.has("guess")}`;
  enter();
}
