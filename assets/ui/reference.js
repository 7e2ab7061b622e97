// Python reads the value. Chips change it, and files that are chosen, pasted or dropped are uploaded and join it.
const MOST = 4;
const chips = () => props.value.references ?? [];
const said = document.body.appendChild(Object.assign(document.createElement("p"), { className: "nt-hidden" }));
said.role = "status";
// The server answers with all chips, those it was sent and the new ones: until then, what else is added or changed waits.
const waiting = [];
let isReading = false;
const whenRead = (act) => { if (isReading) waiting.push(act); else act(); };
const count = () => { said.textContent = `${chips().length} of ${MOST} references`; };
addEventListener("nt2vr-read", () => {
  isReading = false;
  count();
  while (!isReading && waiting.length) waiting.shift()();
});
const edit = (change) => whenRead(() => { props.value = { references: change(chips()) }; trigger("ask", {}); });
const placeOf = (target) => [...element.querySelectorAll(".nt-reference")].indexOf(target.closest(".nt-reference"));
const changed = (place, values) => edit((all) => all.map((chip, i) => (i === place ? { ...chip, ...values } : chip)));

const add = async (files) => {
  said.textContent = `Reading ${files.map(({ name }) => name).join(", ")}`;
  const paths = await Promise.all(files.slice(0, MOST + 1).map(async (file) => {
    try { return (await upload(file)).path; } catch { return ""; } // too large, say: the server says so
  }));
  whenRead(() => { isReading = true; trigger("added", { paths: paths.join("\n") }); });
};

element.addEventListener("click", ({ target }) => {
  const place = placeOf(target);
  if (target.closest("[data-turn]")) changed(place, { wanted: !chips()[place].wanted });
  if (!target.closest("[data-remove]")) return;
  edit((all) => all.filter((_, i) => i !== place));
  const left = element.querySelectorAll("[data-remove]");
  (left[Math.min(place, left.length - 1)] ?? document.querySelector("#query textarea"))?.focus();
});
element.addEventListener("input", ({ target }) => {
  if (target.type === "range") target.nextElementSibling.textContent = `${target.value} %`;
});
element.addEventListener("change", ({ target }) => {
  if (target.type === "range") changed(placeOf(target), { weight: target.value / 100, percent: Number(target.value) });
  if (target.type !== "file" || !target.files.length) return;
  add([...target.files]);
  target.value = "";
});
// Inputs keep what was typed into them, whatever the template says: mirror the value.
const mirror = () => element.querySelectorAll("input[type=range]").forEach((range, i) => { range.value = chips()[i]?.percent; });
let before = 0;
watch("value", () => {
  mirror();
  if (chips().length !== before) count();
  before = chips().length;
});

// Files are pasted anywhere, and dropped onto the query or the results.
const isOpen = () => document.querySelector("#query")?.checkVisibility() && !document.querySelector("dialog[open]");
const filesOf = (data) => [...(data?.files ?? [])].filter(({ type }) => /^(image|video)\//.test(type));
document.addEventListener("paste", (event) => {
  const files = filesOf(event.clipboardData);
  if (!files.length || !isOpen()) return;
  event.preventDefault();
  add(files);
});
const takes = ({ target, dataTransfer }) => isOpen() && dataTransfer?.types.includes("Files") && target.closest?.("#ask, #reference, #examples, #understood, #columns");
const lit = (on) => document.querySelector("#query")?.classList.toggle("nt-drop", on);
document.addEventListener("dragover", (event) => {
  const taken = Boolean(takes(event));
  if (taken) event.preventDefault();
  lit(taken);
}, true);
document.addEventListener("dragleave", ({ relatedTarget }) => { if (!relatedTarget) lit(false); });
document.addEventListener("drop", (event) => {
  if (!takes(event)) return;
  event.preventDefault();
  event.stopPropagation();
  lit(false);
  add([...event.dataTransfer.files]);
}, true);
