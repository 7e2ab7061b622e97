// What events of the Search tab do in the browser. An event's inputs are the arguments of its function, and what that returns
// goes to the event's outputs. A change of the hidden box `ask` starts a search.
{
  const { nt2vr } = window;
  const ask = () => `${performance.now()}`;
  const SHOWN = ["q", "gallery", "systems", "k", "references"]; // the others are hidden, in `state`
  const isSame = (one, other) => JSON.stringify(one) === JSON.stringify(other);

  Object.assign(nt2vr, {
    ask,
    address: () => location.search,
    pictureRead: () => { dispatchEvent(new Event("nt2vr-read")); },
    chooseFiles: () => { document.querySelector("#reference [data-files]").click(); },
    draw: (queries, number) => {
      const those = queries[number];
      return [those[Math.floor(Math.random() * those.length)], ask()];
    },
    moved: (word, value, state) => [{ ...state, [word]: `${value}` }, ask()],
    // A click on the query as understood: a word to take as typed, a query to ask instead, the parts with a word moved.
    clicked: {},
    literal: (state) => [{ ...state, literal: [state.literal, nt2vr.clicked.word].filter(Boolean).join("|") }, ask()],
    take: () => [nt2vr.clicked.query, ask()],
    versus: (state) => [{ ...state, versus: nt2vr.clicked.versus }, ask()],
    flip: (state) => [{ ...state, flip: state.flip ? "" : "1" }, ask()],
    correct: () => [nt2vr.clicked.wanted, nt2vr.clicked.unwanted, ask()],

    settings: () => nt2vr.stored("settings"),
    // Apply a link to the controls that still hold their defaults. Whoever has begun to type a query will ask for it; what
    // belongs to the link's query then goes with it.
    restore: (defaults, { shown, hidden }, asked, ...now) => {
      const isTouched = (name) => !isSame(now[SHOWN.indexOf(name)], defaults[name]);
      const state = isTouched("q") ? { ...hidden, literal: "", parts: "", flip: "", replay: "", versus: "" } : hidden;
      return [isTouched("q") ? asked : ask(), state, ...SHOWN.map((name, i) => (isTouched(name) ? now[i] : shown[name]))];
    },

    // An answer is shown: the address becomes a link to it, and it fills in what nobody has changed since it was asked for.
    settle: ({ link, asked, settled, sliders }, wanted, unwanted, state) => {
      writeAddress(link);
      const now = { wanted, unwanted, ...state };
      const next = (name) => (now[name] === asked[name] ? settled[name] : now[name]);
      const shown = sliders.map(({ word, value, used }) => ({
        __type__: "update",
        visible: used || "hidden",
        ...(value !== null && now[word] === asked[word] ? { value } : {}),
      }));
      return [next("wanted"), next("unwanted"), ...shown, { ...state, literal: next("literal"), parts: next("parts"), flip: next("flip"), replay: next("replay"), versus: next("versus") }];
    },
    // A model was added: it joins whatever is chosen by now; boxes are cleared unless something else was typed into them.
    addModel: (others, { model, file, name }, systems, fileNow, nameNow) => [
      [...new Set([...(systems ?? []).slice(0, others), model])],
      fileNow === file ? "" : fileNow,
      nameNow === name ? "" : nameNow,
    ],
  });

  const writeAddress = (link) => {
    const address = new URLSearchParams(link);
    const before = new URLSearchParams(location.search);
    for (const name of ["__theme", "stage", "stories"]) if (before.has(name)) address.set(name, before.get(name));
    const isNew = history.state?.answered && `?${address}` !== location.search;
    const isElsewhere = before.has("report"); // on the Evaluate tab
    const isPassed = (nt2vr.popped ?? `?${address}`) !== `?${address}`; // Back went on before this answer came
    nt2vr.popped = undefined;
    if (!isElsewhere && !isPassed) history[isNew ? "pushState" : "replaceState"]({ answered: true }, "", `?${address}`);
    for (const name of ["stage", "stories"]) address.delete(name); // whoever comes back has left the stage
    nt2vr.store("search", `?${address}`);
    const kept = ["systems", "k", "gallery"].filter((name) => name in link).map((name) => [name, link[name]]);
    nt2vr.store("settings", `${new URLSearchParams(kept)}`);
  };
}
