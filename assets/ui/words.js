// Offer known words that begin like the one being typed. A datalist would need an <input>; the query is a <textarea>.
const MOST = 6;
const offers = () => element.querySelector(".nt-words");
const typed = (box) => /[a-z]{2,}$/i.exec(box.value.slice(0, box.selectionEnd))?.[0] ?? "";
const query = () => document.querySelector("#query textarea");
const offer = (words) => offers()?.replaceChildren(...words.map((word) => {
  const item = document.createElement("li");
  const button = document.createElement("button");
  Object.assign(button, { type: "button", textContent: word });
  item.append(button);
  return item;
}));
document.addEventListener("input", ({ target, isTrusted }) => {
  if (target !== query() || !isTrusted) return;
  const isLibrary = document.querySelector("#examples [data-library]"); // the words are those of the built-in clips
  const start = isLibrary ? "" : typed(target).toLowerCase();
  const known = start ? props.value.words.filter((word) => word.startsWith(start)) : [];
  offer(known.includes(start) ? [] : known.slice(0, MOST));
});
document.addEventListener("keydown", ({ key, target }) => {
  if (key === "Escape" || (key === "Enter" && target === query())) offer([]);
});
// Gradio makes room for a long sentence that is typed, but not for one that a link has filled in.
const LEAST_HIGH = 44; // one line
const MOST_HIGH = 94; // three
const makeRoom = (box) => {
  box.style.height = "auto";
  box.style.height = `${Math.min(Math.max(box.scrollHeight, LEAST_HIGH), MOST_HIGH)}px`;
};
document.addEventListener("focusin", ({ target }) => {
  if (target === query()) makeRoom(target);
  if (target !== query() && !element.contains(target)) offer([]);
});
element.addEventListener("click", ({ target }) => {
  const button = target.closest("button");
  if (!button) return;
  const box = query();
  const end = box.selectionEnd;
  box.setRangeText(`${button.textContent} `, end - typed(box).length, end, "end");
  box.dispatchEvent(new Event("input", { bubbles: true }));
  offer([]);
  box.focus();
});
