element.addEventListener("click", ({ target }) => {
  const { flipped, link } = props.value;
  const [word, offer] = [target.closest("[data-word]"), target.closest("[data-query]")];
  if (target.closest("[data-flip]")) nt2vr.change({ flip: flipped ? "" : "1" });
  else if (word) nt2vr.change({ literal: [link.literal, word.dataset.word].filter(Boolean).join("|") });
  else if (target.closest("[data-return]")) nt2vr.giveBack();
  else if (offer) nt2vr.change({ q: offer.dataset.query });
  else return;
  trigger("ask", {});
});
// Back and Forward open the link that the address then holds.
window.addEventListener("popstate", () => {
  const link = location.search.slice(1);
  if (new URLSearchParams(link).has("report")) return trigger("report", { link });
  nt2vr.reopen(link);
  trigger("back", {});
  trigger("ask", {});
});
// The columns fill in their scores, and hide what is said of folded ones.
watch("value", () => requestAnimationFrame(() => document.dispatchEvent(new Event("nt-understood"))));
nt2vr.showFirst("understood", (view) => { props.value = view; });
