// Dots on a canvas: thousands of elements would make the page slow.
const RADIUS = 3, REACH = 14, PAD = 26;
let spots = []; // of the dots, in pixels
let shown = null; // the dot that is named
let isHidden = false; // by a click, after which a drawing may still be on its way
const css = (name) => getComputedStyle(element).getPropertyValue(`--nt-${name}`);
const canvasOf = () => element.querySelector("canvas");
const isOpen = () => Boolean(props.value.open);

// Both axes have the same scale, so that distances are true in all directions.
const fitted = (width, height) => {
  const { dots, query } = props.value;
  const all = query.length ? [...dots, { x: query[0], y: query[1] }] : dots;
  const [left, right] = [Math.min(...all.map(({ x }) => x)), Math.max(...all.map(({ x }) => x))];
  const [low, high] = [Math.min(...all.map(({ y }) => y)), Math.max(...all.map(({ y }) => y))];
  const scale = Math.min((width - 2 * PAD) / (right - left || 1), (height - 2 * PAD) / (high - low || 1));
  const place = (x, y) => [width / 2 + (x - (left + right) / 2) * scale, height / 2 - (y - (low + high) / 2) * scale];
  return { spots: dots.map((dot) => ({ dot, at: place(dot.x, dot.y) })), query: query.length ? place(...query) : null };
};

const draw = () => {
  const canvas = canvasOf();
  if (!canvas || !isOpen() || !props.value.dots || !canvas.clientWidth) return;
  const [width, height, ratio] = [canvas.clientWidth, canvas.clientHeight, window.devicePixelRatio || 1];
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  const pen = canvas.getContext("2d");
  pen.scale(ratio, ratio);
  const laid = fitted(width, height);
  spots = laid.spots;
  const colors = { good: css("good"), bad: css("bad"), "": css("soft") };
  for (const { dot, at: [x, y] } of spots) {
    pen.fillStyle = colors[dot.kind];
    pen.globalAlpha = dot.kind || dot.rank ? 1 : 0.4;
    pen.beginPath();
    if (dot.kind === "bad") pen.rect(x - RADIUS, y - RADIUS, 2 * RADIUS, 2 * RADIUS); // not by colour alone
    else pen.arc(x, y, dot.kind ? RADIUS + 1 : RADIUS, 0, 7);
    pen.fill();
  }
  pen.globalAlpha = 1;
  pen.font = "600 12px system-ui, sans-serif";
  pen.lineJoin = "round";
  const write = (text, x, y) => {
    pen.lineWidth = 3;
    pen.strokeStyle = css("paper");
    pen.strokeText(text, x, y);
    pen.fillStyle = css("ink");
    pen.fillText(text, x, y);
  };
  for (const { dot, at: [x, y] } of spots.filter(({ dot }) => dot.rank)) {
    pen.lineWidth = 2;
    pen.strokeStyle = css("accent");
    pen.beginPath();
    pen.arc(x, y, RADIUS + 4, 0, 7);
    pen.stroke();
    write(`${dot.rank}`, x + RADIUS + 6, y - RADIUS - 2);
  }
  if (laid.query) {
    const [x, y] = laid.query;
    pen.textAlign = "center";
    pen.font = "700 26px system-ui, sans-serif";
    write("✕", x, y + 9);
    pen.font = "700 13px system-ui, sans-serif";
    write("query", x, y + 24);
    pen.textAlign = "start";
  }
};

const name = (spot) => {
  const box = element.querySelector(".nt-spot");
  if (spot?.dot === shown && box?.childElementCount) return;
  shown = spot?.dot ?? null;
  if (!box) return;
  box.replaceChildren();
  if (!spot) return;
  const { dot, at: [x, y] } = spot;
  const still = Object.assign(document.createElement(dot.poster ? "img" : "video"), { src: dot.poster || dot.src, muted: true, preload: "auto", alt: "" });
  const text = Object.assign(document.createElement("span"), { textContent: dot.rank ? `#${dot.rank} ${dot.name}` : dot.name });
  box.append(still, text);
  const plane = canvasOf();
  box.style.left = `${Math.min(Math.max(x - 70, 0), plane.clientWidth - 150)}px`;
  box.style.top = y > plane.clientHeight / 2 ? `${y - 12 - box.offsetHeight}px` : `${y + 12}px`;
};
// Name the next result, or the one before.
const step = (by) => {
  const hits = spots.filter(({ dot }) => dot.rank).sort((a, b) => a.dot.rank - b.dot.rank);
  const at = hits.findIndex(({ dot }) => dot === shown);
  name(hits[(at + by + hits.length) % hits.length] ?? hits[0]);
};
const near = ({ clientX, clientY }) => {
  const { left, top } = canvasOf().getBoundingClientRect();
  const far = ({ at: [x, y] }) => Math.hypot(x - clientX + left, y - clientY + top);
  const best = spots.reduce((one, other) => (one && far(one) < far(other) ? one : other), null);
  return best && far(best) < REACH ? best : null;
};

element.addEventListener("pointermove", (event) => { if (event.target === canvasOf() && event.pointerType !== "touch") name(near(event)); });
element.addEventListener("pointerleave", () => name(null));
element.addEventListener("focusin", ({ target }) => { if (target.matches("canvas:focus-visible")) step(1); });
element.addEventListener("focusout", () => name(null));
element.addEventListener("click", (event) => {
  const column = event.target.closest("[data-column]");
  if (event.target.closest("[data-draw]")) {
    isHidden = isOpen();
    if (isHidden) props.value = {};
    else trigger("draw", { column: 0 });
  } else if (column) trigger("draw", { column: Number(column.dataset.column) });
  else if (event.target === canvasOf()) {
    const spot = near(event);
    if (event.pointerType === "touch" && spot?.dot !== shown) name(spot); // a first tap names the clip
    else if (spot) trigger("pick", { id: spot.dot.id });
  }
});
element.addEventListener("keydown", (event) => {
  if (event.target !== canvasOf()) return;
  const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  if (by) {
    event.preventDefault();
    step(by);
  } else if (event.key === "Enter" && shown) trigger("pick", { id: shown.id });
});

// An open map follows the search.
document.addEventListener("nt-answered", () => { if (isOpen()) trigger("draw", { column: props.value.column ?? 0 }); });
watch("value", () => requestAnimationFrame(() => {
  if (isHidden && isOpen()) props.value = {};
  const named = shown?.id;
  name(null);
  draw();
  if (!canvasOf()?.matches(":focus-visible")) return;
  const again = spots.find(({ dot }) => dot.id === named);
  if (again) name(again);
  else step(1);
}));
window.addEventListener("resize", draw);
