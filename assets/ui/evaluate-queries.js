// A row is an ordinary link (for a new tab, say); a plain click opens its review, and the list stays as it is. A picture
// plus a text has none: a click opens it in Search, with its reference.
element.addEventListener("click", (event) => {
  const link = event.target.closest("[data-show], [data-search]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  if (link.dataset.search) {
    scrollTo(0, 0);
    trigger("search", { link: link.dataset.search });
    return;
  }
  window.nt2vr.go(link.getAttribute("href"));
  trigger("show", {});
});
// First clips load their first frame when they come into view.
const seen = new IntersectionObserver((entries) => entries.forEach(({ isIntersecting, target }) => {
  if (isIntersecting && target.dataset.src && target.getAttribute("src") !== target.dataset.src) target.src = target.dataset.src;
}), { rootMargin: "200px" });
const observe = () => {
  seen.disconnect();
  element.querySelectorAll("video[data-src]").forEach((video) => seen.observe(video));
};
observe();
watch("value", () => {
  // Unfolded details belong to a query, not to its position: close them when the list changes.
  element.querySelectorAll("details[open]").forEach((details) => { details.open = false; });
  requestAnimationFrame(observe);
  saved();
});

// Saved filters: what a link says of filters, remembered by the browser for all reports.
const KEY = "nt2vr-filters";
const NAMES = ["order", "kind", "cue", "part", "concept", "tag", "find", "fails"];
const read = () => {
  try {
    const found = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(found) ? found.filter((each) => typeof each === "string").slice(0, 20) : [];
  } catch { return []; }
};
const keep = (filters) => { try { localStorage.setItem(KEY, JSON.stringify(filters)); } catch {} saved(); };
const current = () => {
  const now = new URLSearchParams(props.value.link ?? "");
  return `${new URLSearchParams(NAMES.filter((name) => now.has(name)).map((name) => [name, now.get(name)]))}`;
};
const LABELS = { fails: "fails everywhere", kind: "all kinds", "*": "noted" };
const label = (filter) => [...new URLSearchParams(filter)].map(([name, value]) => {
  if (name === "fails" || (name === "kind" && !value)) return LABELS[name];
  if (name === "find") return `“${value}”`;
  return LABELS[value] ?? props.value.kinds?.[value] ?? value;
}).join(" · ");
const button = (text, act, name) => {
  const made = Object.assign(document.createElement("button"), { type: "button", textContent: text, ariaLabel: name ?? null });
  made.addEventListener("click", act);
  return made;
};
function saved() {
  const place = element.querySelector(".nt-saved");
  if (!place) return;
  const [all, now] = [read(), current()];
  const chips = all.map((filter) => {
    const chip = document.createElement("span");
    chip.className = filter === now ? "nt-chip nt-chosen" : "nt-chip";
    chip.append(
      button(label(filter), () => {
        const address = new URLSearchParams(props.value.link);
        [...NAMES, "p", "query"].forEach((name) => address.delete(name));
        new URLSearchParams(filter).forEach((value, name) => address.set(name, value));
        window.nt2vr.go(`?${address}`);
        trigger("open", { link: `?${address}` });
      }),
      button("×", () => keep(read().filter((each) => each !== filter)), `Forget the filter ${label(filter)}`),
    );
    return chip;
  });
  const save = all.includes(now) ? [] : [button("Save this filter", () => keep([...read(), now].slice(-20)))];
  place.replaceChildren(...chips, ...save);
}
requestAnimationFrame(saved);
