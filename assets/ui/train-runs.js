element.addEventListener("click", ({ target }) => {
  if (target.closest("[data-withdraw]")) trigger("withdraw", {});
});
