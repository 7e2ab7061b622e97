element.addEventListener("click", async (event) => {
  const read = event.target.closest("[data-word]");
  if (read) return trigger("literal", { word: read.dataset.word });
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
