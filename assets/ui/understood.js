element.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  try {
    await navigator.clipboard.writeText(location.href);
    button.textContent = "copied";
  } catch {
    button.textContent = "the address bar holds the link";
  }
  setTimeout(() => { button.textContent = "copy link"; }, 2000);
});
