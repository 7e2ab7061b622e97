// Columns of models that learn hold a frame per epoch; a slider and a button go through them.
const REST_MS = 400; // until the server, too, takes the epoch that the slider stays at
const [PLAY_MS, RECORDED_MS, LAST_MS] = [20000, 10000, 2500]; // from the first epoch to the last; a recorded run plays again then
const LEAST_MS = 500; // until epochs that the server is still searching are asked for
let resting; // timer of the slider
let playing; // timer of the next frame
let asking; // timer of the next look for further epochs
let turned = {}; // run and position, until the server answers with that epoch
let lastSeen = { key: "", wait: LEAST_MS };
const runOf = (id) => props.value.columns?.find(({ run }) => run?.id === id)?.run;
const turn = (id, to) => {
  const columns = props.value.columns.map((column) => {
    const frame = column.run?.id === id ? column.run.frames[to] : undefined;
    const run = { ...column.run, position: to, playing: Boolean(playing), share: column.run?.shares?.[to] };
    return frame ? { ...column, ...frame, run } : column;
  });
  props.value = { ...props.value, columns };
  requestAnimationFrame(() => place(true));
};
const stop = () => { clearTimeout(playing); playing = undefined; };
const rest = (id, to) => {
  turned = { id, to };
  clearTimeout(resting);
  resting = setTimeout(() => {
    const run = runOf(id);
    if (run && !run.recorded_on) trigger("epoch", { run: id, epoch: Number(run.epochs.split(",")[to]) });
  }, REST_MS);
};
const fetchClips = ({ frames }) => new Set(frames.flatMap((frame) => (frame?.hits ?? []).map(({ src }) => src)))
  .forEach((src) => fetch(src).catch(() => {})); // then the player asks again
const play = (id, to = 0) => {
  stop();
  const run = runOf(id);
  if (!run) return;
  if (!to) fetchClips(run);
  turned = { id, to };
  const repeats = run.recorded_on && !isStill.matches;
  if (to < run.last_position) playing = setTimeout(() => play(id, to + 1), (run.recorded_on ? RECORDED_MS : PLAY_MS) / run.frames.length);
  else if (repeats) playing = setTimeout(() => play(id), LAST_MS);
  else rest(id, to);
  turn(id, to);
};
element.addEventListener("input", ({ target }) => {
  if (!target.matches(".nt-epochs input")) return;
  const { run } = target.closest("[data-run]").dataset;
  stop();
  turn(run, Number(target.value));
  rest(run, Number(target.value));
});
element.addEventListener("click", ({ target }) => {
  if (!target.closest("[data-play]")) return;
  const { run } = target.closest("[data-run]").dataset;
  const to = runOf(run).position;
  if (!playing) return play(run, to < runOf(run).last_position ? to : 0);
  stop();
  turn(run, to);
  rest(run, to);
});
const askMore = () => {
  const isTyping = document.querySelector("#query textarea")?.value !== props.value.q;
  if (isTyping) asking = setTimeout(askMore, LEAST_MS);
  else trigger("ask", {});
};
watch("value", () => {
  const { columns = [], key } = props.value;
  const isNew = key !== lastSeen.key;
  clearTimeout(asking);
  lastSeen = { key, wait: isNew ? LEAST_MS : 2 * lastSeen.wait };
  if (columns.some(({ run }) => run?.is_incomplete)) asking = setTimeout(askMore, lastSeen.wait);
  if (isNew) { stop(); turned = {}; }
  const recording = columns.find(({ run }) => run?.is_replay)?.run;
  if (recording && isNew) return play(recording.id);
  const run = runOf(turned.id);
  if (run && run.position !== turned.to) turn(turned.id, turned.to); // the server has another epoch still
  else if (run && !run.recorded_on && !playing) turned = {};
  for (const slider of element.querySelectorAll(".nt-epochs input")) slider.value = slider.dataset.position;
});
