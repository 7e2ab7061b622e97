// Python reads the value. Chips change it, and files that are chosen, pasted or dropped are uploaded and join it.
const MOST = 4;
const chips = () => props.value.references ?? [];
const announcer = document.body.appendChild(Object.assign(document.createElement("p"), { className: "nt-hidden" }));
announcer.role = "status";
// The server answers with all chips, those it was sent and the new ones: until then, what else is added or changed waits.
const waitingEdits = [];
let isReading = false;
const whenRead = (act) => { if (isReading) waitingEdits.push(act); else act(); };
const count = () => { announcer.textContent = `${chips().length} of ${MOST} references`; };
addEventListener("nt2vr-read", () => {
  isReading = false;
  count();
  while (!isReading && waitingEdits.length) waitingEdits.shift()();
});
const edit = (change) => whenRead(() => { props.value = { references: change(chips()) }; trigger("ask", {}); });
const placeOf = (target) => [...element.querySelectorAll(".nt-reference")].indexOf(target.closest(".nt-reference"));
const changed = (place, values) => edit((all) => all.map((chip, i) => (i === place ? { ...chip, ...values } : chip)));

const add = async (files) => {
  announcer.textContent = `Reading ${files.map(({ name }) => name).join(", ")}`;
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
  const removeButtons = element.querySelectorAll("[data-remove]");
  (removeButtons[Math.min(place, removeButtons.length - 1)] ?? document.querySelector("#query textarea"))?.focus();
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
let lastCount = 0;
watch("value", () => {
  mirror();
  if (chips().length !== lastCount) count();
  lastCount = chips().length;
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
const accepts = ({ target, dataTransfer }) => isOpen() && dataTransfer?.types.includes("Files") && target.closest?.("#ask, #reference, #examples, #understood, #columns");
const highlight = (on) => document.querySelector("#query")?.classList.toggle("nt-drop", on);
document.addEventListener("dragover", (event) => {
  const isAccepted = Boolean(accepts(event));
  if (isAccepted) event.preventDefault();
  highlight(isAccepted);
}, true);
document.addEventListener("dragleave", ({ relatedTarget }) => { if (!relatedTarget) highlight(false); });
document.addEventListener("drop", (event) => {
  if (!accepts(event)) return;
  event.preventDefault();
  event.stopPropagation();
  highlight(false);
  add([...event.dataTransfer.files]);
}, true);
