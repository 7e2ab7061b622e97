// Follows the end, unless the person has scrolled away from it.
let follows = true;
const show = () => {
  const log = element.querySelector("pre");
  if (log && follows) log.scrollTop = log.scrollHeight;
};
element.addEventListener("scroll", ({ target }) => { follows = target.scrollHeight - target.scrollTop - target.clientHeight < 30; }, true);
watch("value", show);
requestAnimationFrame(show);
