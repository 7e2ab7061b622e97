element.addEventListener("click", async (event) => {
  const read = event.target.closest("[data-word]");
  if (read) return trigger("literal", { word: read.dataset.word });
  const moved = event.target.closest("[data-wanted]");
  if (moved) return trigger("correct", { wanted: moved.dataset.wanted, unwanted: moved.dataset.unwanted });
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
// Back and Forward open the link that the address then holds.
window.addEventListener("popstate", () => {
  const link = location.search.slice(1);
  if (new URLSearchParams(link).has("report")) trigger("report", { link });
  else trigger("back", { link });
});
