// The values of the epoch under the pointer, or chosen by ← and →, stand below its plot; otherwise the last ones.
const [LEFT, RIGHT] = [44, 312];
let chosen; // { plot, epoch }: it stays while a run goes on
const nearest = ({ points }, epoch) => points.reduce((best, point) => (Math.abs(point[0] - epoch) < Math.abs(best[0] - epoch) ? point : best));
const show = () => element.querySelectorAll("[data-plot]").forEach((figure) => {
  const plot = props.value.plots?.[+figure.dataset.plot];
  const readout = figure.querySelector(".nt-readout");
  const isChosen = chosen?.plot === figure.dataset.plot;
  if (!plot || !readout) return;
  const [line] = plot.lines;
  const epoch = isChosen ? nearest(line, chosen.epoch)[0] : undefined;
  const x = LEFT + ((RIGHT - LEFT) * epoch) / plot.last_epoch;
  figure.querySelector(".nt-cursor").setAttribute("d", isChosen ? `M${x} 10V150` : "");
  readout.textContent = isChosen
    ? `epoch ${Math.round(epoch * 10) / 10}: ${plot.lines.map((each) => `${each.name} ${nearest(each, epoch)[1]}`).join(", ")}`
    : plot.latest;
});
const at = ({ target, clientX }) => {
  const svg = target.closest(".nt-plot svg");
  if (!svg) return;
  const { left, width } = svg.getBoundingClientRect();
  const figure = svg.closest("[data-plot]");
  const { last_epoch: last } = props.value.plots[+figure.dataset.plot];
  chosen = { plot: figure.dataset.plot, epoch: (((clientX - left) * 320) / width - LEFT) * last / (RIGHT - LEFT) };
  show();
};
element.addEventListener("pointermove", at);
element.addEventListener("pointerdown", at);
const leave = () => { chosen = undefined; show(); };
element.addEventListener("pointerleave", ({ pointerType }) => { if (pointerType !== "touch") leave(); }); // a finger is lifted, not moved away
element.addEventListener("focusout", leave);
element.addEventListener("keydown", (event) => {
  const figure = event.target.closest("[data-plot]");
  const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!figure || !by) return;
  event.preventDefault();
  const [{ points }] = props.value.plots[+figure.dataset.plot].lines;
  const now = chosen?.plot === figure.dataset.plot ? chosen.epoch : Infinity;
  const place = now === Infinity ? points.length - 1 : points.findIndex(([epoch]) => epoch >= now) + by;
  chosen = { plot: figure.dataset.plot, epoch: points[Math.min(Math.max(place, 0), points.length - 1)][0] };
  show();
});
watch("value", show);
