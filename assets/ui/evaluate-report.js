const toQueries = () => document.querySelector("#evaluate-filters")?.scrollIntoView({ block: "start" });
// A point of the plot opens its queries: its system is compared with the one that was compared first.
const open = (event) => {
  const { system } = event.target.closest("[data-system]")?.dataset ?? {};
  if (!system) return;
  const address = new URLSearchParams(location.search);
  if (address.get("first") === system) address.set("first", address.get("second"));
  address.set("second", system);
  address.set("kind", "composed");
  ["p", "query"].forEach((name) => address.delete(name));
  window.nt2vr.go(`?${address}`);
  trigger("open", { link: `?${address}` });
  toQueries();
};
element.addEventListener("click", open);
element.addEventListener("click", ({ target }) => { if (target.closest("[data-queries]")) toQueries(); });
element.addEventListener("keydown", (event) => {
  if ((event.key !== "Enter" && event.key !== " ") || !event.target.closest("[data-system]")) return;
  event.preventDefault();
  open(event);
});
