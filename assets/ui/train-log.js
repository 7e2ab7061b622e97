// Follows the end, unless the person has scrolled away from it.
let follows = true;
element.addEventListener("scroll", ({ target }) => { follows = target.scrollHeight - target.scrollTop - target.clientHeight < 30; }, true);
watch("value", () => {
  const log = element.querySelector("pre");
  if (log && follows) log.scrollTop = log.scrollHeight;
});
