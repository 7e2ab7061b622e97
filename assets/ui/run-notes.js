// The list of systems says of a run whose it is and how far it has come. Gradio draws the list whenever it opens.
const annotate = () => {
  for (const item of document.querySelectorAll("#systems li")) {
    const run = (props.value.runs ?? []).find(({ name }) => name === item.ariaLabel);
    if (run && item.dataset.note !== run.note) item.dataset.note = run.note;
  }
};
let observed;
const observe = () => {
  const systems = document.querySelector("#systems");
  if (systems && systems !== observed) new MutationObserver(annotate).observe(observed = systems, { childList: true, subtree: true });
  annotate();
};
watch("value", () => requestAnimationFrame(observe));
