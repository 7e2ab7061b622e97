// The state of a search is one dict of texts, which the address writes out. Whatever asks for a search calls `change`, for a
// part of the dict, or `open`, for all of it; `send` adds what the inputs hold, and writes the request. Its answer, which has
// the request's number, becomes the address, and fills in the inputs that nobody has changed since.
{
  const { nt2vr } = window;
  const INPUTS = ["q", "gallery", "systems", "k", "references", "wanted", "unwanted"];
  const OF_SENTENCE = ["literal", "parts", "flip", "replay"]; // hold until the sentence changes
  const MOST_GALLERIES = 20; // whose last search is remembered
  let search = {}; // the newest request's, until its answer puts it right
  let number = 0; // of the newest request
  let sentInputs = {}; // what the inputs held when it was sent
  let knownInputs = {}; // what the inputs are known to hold
  let filledParts = {}; // what an answer wrote into the boxes of the wanted and the unwanted part
  let isOpening = false; // whether inputs do not show yet what was opened
  let keepsShown = false; // whether the references on display stay, and are not those of the link that is being opened
  let next = { changes: {} }; // of the next request: the changes, or the link that it opens
  let linkReferences; // references of the link that is being opened, if they are not in the link
  let lastAsk = "";
  // What an example, a story or a replay has borrowed: the systems, the number of clips and the references that the person
  // had. The next sentence gives them back. They survive a reload, and Back and Forward, in the state of the page's history.
  let ownColumns;

  const asParams = (link) => `${new URLSearchParams(JSON.parse(JSON.stringify(link ?? "")))}`; // without what is undefined
  const paramsOf = (link) => Object.fromEntries(new URLSearchParams(asParams(link)));
  const textOf = (link) => `?${asParams(link)}`;
  const isSame = (one, other) => JSON.stringify(one) === JSON.stringify(other);
  const inputsOf = (values) => Object.fromEntries(INPUTS.map((name, i) => [name, values[i]]));
  const lastSearches = () => {
    try { return { ...JSON.parse(nt2vr.stored("last")) }; } catch { return {}; } // none yet
  };
  // Without a link, a page opens with the default story.
  const linkAtLoad = () => {
    const here = paramsOf(location.search);
    return "report" in here ? {} : here;
  };
  const show = (link) => {
    const [address, before] = [{ ...link }, paramsOf(location.search)];
    for (const name of ["__theme", "stage", "stories", "guess"]) if (name in before) address[name] = before[name];
    const isNew = history.state?.answered && textOf(address) !== location.search;
    if (!("report" in before)) history[isNew ? "pushState" : "replaceState"]({ answered: true, ownColumns }, "", textOf(address));
    const { like, unlike, weight, ...last } = { gallery: "", ...link };
    if (ownColumns) {
      Object.assign(last, { systems: ownColumns.systems, k: ownColumns.k });
      delete last.replay;
    }
    const { [last.gallery]: _, ...others } = lastSearches();
    const newest = Object.entries(others).slice(1 - MOST_GALLERIES);
    nt2vr.store("last", JSON.stringify({ ...Object.fromEntries(newest), [last.gallery]: asParams(last) }));
  };
  // The search with what the inputs hold, except those that do not show yet what was opened.
  const withInputs = (inputs, changes) => {
    const current = (name, text) => (isOpening && isSame(inputs[name], sentInputs[name]) ? search[name] : text);
    const gallery = current("gallery", inputs.gallery);
    const [systems, k] = [current("systems", (inputs.systems ?? []).join("|")), current("k", `${inputs.k}`)];
    const newSearch = { ...search, gallery, systems, k, q: current("q", inputs.q), ...changes };
    const isEdited = ["wanted", "unwanted"].some((name) => ![sentInputs[name], filledParts[name]].includes(inputs[name]));
    if (newSearch.q !== search.q) OF_SENTENCE.forEach((name) => delete newSearch[name]);
    else if (isEdited && !("parts" in changes)) newSearch.parts = nt2vr.parts(inputs);
    return newSearch;
  };

  const chosen = ({ references } = {}) => (references?.references ?? [])
    .map(({ clip, gallery, path, weight, wanted }) => ({ clip, gallery, path, weight, wanted }));
  const withOwnColumns = (link) => {
    const { replay, like, unlike, weight, ...others } = link;
    return { ...others, systems: ownColumns.systems, k: ownColumns.k };
  };
  // A borrowed picture keeps its columns, whatever is typed about it.
  const isOver = (requested, inputs) => {
    if (chosen(inputs).length) return false;
    return requested.q !== search.q || "like" in search || "unlike" in search;
  };
  // What to open instead of a search that ends the loan; undefined if it goes on.
  const returned = (requested, inputs) => {
    if (!ownColumns || isOpening) return undefined;
    const hasChosen = requested.systems !== search.systems || requested.k !== search.k;
    const link = !hasChosen && isOver(requested, inputs) ? withOwnColumns(requested) : undefined;
    if (link) linkReferences = ownColumns.references;
    if (link || hasChosen) ownColumns = undefined;
    return link;
  };

  Object.assign(nt2vr, {
    ask: () => `${performance.now()}`,
    change: (changes) => { next = { changes }; },
    // Answers on their way fill in nothing any more.
    open: (link, keepsReferences = false) => {
      next = { link: paramsOf(link), keepsReferences };
      linkReferences = undefined;
      ownColumns = undefined;
      number += 1;
    },
    // Back, Forward and a reload open a link with what it had borrowed.
    reopen: (link) => {
      nt2vr.open(link);
      ownColumns = history.state?.ownColumns;
    },
    borrow: (link) => {
      const ownOrEarlier = ownColumns ?? { systems: search.systems, k: search.k, references: chosen(knownInputs) };
      nt2vr.open({ k: search.k, ...paramsOf(link) });
      ownColumns = ownOrEarlier;
    },
    // An example is a sentence, for the person's own columns.
    example: (q) => {
      if (!ownColumns) return nt2vr.change({ q });
      const [link, { references }] = [withOwnColumns({ gallery: search.gallery, q }), ownColumns];
      nt2vr.open(link);
      linkReferences = references;
    },
    // The columns go back, and the sentence and its picture stay.
    giveBack: () => {
      if (!ownColumns) return;
      const { replay, ...link } = { ...search, systems: ownColumns.systems, k: ownColumns.k };
      nt2vr.open(link, true);
    },
    parts: ({ wanted, unwanted }) => `${wanted.replaceAll("|", " ").trim()}|${unwanted.trim()}`,
    address: () => textOf(search),
    send: (ask, ...values) => {
      document.body.classList.remove("nt-first");
      // A phone's keyboard makes way for the clips.
      if (document.body.classList.contains("nt-phone")) document.querySelector("#query textarea:focus")?.blur();
      if (ask.startsWith("?") && ask !== lastAsk) { // the server's
        lastAsk = ask;
        if ("replay" in paramsOf(ask)) nt2vr.borrow(ask);
        else nt2vr.open(ask);
      }
      const [{ changes, keepsReferences }, inputs] = [next, inputsOf(values)];
      const requested = next.link ?? withInputs(inputs, changes);
      const link = next.link ?? returned(requested, inputs);
      next = { changes: {} };
      search = link ?? requested;
      keepsShown = link ? keepsReferences : keepsShown || !isSame(inputs.references, sentInputs.references);
      isOpening ||= Boolean(link);
      number += 1;
      const references = isOpening && !keepsShown ? linkReferences : chosen(inputs);
      sentInputs = { ...inputs, q: search.q ?? inputs.q };
      knownInputs = sentInputs;
      const query = sentInputs.q === inputs.q ? { __type__: "update" } : sentInputs.q;
      return [JSON.stringify({ number, link: search, opened: isOpening, references }), query, ""];
    },
    settle: ({ number: answered, link, inputs, sliders = [] }, ...values) => {
      if (answered !== number) return values;
      const now = inputsOf(values);
      isOpening = false;
      linkReferences = undefined;
      document.body.classList.toggle("nt-borrowed", Boolean(ownColumns));
      if (link) {
        [search, filledParts] = [link, inputs];
        show(link);
      }
      const shownValues = INPUTS.map((name) => (name in inputs && isSame(now[name], sentInputs[name]) ? inputs[name] : now[name]));
      knownInputs = inputsOf(shownValues);
      return [...shownValues, ...values.slice(INPUTS.length).map((value, i) => (sliders[i] ? { __type__: "update", ...sliders[i] } : value))];
    },
    isNewest: (request) => JSON.parse(request).number === number,
    moved: (word, value) => {
      nt2vr.change({ [word]: `${value}` });
      return nt2vr.ask();
    },
    lastIn: (gallery) => lastSearches()[gallery] ?? asParams({ gallery }),
    // Each gallery has its own last search, except that a query being typed is asked of the gallery that is chosen next.
    enter: (gallery, query, k, ask) => {
      if (gallery === (search.gallery ?? "")) return ask; // a menu reports a choice again when it loses the focus
      const link = { ...paramsOf(nt2vr.lastIn(gallery)), k };
      if (query.trim() && query !== search.q) {
        [...OF_SENTENCE, "judged"].forEach((name) => delete link[name]);
        link.q = query;
      }
      nt2vr.open(link, true);
      return nt2vr.ask();
    },
    // Copy a text, and say so on the button; `otherwise` is what to do where the browser forbids it.
    copy: async (button, text, otherwise) => {
      const label = (button.dataset.label ??= button.textContent);
      try {
        await navigator.clipboard.writeText(text);
        button.textContent = "copied";
      } catch { button.textContent = otherwise; }
      setTimeout(() => { button.textContent = label; }, 2000);
    },
    pictureRead: () => { dispatchEvent(new Event("nt2vr-read")); },
    chooseFiles: () => { document.querySelector("#reference [data-files]").click(); },
    // A model was added: it joins whatever is chosen by now; boxes are cleared unless something else was typed into them.
    addModel: (others, { model, source, name }, systems, sourceNow, nameNow) => [
      model ? [...new Set([...(systems ?? []).slice(0, others), model])] : systems,
      sourceNow.trim() === source ? "" : sourceNow,
      nameNow === name ? "" : nameNow,
    ],
  });
  nt2vr.reopen(linkAtLoad());
}
