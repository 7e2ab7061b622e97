// A review steps through the list: each query replaces the address of the one before, so that Back returns to the list.
const dialog = () => element.querySelector("dialog");
const field = (name) => element.querySelector(`[name="${name}"]`);
const isReviewing = () => new URLSearchParams(location.search).has("query"); // answers on their way may come after the review was left
const showSaved = (text) => { const status = element.querySelector(".nt-saved"); if (status) status.textContent = text; };
const show = (link, instead) => {
  if (!link) return;
  document.activeElement?.blur(); // a changed field is saved first
  window.nt2vr.go(link, instead);
  trigger("show", {});
};
const close = () => {
  const { position, back } = props.value;
  dialog()?.close();
  show(back, true);
  document.querySelector(`#evaluate-queries [data-position="${position}"]`)?.focus();
};
element.addEventListener("click", (event) => {
  const step = event.target.closest("[data-step]");
  const link = event.target.closest("[data-open]");
  if (step) show(step.dataset.step, true);
  else if (link && !(event.ctrlKey || event.metaKey || event.shiftKey)) {
    event.preventDefault();
    window.nt2vr.go(link.getAttribute("href"));
    dialog().close(); // while it is open, nothing else of the page can be used
    scrollTo(0, 0);
    trigger("open", { link: link.getAttribute("href") });
  } else if (event.target.matches("[data-close]")) close();
});
addEventListener("popstate", () => { if (!isReviewing()) dialog()?.close(); });
element.addEventListener("cancel", (event) => { event.preventDefault(); close(); }, true);
element.addEventListener("submit", (event) => { event.preventDefault(); document.activeElement?.blur(); });
element.addEventListener("change", ({ target }) => {
  if (!target.closest(".nt-remarks") || props.value.refusal) return;
  showSaved("saving …");
  trigger("note", { link: props.value.link, tag: field("tag").value, note: field("note").value });
});
document.addEventListener("keydown", (event) => {
  if (!dialog()?.open || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.matches("input, textarea")) {
    if (event.key === "Escape") { event.preventDefault(); event.target.blur(); }
    return;
  }
  const link = { ArrowLeft: props.value.previous, ArrowRight: props.value.next }[event.key];
  if (link === undefined) return;
  event.preventDefault();
  show(link, true);
}, true);
const isStill = matchMedia("(prefers-reduced-motion: reduce)");
const draw = () => {
  if (!dialog()) return;
  if (isStill.matches) element.querySelectorAll("video").forEach((video) => { video.autoplay = false; video.pause(); });
  element.querySelectorAll("[data-step]").forEach((step) => { step.disabled = !step.dataset.step; });
  const form = element.querySelector("form");
  const isNew = form.position !== props.value.position; // otherwise what is being typed stays
  for (const name of ["tag", "note"]) {
    field(name).readOnly = Boolean(props.value.refusal);
    if (isNew) field(name).value = props.value[name];
  }
  if (isNew) showSaved("");
  form.position = props.value.position;
  if (dialog().open || !isReviewing()) return;
  const held = document.activeElement; // Gradio takes `open` away whenever it draws; what had the focus keeps it
  dialog().showModal();
  (dialog().contains(held) ? held : element.querySelector(".nt-review")).focus();
};
watch("value", draw);
addEventListener("nt2vr-shown", draw);
requestAnimationFrame(draw);
