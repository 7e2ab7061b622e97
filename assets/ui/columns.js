// A score brings its column into view: on narrow pages the columns scroll sideways, and on wide ones some are folded.
const columnOf = (system) => [...element.querySelectorAll("[data-column]")].find(({ dataset }) => dataset.column === system);
const reveal = (system) => {
  if (columnOf(system)?.hidden) unfold(system);
  columnOf(system)?.scrollIntoView({ block: "nearest", inline: "start" });
};
document.addEventListener("click", ({ target }) => {
  const system = target.closest("[data-system]")?.dataset.system;
  if (system) reveal(system);
});
// The page's head has a pill per system, with its score.
const pill = ({ system, badge, stayed_short, outcome, run }) => {
  const button = Object.assign(document.createElement("button"), { type: "button", className: `nt-pill nt-${badge?.kind ?? "plain"}`, title: outcome?.text ? `${system} ${outcome.text}` : `To the clips of ${system}` });
  button.classList.toggle("nt-learner", Boolean(run?.id));
  button.dataset.system = system;
  button.append(system);
  for (const text of [badge?.short, stayed_short]) if (text) button.append(" ", Object.assign(document.createElement("b"), { textContent: text }));
  return button;
};
const drawPills = () => {
  const columns = (props.value.columns ?? []).filter(({ guess }) => guess === undefined);
  document.querySelector("#understood .nt-pills")?.replaceChildren(...columns.map(pill));
};
watch("value", drawPills);
document.addEventListener("nt-understood", () => {
  drawPills();
  fold();
});

// Clips are as large as lets all of them fit into the window, in full rows. Below SMALLEST the page scrolls instead, and they
// are READABLE.
const SMALLEST = 110;
const READABLE = 120;
const GAP = 8;
// Of grids whose clips are about as large, the widest has the least empty space beside it.
const ABOUT = 0.9;
const gridsOf = (count, width, height) => [...Array(count).keys()].map((i) => {
  const across = i + 1;
  const rows = Math.ceil(count / across);
  const wide = width / across - GAP;
  return { across, wide, count, size: Math.min(wide, height / rows - GAP) };
});
const isFull = ({ across, count }) => count % across === 0;
const largestOf = (grids) => Math.max(...grids.map(({ size }) => size));
const bestGrid = ({ count, width, height, hasScores, mustFit }) => {
  const all = gridsOf(count, width, height);
  const full = all.filter(isFull);
  const ofClips = full.length > 2 || count < 4 ? full : all; // 5 or 7 clips have no full rows but one
  // Eight clips and a tile that sums them up make three full rows.
  const withScore = hasScores ? gridsOf(count + 1, width, height).filter(isFull) : [];
  const grids = largestOf(withScore) > largestOf(full) ? withScore : ofClips;
  const largest = largestOf(grids);
  if (largest >= SMALLEST || mustFit) return grids.findLast(({ size }) => size >= ABOUT * largest);
  const readable = ofClips.findLast(({ wide, across }) => wide >= READABLE || across === 1);
  return { ...readable, size: readable.wide };
};
const fit = () => {
  const lists = [...element.querySelectorAll(".nt-column ol")].filter((list) => list.clientWidth);
  const onStage = document.body.classList.contains("nt-on-stage");
  const count = Math.max(...lists.map((list) => list.querySelectorAll("li:not([hidden], .nt-score)").length), 0);
  if (!count) return;
  const width = Math.min(...lists.map((list) => list.clientWidth)) + GAP;
  const top = Math.max(...lists.map((list) => list.getBoundingClientRect().top)) + window.scrollY;
  const notes = Math.max(...lists.map((list) => list.nextElementSibling?.offsetHeight ?? 0));
  const touches = onStage && matchMedia("(hover: none)").matches; // then the buttons of the stage are always there
  const bar = (touches ? document.querySelector(".nt-stagebar") : element.querySelector(".nt-strip")).offsetHeight;
  const height = window.innerHeight - top - notes - bar - (onStage ? 3 * GAP : 2 * GAP);
  const hasScores = lists.every((list) => list.querySelector(".nt-score b"));
  const grid = bestGrid({ count, width, height, hasScores, mustFit: onStage });
  const { style, classList } = element.querySelector(".nt-columns");
  style.setProperty("--nt-across", grid.across);
  style.setProperty("--nt-size", `${Math.floor(grid.size)}px`);
  classList.toggle("nt-filled", grid.count > count);
  classList.toggle("nt-small", grid.size < 190);
  classList.toggle("nt-tiny", grid.size < 110);
};
const arrange = () => {
  fold();
  fit();
};
// Whatever changes the room for the clips changes the size of something: of a list, or of what is above it.
const room = new ResizeObserver(arrange);
// A busy browser paints new tiles before it runs the next callback.
new MutationObserver(arrange).observe(element, { childList: true, subtree: true });
const above = function* () {
  for (let ancestor = element; ancestor && ancestor !== document.body; ancestor = ancestor.parentElement) {
    for (let sibling = ancestor.previousElementSibling; sibling; sibling = sibling.previousElementSibling) yield sibling;
  }
};
const observeRoom = () => {
  room.disconnect();
  for (const part of [document.documentElement, element, ...above(), ...element.querySelectorAll(".nt-column ol, .nt-column header, .nt-strip")]) room.observe(part);
};
const announcer = document.body.appendChild(Object.assign(document.createElement("p"), { className: "nt-hidden", role: "status" }));
// Gradio gives the tiles, in their order, the data of other clips. A clip that was shown already keeps its player, which has its
// picture; a new one shows its poster at once.
const [isStill, WITH] = [matchMedia("(prefers-reduced-motion: reduce)"), { muted: true, loop: true, playsInline: true, preload: "auto", tabIndex: -1, ariaHidden: "true" }];
let players = [];
const seat = () => {
  const free = players.filter((player) => !player.isConnected);
  players = [...element.querySelectorAll("li:not([hidden]) .nt-player")].map((place) => {
    const { src, poster, boxes } = place.dataset;
    const isHere = place.firstChild?.getAttribute("src") === src;
    const freeIndex = free.findIndex((player) => player.getAttribute("src") === src);
    const player = isHere ? place.firstChild : freeIndex < 0 ? Object.assign(document.createElement("video"), WITH, { poster, src }) : free.splice(freeIndex, 1)[0];
    if (!isHere) place.replaceChildren(player);
    nt2vr.showBoxes(player, boxes);
    if (!isHere && !isStill.matches) player.play().catch(() => {}); // left at once, or forbidden
    return player;
  });
};
// A clip that is pointed at is marked in every column, which else tell its rank there.
const light = (clip) => {
  // A column that has lost the focus may be half replaced.
  for (const there of element.querySelectorAll("[data-column] .nt-there")) {
    const column = there.closest("[data-column]");
    const rank = clip && !column.contains(clip) && JSON.parse(clip.dataset.ranks || "{}")[column.dataset.column];
    there.textContent = rank ? `that clip: #${rank}` : "";
    for (const tile of column.querySelectorAll(".nt-clip")) tile.classList.toggle("nt-lit", Boolean(rank) && tile.dataset.id === clip.dataset.id);
  }
};
for (const type of ["mouseover", "focusin"]) element.addEventListener(type, ({ target }) => light(target.closest(".nt-clip")));
for (const type of ["mouseleave", "focusout"]) element.addEventListener(type, () => light());
watch("value", () => light());
// A column that repeats an earlier one is a line in the notes, until it is asked for; what learns never is, nor is any on narrow
// pages, where columns scroll sideways.
const unfolded = new Set();
const fold = () => {
  const folds = window.innerWidth > 1000 && !document.body.classList.contains("nt-on-stage");
  for (const column of element.querySelectorAll("[data-column]")) {
    const { column: system } = column.dataset;
    column.hidden = folds && column.matches("[data-is-twin]:not(.nt-learner)") && !unfolded.has(system);
  }
  for (const line of document.querySelectorAll("#understood [data-twin]")) line.hidden = !columnOf(line.dataset.twin)?.hidden;
};
const unfold = (system) => {
  unfolded.add(system);
  place(false);
};
document.addEventListener("click", ({ target }) => {
  const system = target.closest("[data-unfold]")?.dataset.unfold;
  if (system) unfold(system);
});
// Near-duplicates are folded into the best of them, and follow it once they are asked for.
element.addEventListener("click", ({ target }) => {
  const chip = target.closest("[data-similar]");
  if (!chip) return;
  const isOpen = chip.ariaExpanded !== "true";
  chip.ariaExpanded = `${isOpen}`;
  for (const tile of chip.closest("ol").querySelectorAll("[data-folded-into]")) if (tile.dataset.foldedInto === chip.dataset.similar) tile.hidden = !isOpen;
  place(false);
});
const place = (isNew) => {
  drawPills();
  fold();
  seat();
  fit();
  observeRoom();
  const movement = moveClips(isNew);
  if (isNew && !playing) announcer.textContent = [movement, props.value.announcement].filter(Boolean).join(" ");
};
watch("value", () => {
  arrange();
  requestAnimationFrame(() => place(true));
});
window.addEventListener("resize", () => place(false));

// Until somebody has guessed, a story's columns are covered, and a click anywhere in one is the guess.
let covered; // the answer
watch("value", () => {
  if (!document.body.classList.contains("nt-covered") || props.value.guess || !props.value.columns.length) return;
  const cover = nt2vr.covered(props.value);
  if (!cover) return document.body.classList.remove("nt-covered");
  covered = props.value;
  props.value = cover;
});
nt2vr.uncover = (guess, hands) => {
  if (!covered) return;
  document.body.classList.remove("nt-covered");
  props.value = nt2vr.uncovered(covered, guess, hands);
  covered = undefined;
  requestAnimationFrame(() => {
    place(true);
    element.querySelector("[data-next]")?.focus();
    if (isStill.matches) return;
    for (const list of element.querySelectorAll(".nt-column ol")) [...list.children].forEach((tile, i) => {
      tile.animate({ transform: ["scale(.8)", "none"], opacity: [0.2, 1] }, { duration: 300, delay: 80 * i, fill: "backwards", easing: "ease-out" });
    });
  });
};
const guess = (event) => {
  const column = event.target.closest("[data-guess]");
  if (!column || event.target.matches("input") || !["Enter", undefined].includes(event.key)) return;
  event.preventDefault();
  event.stopPropagation();
  nt2vr.uncover(Number(column.dataset.guess));
};
for (const type of ["click", "keydown"]) element.addEventListener(type, guess, true);
element.addEventListener("keydown", ({ key, target }) => {
  if (key !== "Enter" || !target.matches(".nt-hands")) return;
  const boxes = [...element.querySelectorAll(".nt-hands")];
  const empty = boxes.find(({ value }) => !value);
  if (empty) return empty.focus();
  const hands = boxes.map(({ value }) => Number(value));
  nt2vr.uncover(hands[0] === hands[1] ? undefined : Number(hands[1] > hands[0]), hands);
});

// Arrow keys move to the nearest clip in their direction, in this column or another one.
const WAYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const middle = (clip) => {
  const { x, y, width, height } = clip.getBoundingClientRect();
  return [x + width / 2, y + height / 2];
};
element.addEventListener("keydown", (event) => {
  const [way, from] = [WAYS[event.key], event.target.closest(".nt-clip")];
  if (!way || !from) return;
  event.preventDefault();
  const here = middle(from);
  const near = [...element.querySelectorAll(".nt-clip")].filter((clip) => clip.checkVisibility()).map((clip) => {
    const [x, y] = middle(clip).map((place, i) => place - here[i]);
    const along = x * way[0] + y * way[1];
    return { clip, along, cost: along + 3 * Math.abs(x * way[1] + y * way[0]) };
  });
  near.filter(({ along }) => along > 1).sort((a, b) => a.cost - b.cost)[0]?.clip.focus();
});

document.addEventListener("click", (event) => {
  if (!event.target.closest("[data-skip]")) return;
  event.preventDefault();
  [...element.querySelectorAll(".nt-clip")].find((clip) => clip.checkVisibility())?.focus();
});
// Gradio leaves the list of a menu open when Tab leaves the menu.
document.addEventListener("focusout", ({ target, relatedTarget }) => {
  const menu = target.closest?.("#gallery, #systems, #k");
  if (!menu || menu.contains(relatedTarget)) return;
  setTimeout(() => {
    if (menu.querySelector("[role=option]")) target.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
  });
});
watch("value", () => document.dispatchEvent(new Event("nt-answered")));
// Gradio names the buttons that remove a system by their numbers, and draws them anew whenever the systems change.
const nameRemovals = () => document.querySelectorAll("#systems .token-remove").forEach((button) => {
  const title = `Remove ${button.previousElementSibling.textContent.trim()}`;
  if (button.title !== title) button.title = title;
});
const removals = new MutationObserver(nameRemovals);
watch("value", () => {
  removals.observe(document.querySelector("#systems"), { childList: true, subtree: true, attributeFilter: ["title"] });
  nameRemovals();
});

// With reduced motion, clips play only while hovered.
const hover = (does) => ({ target }) => { if (isStill.matches && target.tagName === "VIDEO") does(target); };
element.addEventListener("mouseover", hover((video) => { video.play().catch(() => {}); }));
element.addEventListener("mouseout", hover((video) => { video.pause(); }));

nt2vr.showFirst("columns", (view) => {
  const isCovered = document.body.classList.contains("nt-covered");
  props.value = isCovered ? nt2vr.covered(view) : view;
  requestAnimationFrame(() => place(true)); // no watcher hears of it
});
