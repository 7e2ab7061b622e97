// The answer to the default query comes with the page, as `nt2vr.first`: panels show it until the server's takes its place.
{
  const { nt2vr } = window;
  const OTHERS = ["__theme", "stage", "stories", "guess"]; // parameters that ask for no other answer
  const PATIENCE_MS = 1000;
  const UNCHANGED = { __type__: "update" };
  const { link, views } = nt2vr.first ?? {};
  const asked = [...new URLSearchParams(location.search)].filter(([name]) => !OTHERS.includes(name));
  const isAsked = Boolean(link) && asked.every(([name, value]) => link[name] === value);

  // Posters arrive while Gradio's scripts are still being read.
  const load = ({ poster }) => Object.assign(new Image(), { src: poster }).decode();
  const hits = isAsked ? views.columns.columns.flatMap((column) => column.hits) : [];
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
        for (const [panel, show] of Object.entries(panels)) show(views[panel]);
        document.body.classList.add("nt-first"); // no progress is shown, since nothing will change
      }
      await posters;
      return nt2vr.isNewest(sent[0]) ? sent : sent.map(() => UNCHANGED);
    },
  });
}
