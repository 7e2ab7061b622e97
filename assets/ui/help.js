// Keys of the whole page; none is taken from a field or a dialog.
const isTyping = () => document.activeElement?.matches("input:not([type=checkbox], [type=radio]), textarea, select");
const show = () => element.querySelector("dialog").showModal();
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping() || document.querySelector("dialog[open]")) return;
  if (event.key === "?") show();
  if (event.key === "0") [...document.querySelectorAll("[data-flip]")].find((each) => each.checkVisibility())?.click();
  if (event.key !== "/") return;
  event.preventDefault();
  document.querySelector("#query textarea")?.focus();
});
document.addEventListener("click", ({ target }) => { if (target.closest("[data-help]")) show(); });
element.addEventListener("click", ({ target }) => {
  if (target.matches("dialog, [data-close]")) element.querySelector("dialog").close();
});
