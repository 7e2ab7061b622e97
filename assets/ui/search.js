// What events of the Search tab do in the browser. An event's inputs are the arguments of its function, and what that returns
// goes to the event's outputs. A change of the hidden box `ask` starts a search.
{
  const { nt2vr } = window;
  const ask = () => `${performance.now()}`;
  const SHOWN = ["q", "gallery", "systems", "k", "references"]; // the others are hidden, in `state`
  let entered; // the gallery that was chosen, until its answer is here
  const MOST_GALLERIES = 20; // whose last search is remembered
  const lastSearches = () => {
    try { return { ...JSON.parse(nt2vr.stored("last")) }; } catch { return {}; } // none yet
  };
  const fetched = new Set();
  const isSame = (one, other) => JSON.stringify(one) === JSON.stringify(other);

  Object.assign(nt2vr, {
    ask,
    address: () => location.search,
    // Copy a text, and say so on the button; `otherwise` is what to do where the browser forbids it.
    copy: async (button, text, otherwise) => {
      const label = (button.dataset.label ??= button.textContent);
      try {
        await navigator.clipboard.writeText(text);
        button.textContent = "copied";
      } catch { button.textContent = otherwise; }
      setTimeout(() => { button.textContent = label; }, 2000);
    },
    // Fetch the clips that systems will find for a query in the built-in gallery, each once, into the browser's cache.
    fetchAhead: async (query, systems, k = 8) => {
      try {
        const headers = { "Content-Type": "application/json" };
        const answer = await fetch("api/search", { method: "POST", headers, body: JSON.stringify({ query, systems, k }) });
        const found = (await answer.json()).systems ?? []; // none if it was refused: who asks for it will be told why
        const clips = new Set(found.flatMap(({ hits }) => hits.map(({ video_id: clip }) => clip)).filter((clip) => !fetched.has(clip)));
        for (const clip of clips) {
          fetched.add(clip);
          fetch(`clips/${clip}.webm`).catch(() => fetched.delete(clip));
        }
      } catch {} // without a network, nothing is lost
    },
    pictureRead: () => { dispatchEvent(new Event("nt2vr-read")); },
    chooseFiles: () => { document.querySelector("#reference [data-files]").click(); },
    moved: (word, value, state) => [{ ...state, [word]: `${value}` }, ask()],
    // A click on an example, or on the query as understood: a word to take as typed, a query to ask instead, the parts with a word moved.
    clicked: {},
    literal: (state) => [{ ...state, literal: [state.literal, nt2vr.clicked.word].filter(Boolean).join("|") }, ask()],
    take: () => [nt2vr.clicked.query, ask()],
    flip: (state) => [{ ...state, flip: state.flip ? "" : "1" }, ask()],
    correct: () => [nt2vr.clicked.wanted, nt2vr.clicked.unwanted, ask()],

    // Each gallery has its own last search, except that a query being typed is asked of the gallery that is chosen next.
    // A page opens with the one of the gallery shown last; of the built-in one with the query that introduces it.
    lastIn: (gallery) => lastSearches()[gallery] ?? `${new URLSearchParams({ gallery })}`,
    // A menu reports a choice again when it loses the focus: the address is empty then.
    enter: (asked, gallery, query, k) => {
      const shown = new URLSearchParams(history.state?.answered ? location.search : "").get("gallery") ?? "";
      const isShown = gallery === (entered ?? shown);
      entered = gallery;
      if (isShown) return ["", gallery, query, k];
      const address = new URLSearchParams(nt2vr.lastIn(gallery));
      const isTyped = history.state?.answered && query.trim() && query !== new URLSearchParams(location.search).get("q");
      if (isTyped) for (const [name, value] of Object.entries({ q: query, literal: "", parts: "", flip: "", replay: "", judged: "" })) address.set(name, value);
      address.set("k", k);
      return [`${address}`, gallery, query, k];
    },
    settings: () => {
      const settings = nt2vr.stored("settings");
      const gallery = new URLSearchParams(settings).get("gallery");
      return gallery ? nt2vr.lastIn(gallery) : settings;
    },
    // Apply a link to the controls that still hold their defaults. Whoever has begun to type a query will ask for it; what
    // belongs to the link's query then goes with it.
    restore: (defaults, { shown, hidden }, asked, ...now) => {
      const isTouched = (name) => !isSame(now[SHOWN.indexOf(name)], defaults[name]);
      const state = isTouched("q") ? { ...hidden, literal: "", parts: "", flip: "", replay: "" } : hidden;
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
      return [next("wanted"), next("unwanted"), ...shown, { ...state, literal: next("literal"), parts: next("parts"), flip: next("flip"), replay: next("replay") }];
    },
    // A model was added: it joins whatever is chosen by now; boxes are cleared unless something else was typed into them.
    addModel: (others, { model, file, name }, systems, fileNow, nameNow) => [
      [...new Set([...(systems ?? []).slice(0, others), model])],
      fileNow === file ? "" : fileNow,
      nameNow === name ? "" : nameNow,
    ],
  });

  const writeAddress = (link) => {
    entered = undefined;
    const address = new URLSearchParams(link);
    const before = new URLSearchParams(location.search);
    for (const name of ["__theme", "stage", "stories"]) if (before.has(name)) address.set(name, before.get(name));
    const isNew = history.state?.answered && `?${address}` !== location.search;
    const isElsewhere = before.has("report"); // on the Evaluate tab
    // Back, or a link of a report, has moved on before this answer came
    const isPassed = [...new URLSearchParams(nt2vr.arrived)].some(([name, value]) => address.get(name) !== value);
    nt2vr.arrived = undefined;
    if (!isElsewhere && !isPassed) history[isNew ? "pushState" : "replaceState"]({ answered: true }, "", `?${address}`);
    for (const name of ["stage", "stories"]) address.delete(name); // whoever comes back has left the stage
    nt2vr.store("search", `?${address}`);
    const kept = ["systems", "k", "gallery"].filter((name) => name in link).map((name) => [name, link[name]]);
    nt2vr.store("settings", `${new URLSearchParams(kept)}`);
    const { like, unlike, weight, ...last } = { gallery: "", ...link };
    const { [last.gallery]: _, ...others } = lastSearches();
    const latest = Object.entries(others).slice(1 - MOST_GALLERIES);
    nt2vr.store("last", JSON.stringify({ ...Object.fromEntries(latest), [last.gallery]: `${new URLSearchParams(last)}` }));
  };
}
