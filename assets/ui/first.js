// The answer to the default query comes with the page, as `nt2vr.first`: panels show it until the server's takes its place.
{
  const { nt2vr } = window;
  const OTHERS = ["__theme", "stage", "stories", "guess", "systems"]; // parameters that ask for no other answer
  const PATIENCE_MS = 1000;
  const UNCHANGED = { __type__: "update" };
  const { link, views } = nt2vr.first ?? {};
  const address = new URLSearchParams(location.search);
  const systems = (link?.systems ?? "").split("|");
  const chosen = (address.get("systems") ?? systems.join("|")).split("|");

  // A story has the first and the last of the systems. Their columns are those of all systems, since clips are compared with
  // the first one's, and in the game nothing is compared before the guess.
  const areOf = (names) => names[0] === systems[0] && names.at(-1) === systems.at(-1) && names.every((name) => systems.includes(name));
  const isTurned = address.has("guess") && areOf(chosen.toReversed());
  const isOfQuery = [...address].every(([name, value]) => OTHERS.includes(name) || link?.[name] === value);
  const isAsked = Boolean(link) && isOfQuery && (areOf(chosen) || isTurned);

  const ofChosen = ({ columns, understood }) => ({
    columns: {
      ...columns,
      columns: chosen.map((name) => columns.columns.find(({ system }) => system === name)),
      announcement: chosen.length === systems.length ? columns.announcement : "",
    },
    understood: {
      ...understood,
      link: { ...understood.link, systems: chosen.join("|") },
      twins: understood.twins.filter(({ system }) => chosen.includes(system)),
    },
  });
  const chosenViews = isAsked ? ofChosen(views) : undefined;

  // Posters arrive while Gradio's scripts are still being read.
  const load = ({ poster }) => Object.assign(new Image(), { src: poster }).decode();
  const hits = isAsked ? chosenViews.columns.columns.flatMap((column) => column.hits) : [];
  const late = new Promise((done) => { setTimeout(done, PATIENCE_MS); });
  const posters = Promise.race([late, Promise.allSettled(hits.map(load))]);

  // Gradio writes all values once more when the page is complete, so panels show it after that.
  const panels = {};

  Object.assign(nt2vr, {
    showFirst: (panel, show) => { panels[panel] = show; },
    // The server has to load its models for the page's request, and then serves posters slowly.
    sendFirst: async (...values) => {
      const sent = nt2vr.send(...values);
      if (isAsked) {
        for (const [panel, show] of Object.entries(panels)) show(chosenViews[panel]);
        document.body.classList.add("nt-first"); // no progress is shown, since nothing will change
      }
      await posters;
      return nt2vr.isNewest(sent[0]) ? sent : sent.map(() => UNCHANGED);
    },
  });
}
