element.addEventListener("click", ({ target }) => {
  const button = target.closest("button");
  if (!button) return;
  const { drawn } = props.value;
  const isDrawn = "draw" in button.dataset;
  nt2vr.example(isDrawn ? drawn[Math.floor(Math.random() * drawn.length)] : button.dataset.query);
  trigger("ask", {});
});
