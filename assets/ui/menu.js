// What is seldom needed opens below its button as the browser's own popover, which closes on Escape and a click outside.
element.closest("#menu").popover = "auto";
element.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  try {
    await navigator.clipboard.writeText(location.href);
    button.textContent = "copied";
  } catch {
    button.textContent = "copy it from the address bar";
  }
  setTimeout(() => { button.textContent = "copy link"; }, 2000);
});
// A second query, beside the one that is typed above.
element.addEventListener("submit", (event) => {
  event.preventDefault();
  nt2vr.clicked = { versus: event.target.versus.value.trim() };
  element.closest("#menu").hidePopover();
  trigger("versus", {});
});
