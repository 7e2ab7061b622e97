"""Browser scripts of the Evaluate tab's events. The address bar holds the tab's state.

`assets/ui/report-link.js` has what templates and these scripts share: `nt2vr.go` and `nt2vr.scroll`.
"""

import json

from nt2vr.ui.evaluate.report_link import FILTERS, PAGE

# Whoever opens the tab sees the place that the address names, otherwise the one that was shown last.
ASKED = "(_, chosen) => [location.search, chosen]"
# A changed filter is a new address. Typing into a field changes the address of its first letter.
FILTERED = f"""(_, ...values) => {{
  const address = new URLSearchParams(location.search);
  const before = address.get("find");
  {json.dumps([PAGE, "query"])}.forEach((name) => address.delete(name));
  {json.dumps(FILTERS)}.forEach((name, i) => {{
    const value = values[i] === true ? "1" : values[i] || "";
    if (value || name === "kind") address.set(name, value); else address.delete(name);
  }});
  const isTyping = before && address.get("find") && before !== address.get("find");
  window.nt2vr.go(`?${{address}}`, isTyping);
  return `?${{address}}&at=${{performance.now()}}`; // the same filter may be asked for again
}}"""
# The server has chosen a report, or its systems: the address follows, unless the person has left the tab meanwhile.
SHOWN = """({ link = "?report=" }) => {
  if (!document.querySelector("#evaluate")?.checkVisibility()) return;
  const [now, full] = [new URLSearchParams(location.search), new URLSearchParams(link)];
  if (now.get("report") !== full.get("report")) return window.nt2vr.go(link);
  if (now.has("first")) return;
  if (now.has("query")) full.set("query", now.get("query"));
  history.replaceState(history.state, "", `?${full}`);
}"""
# A click has moved the address, whose change shows the place: an event's own data would be stale if it had to wait.
HERE = "`${location.search}&at=${performance.now()}`"
MOVED = f"() => {HERE}"
TELL = "const place = document.querySelector('.nt-kept'); if (place) place.textContent ="
SAVED = f"""() => {{
  {TELL} 'saved';
  return new URLSearchParams(location.search).has("report") ? {HERE} : "";
}}"""
NOT_SAVED = f"() => {{ {TELL} 'not saved'; }}"
# A place is shown: the page scrolls to where it was left, and its review, closed in between, opens again.
SCROLL = "() => { dispatchEvent(new Event('nt2vr-shown')); window.nt2vr.scroll(); }"
# Whoever turns to another tab leaves the report; its address is that of the last search.
LEFT = """() => {
  const wasShown = document.querySelector("#evaluate"); // the first tab is selected once before the page is loaded
  if (!wasShown || !new URLSearchParams(location.search).has("report")) return;
  let last = "";
  try { last = sessionStorage.getItem("nt2vr-search") ?? ""; } catch {} // a browser may forbid it
  history.pushState({ answered: true }, "", last || location.pathname);
}"""
