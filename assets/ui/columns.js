// On narrow pages the columns scroll sideways; a score brings its column into view.
element.addEventListener("click", (event) => {
  const system = event.target.closest("[data-system]")?.dataset.system;
  const column = [...element.querySelectorAll("[data-column]")].find(({ dataset }) => dataset.column === system);
  if (system) column?.scrollIntoView({ block: "nearest", inline: "start" });
});

// Clips are as large as lets all of them fit into the window, but no smaller than SMALLEST; then the page scrolls.
const [SMALLEST, GAP] = [150, 8];
const fit = () => {
  const lists = [...element.querySelectorAll(".nt-column ol")].filter((list) => list.clientWidth);
  const onStage = document.body.classList.contains("nt-on-stage");
  const count = Math.max(...lists.map((list) => list.querySelectorAll("li:not([hidden])").length), 0);
  if (!count) return;
  const width = lists[0].clientWidth + GAP;
  const top = Math.max(...lists.map((list) => list.getBoundingClientRect().top)) + window.scrollY;
  const height = window.innerHeight - top - (onStage ? 3 * GAP : GAP);
  const sizes = [...Array(count).keys()].map((i) => {
    const [wide, rows] = [width / (i + 1) - GAP, Math.ceil(count / (i + 1))];
    return { across: i + 1, wide, size: Math.min(wide, height / rows - GAP) };
  });
  let best = sizes.reduce((a, b) => (b.size > a.size ? b : a));
  if (best.size >= SMALLEST && !onStage) { // as full rows if they are hardly smaller
    const near = sizes.filter(({ size }) => size > 0.9 * best.size);
    best = near.findLast(({ across }) => count % across === 0) ?? near.at(-1);
  } else if (!onStage) {
    const wide = sizes.filter(({ wide, across }) => wide >= SMALLEST || across <= 2);
    best = wide.findLast(({ across }) => across > 1 && count % across === 0) ?? wide.at(-1);
    best.size = best.wide;
  }
  const { style } = element.querySelector(".nt-columns");
  style.setProperty("--nt-across", best.across);
  style.setProperty("--nt-size", `${Math.floor(best.size)}px`);
};
const said = document.body.appendChild(Object.assign(document.createElement("p"), { className: "nt-hidden", role: "status" }));
// Gradio gives the tiles, in their order, the data of other clips. A clip that was shown already keeps its player, which has its
// picture; a new one shows its poster at once.
const [isStill, WITH] = [matchMedia("(prefers-reduced-motion: reduce)"), { muted: true, loop: true, playsInline: true, preload: "auto", tabIndex: -1, ariaHidden: "true" }];
let players = [];
const seat = () => {
  const free = players.filter((player) => !player.isConnected);
  players = [...element.querySelectorAll("li:not([hidden]) .nt-player")].map((place) => {
    const { src, poster, boxes } = place.dataset;
    const isHere = place.firstChild?.getAttribute("src") === src;
    const kept = free.findIndex((player) => player.getAttribute("src") === src);
    const player = isHere ? place.firstChild : kept < 0 ? Object.assign(document.createElement("video"), WITH, { poster, src }) : free.splice(kept, 1)[0];
    if (!isHere) place.replaceChildren(player);
    nt2vr.showBoxes(player, boxes);
    if (!isHere && !isStill.matches) player.play().catch(() => {}); // left at once, or forbidden
    return player;
  });
};
// A clip that is pointed at is marked in every column, which else tell its rank there.
const light = (clip) => {
  for (const column of element.querySelectorAll("[data-column]")) {
    const rank = clip && !column.contains(clip) && JSON.parse(clip.dataset.ranks || "{}")[column.dataset.column];
    column.querySelector(".nt-there").textContent = rank ? `that clip: #${rank}` : "";
    for (const tile of column.querySelectorAll(".nt-clip")) tile.classList.toggle("nt-lit", Boolean(rank) && tile.dataset.id === clip.dataset.id);
  }
};
for (const type of ["mouseover", "focusin"]) element.addEventListener(type, ({ target }) => light(target.closest(".nt-clip")));
element.addEventListener("mouseleave", () => light());
watch("value", () => light());
// A column that shows the first one's clips is a line above the others, until it is asked for; what learns never is, nor is any
// on narrow pages, where columns scroll sideways.
const unfolded = new Set();
const fold = () => {
  const folds = window.innerWidth > 1000 && !document.body.classList.contains("nt-on-stage");
  for (const column of element.querySelectorAll("[data-column]")) {
    const { column: system } = column.dataset;
    column.hidden = folds && column.matches("[data-is-twin]:not(.nt-learner)") && !unfolded.has(system);
    const line = [...element.querySelectorAll("[data-twin]")].find(({ dataset }) => dataset.twin === system);
    if (line) line.hidden = !column.hidden;
  }
};
element.addEventListener("click", ({ target }) => {
  const system = target.closest("[data-unfold]")?.dataset.unfold;
  if (!system) return;
  unfolded.add(system);
  place(false);
});
// Near-duplicates are folded into the best of them, and follow it once they are asked for.
element.addEventListener("click", ({ target }) => {
  const chip = target.closest("[data-alike]");
  if (!chip) return;
  const isOpen = chip.ariaExpanded !== "true";
  chip.ariaExpanded = `${isOpen}`;
  for (const tile of chip.closest("ol").querySelectorAll("[data-fold]")) if (tile.dataset.fold === chip.dataset.alike) tile.hidden = !isOpen;
  place(false);
});
const place = (isNew) => {
  fold();
  seat();
  fit();
  const moved = moveClips(isNew);
  if (isNew && !playing) said.textContent = [moved, props.value.said].filter(Boolean).join(" ");
};
watch("value", () => {
  fold(); // both at once: a busy browser paints this before it runs the next callback
  fit();
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

watch("value", () => document.dispatchEvent(new Event("nt-answered")));
// Gradio names the buttons that remove a system by their numbers.
watch("value", () => document.querySelectorAll("#systems .token-remove").forEach((button) => {
  button.title = `Remove ${button.previousElementSibling.textContent.trim()}`;
}));

// With reduced motion, clips play only while hovered.
const hover = (does) => ({ target }) => { if (isStill.matches && target.tagName === "VIDEO") does(target); };
element.addEventListener("mouseover", hover((video) => { video.play().catch(() => {}); }));
element.addEventListener("mouseout", hover((video) => { video.pause(); }));

nt2vr.showFirst("columns", (view) => {
  props.value = view;
  requestAnimationFrame(() => place(true)); // no watcher hears of it
});
