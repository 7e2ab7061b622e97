element.addEventListener("click", (event) => {
  const read = event.target.closest("[data-word]");
  const offer = event.target.closest("[data-query]");
  if (event.target.closest("[data-flip]")) return trigger("flip", {});
  nt2vr.clicked = { ...(read ?? offer)?.dataset };
  if (read) return trigger("literal", {});
  if (offer) return trigger("take", {});
});
// Back and Forward open the link that the address then holds.
window.addEventListener("popstate", () => {
  const link = location.search.slice(1);
  if (new URLSearchParams(link).has("report")) trigger("report", { link });
  else {
    nt2vr.arrived = location.search;
    trigger("back", {});
  }
});
// A click on the negation shows other clips at once.
watch("value", () => {
  const { link, affirmed, flipped } = props.value;
  if (!link || link.gallery || !(affirmed || flipped)) return;
  nt2vr.fetchAhead(flipped ? link.q : affirmed, link.systems.split("|"), Number(link.k));
});
