// Clips fly from their old places to the new ones when systems, the negation or an epoch change, and counters run along.
const MOVE_MS = 400;
const placesIn = (column) => new Map([...column.querySelectorAll(".nt-clip")].map((clip) => [
  clip.dataset.id, { left: clip.offsetLeft, top: clip.offsetTop },
]));
const counters = (column) => [...column.querySelectorAll("header .nt-badge, header .nt-more")];
const countsOf = (column) => counters(column).map(({ textContent }) => textContent);
let shown = { key: "", columns: [] }; // for each column, its system, the places of its clips, and its counters
const fly = (column, before) => {
  for (const clip of column.querySelectorAll(".nt-clip")) {
    const oldPlace = before.get(clip.dataset.id);
    const frames = oldPlace
      ? { transform: [`translate(${oldPlace.left - clip.offsetLeft}px, ${oldPlace.top - clip.offsetTop}px)`, "none"] }
      : { opacity: [0.3, 1] };
    if (!oldPlace || oldPlace.left !== clip.offsetLeft || oldPlace.top !== clip.offsetTop) {
      clip.animate(frames, { duration: MOVE_MS, easing: "ease-in-out" });
    }
  }
};
const run = (counter, before) => {
  const [text, start] = [counter.textContent, performance.now()];
  const [from, to] = [before, text].map((count) => parseInt(count, 10));
  if (!(Math.abs(to - from) > 0)) return; // not numbers, or the same
  let last = text;
  const step = (now) => {
    if (counter.textContent !== last) return; // it shows something else by now
    const done = Math.min(1, Math.max(0, (now - start) / MOVE_MS));
    counter.textContent = last = text.replace(/^\d+/, Math.round(from + (to - from) * done));
    if (done < 1 && counter.isConnected) requestAnimationFrame(step);
  };
  step(start);
};
const move = (column, before) => {
  fly(column, before.places);
  counters(column).forEach((counter, i) => run(counter, before.counts[i]));
};
// The first visit shows the first column alone, and then what the others make of its clips; a talk needs nothing of that.
const FIRST_MS = 2200;
const isFirst = !nt2vr.stored("last");
const meet = ([first, ...others], before) => {
  const summary = first.querySelector(".nt-sum.nt-as-bad");
  if (!summary || !others.length) return;
  const text = `${summary.textContent}. What do the others find?`;
  const line = Object.assign(document.createElement("p"), { className: "nt-meet", textContent: text });
  line.style.left = `${others[0].offsetLeft}px`;
  line.style.top = `${others[0].offsetTop}px`;
  first.parentElement.append(line);
  others.forEach(({ style }) => { style.visibility = "hidden"; });
  setTimeout(() => {
    line.remove();
    others.forEach((column) => {
      column.style.visibility = "";
      if (column.isConnected) move(column, before);
    });
  }, FIRST_MS);
};
const movementText = ({ name, places }, before) => {
  const stayed = [...places.keys()].filter((id) => before.places.has(id)).length;
  const added = places.size - stayed;
  return `${name}: ${stayed} ${stayed === 1 ? "clip" : "clips"} stayed, ${added} ${added === 1 ? "is" : "are"} new`;
};
// To be called once the clips have their sizes; they fly only if the same sentence was searched for again. Returns in words
// how many stayed.
const moveClips = (isNew) => {
  const key = props.value.flight_key ?? "";
  const all = [...element.querySelectorAll("[data-column]")];
  const columns = all.map((column) => ({
    system: column.dataset.run ?? column.dataset.column, name: column.ariaLabel.trim(), places: placesIn(column), counts: countsOf(column),
  }));
  const isSame = isNew && key === shown.key;
  const before = columns.map(({ system }, i) => isSame && (shown.columns.find((each) => each.system === system) ?? shown.columns[i]));
  if (isNew && !isStill.matches && all.length) {
    all.forEach((column, i) => { if (before[i]) move(column, before[i]); });
    const onStage = document.body.classList.contains("nt-on-stage");
    if (isFirst && !shown.key && !onStage) meet(all, columns[0]);
  }
  shown = { key, columns };
  return columns.flatMap((column, i) => (before[i] ? movementText(column, before[i]) : [])).map((text) => `${text}.`).join(" ");
};
