// What is seldom needed opens below its button as the browser's own popover, which closes on Escape and a click outside.
element.closest("#menu").popover = "auto";
element.addEventListener("click", ({ target }) => {
  const button = target.closest("[data-copy]");
  if (button) nt2vr.copy(button, location.href, "copy it from the address bar");
});
