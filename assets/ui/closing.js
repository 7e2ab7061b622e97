// The closing slide of the stage: what has been guessed, what the systems achieve, and where the page can be opened.
const scoreText = ({ who, right, marks }) => {
  const verb = who === "You" ? "were" : "was";
  return marks.length ? `${who} ${verb} right in ${right} of ${marks.length}.` : "";
};
nt2vr.fillClosing = () => {
  const guesses = nt2vr.guesses();
  props.value = { ...props.value, score: scoreText(guesses), marks: guesses.marks };
  if (!props.value.rows) trigger("show", { address: `${location.origin}${location.pathname}` });
};
