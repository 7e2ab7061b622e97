document.addEventListener("click", ({ target }) => { if (target.closest("[data-train]")) trigger("start", {}); });
element.addEventListener("click", ({ target }) => {
  if (target.closest("[data-join]")) trigger("join", {});
  if (target.closest("[data-stop]")) trigger("stop", {});
});
