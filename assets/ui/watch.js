document.addEventListener("click", ({ target }) => {
  if (target.closest("[data-train]")) trigger("start", {});
  if (target.closest("[data-replay]")) trigger("replay", { query: document.querySelector("#query textarea").value });
});
element.addEventListener("click", ({ target }) => {
  if (target.closest("[data-join]")) trigger("join", {});
  if (target.closest("[data-stop]")) trigger("stop", {});
  if (target.closest("[data-instead]")) trigger("instead", {});
  if (target.closest("[data-afterwards]")) trigger("afterwards", {});
  if (target.closest("[data-dismiss]")) trigger("dismiss", {});
  if (target.closest("[data-withdraw]")) trigger("withdraw", {});
});
