"""Browser scripts of the Search tab's events.

An event's inputs are the arguments, and what a script returns goes to the event's outputs.
"""

import json

from nt2vr.ui.search.layout import NO_REFERENCES
from nt2vr.ui.search.link import DEFAULTS

PLACES = {name: place for place, name in enumerate(DEFAULTS)}
ASK = "() => `${performance.now()}`"
DRAW = "(queries) => [queries[Math.floor(Math.random() * queries.length)], `${performance.now()}`]"
# Apply a link to the controls that still hold their defaults. Whoever has begun to type a query will ask for it; what
# belongs to the link's query then goes with it.
RESTORE = f"""(link, ask, ...now) => {{
  const defaults = {json.dumps([*(DEFAULTS | {"references": NO_REFERENCES}).values()])};
  const touched = now.map((value, i) => JSON.stringify(value) !== JSON.stringify(defaults[i]));
  for (const place of {[PLACES["parts"], PLACES["literal"]]}) touched[place] ||= touched[0];
  return [touched[0] ? ask : `${{performance.now()}}`, ...now.map((value, i) => touched[i] ? value : link[i])];
}}"""
CHOOSE = "() => { document.querySelector('#reference [data-files]').click(); }"
NOTHING = "() => { window.nt2vrPopped = undefined; return [{}, { columns: [] }, {}]; }"
MOVED = "(value) => [`${value}`, `${performance.now()}`]"
# The settings that a browser remembers, as the query string of a link; see SETTLE.
REMEMBERED = "() => { try { return localStorage.getItem('nt2vr') ?? ''; } catch { return ''; } }"
# Make the address a link to the answer, and show its parts and strengths unless the person changed them since asking.
SETTLE = """({ link, asked_parts, parts, sliders }, wanted, unwanted, ...strengths) => {
  const address = new URLSearchParams(link);
  const before = new URLSearchParams(location.search);
  for (const name of ["__theme", "stage", "stories"]) if (before.has(name)) address.set(name, before.get(name));
  const isNew = history.state?.answered && `?${address}` !== location.search;
  const isElsewhere = before.has("report"); // on the Evaluate tab
  const isPassed = (window.nt2vrPopped ?? `?${address}`) !== `?${address}`; // Back went on before this answer came
  window.nt2vrPopped = undefined;
  if (!isElsewhere && !isPassed) history[isNew ? "pushState" : "replaceState"]({ answered: true }, "", `?${address}`);
  try {
    for (const name of ["stage", "stories"]) address.delete(name); // whoever comes back has left the stage
    sessionStorage.setItem("nt2vr-search", `?${address}`);
    const kept = ["systems", "k", "gallery"].filter((name) => name in link).map((name) => [name, link[name]]);
    localStorage.setItem("nt2vr", `${new URLSearchParams(kept)}`);
  } catch {} // a browser may forbid it
  return [
    ...[wanted, unwanted].map((value, i) => value === asked_parts[i] ? parts[i] : value),
    ...sliders.map(({ moved, value, used }, i) => ({
      __type__: "update", visible: used || "hidden",
      ...(value !== null && moved === (strengths[i] === "" ? null : Number(strengths[i])) ? { value } : {}),
    })),
    link.literal ?? "",
    link.parts ?? "",
  ];
}"""
