// "Guess first": two columns come without names and verdicts; whoever looks says which one understood, and then sees which.
{
  const { nt2vr } = window;
  let marks = []; // of the guesses so far, as those of clips: "right" or "violation"
  let who = "You";
  const score = () => (marks.length ? `${who}: ${marks.filter((mark) => mark === "right").length} of ${marks.length}` : "");
  const count = ({ hits }, verdict) => hits.filter((hit) => hit.verdict === verdict).length;
  // The column with more right clips, otherwise the one with fewer that violate; -1 for a draw.
  const better = ([one, other]) => {
    const ahead = count(one, "right") - count(other, "right") || count(other, "violation") - count(one, "violation");
    return ahead > 0 ? 0 : ahead < 0 ? 1 : -1;
  };
  Object.assign(nt2vr, {
    startGuessing: () => {
      marks = [];
      who = "You";
    },
    // The guesses so far, for the closing slide.
    guesses: () => ({ who, marks, right: marks.filter((mark) => mark === "right").length }),
    // What the columns show before the guess; undefined where there are not two of them, or no verdicts to compare.
    covered: (value) => {
      const { columns = [], cue = "" } = value;
      if (columns.length !== 2 || !columns.some(({ hits }) => hits.some(({ verdict }) => verdict))) return undefined;
      const hits = (column) => column.hits.map(({ id, src, poster, times, caption, rank }) => ({ id, src, poster, times, caption, rank, spoken: `Rank ${rank}` }));
      return {
        flight_key: value.flight_key, key: value.key, q: value.q,
        columns: columns.map((column, i) => ({ name: `${i + 1}`, system: `${i + 1}`, guess: `${i}`, hits: hits(column) })),
        guess: { asks: true, cue, marks, score: score() },
        announcement: `Which one understood ${cue}? Press 1 or 2.`,
      };
    },
    // What they show after it: `guess` is the column's place, undefined if nobody guessed; `hands` are those raised for each.
    uncovered: (value, guess, hands) => {
      const best = better(value.columns);
      const isRight = guess === best;
      const name = value.columns[best]?.system;
      if (guess !== undefined && name) marks = [...marks, isRight ? "right" : "violation"];
      if (hands) who = "The room";
      const text = !name ? "A draw: neither did better." : guess === undefined ? `It was ${name}.` : isRight ? `Yes: ${name}.` : `No, it was ${name}.`;
      const kind = guess === undefined || !name ? "" : isRight ? "good" : "bad";
      const picked = (i) => (hands ? `${hands[i]} ${hands[i] === 1 ? "hand" : "hands"}` : i === guess ? "your guess" : "");
      return {
        ...value,
        columns: value.columns.map((column, i) => ({ ...column, picked: picked(i) })),
        guess: { text, kind, marks, score: score() },
        announcement: [text, score(), value.announcement].filter(Boolean).join(" "),
      };
    },
  });
}
