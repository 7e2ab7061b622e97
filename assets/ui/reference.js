element.addEventListener("click", (event) => {
  if (event.target.closest("[data-remove]")) trigger("remove", {});
});
