"""Scripts of the Search tab's events, which run in the browser.

An event's inputs are the arguments, and what a script returns goes to the event's outputs.
"""

import json

from nt2vr.ui.link import DEFAULTS

PLACES = {name: place for place, name in enumerate(DEFAULTS)}
ASK = "() => `${performance.now()}`"
SHOW = "(visible) => ({ __type__: 'update', visible })"
DRAW = "(queries) => [queries[Math.floor(Math.random() * queries.length)], `${performance.now()}`]"
# Apply a link to the controls that still hold their defaults. Whoever has begun to type a query will ask for it; what
# belongs to the link's query then goes with it. `like` says where the picture is from.
RESTORE = f"""(link, picture, ask, ...now) => {{
  const values = [...link, picture, Boolean(picture)];
  const defaults = {json.dumps([*DEFAULTS.values(), None, False])};
  const touched = now.map((value, i) => JSON.stringify(value) !== JSON.stringify(defaults[i]));
  touched[{PLACES["like"]}] ||= touched.at(-2);
  for (const place of {[PLACES["parts"], PLACES["literal"]]}) touched[place] ||= touched[0];
  return [touched[0] ? ask : `${{performance.now()}}`, ...now.map((value, i) => touched[i] ? value : values[i])];
}}"""
# The chip shows the picture and its weight. Without the tick or the chip there is no picture.
CHIP = "(picture, weight) => picture ? { src: picture.url, weight: `${Math.round(100 * weight)} %` } : {}"
UNTICK = "(on, ...now) => on ? now : [null, '', `${performance.now()}`]"
REMOVE = "() => [null, '', `${performance.now()}`, false]"
NOTHING = "() => [{}, { columns: [] }, {}]"
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
  if (!isElsewhere) history[isNew ? "pushState" : "replaceState"]({ answered: true }, "", `?${address}`);
  try {
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
