element.addEventListener("click", ({ target }) => {
  const button = target.closest("button");
  if (!button) return;
  const { surprises } = props.value;
  const isSurprise = "draw" in button.dataset;
  nt2vr.example(isSurprise ? surprises[Math.floor(Math.random() * surprises.length)] : button.dataset.query);
  trigger("ask", {});
});
