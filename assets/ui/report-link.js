// The address says which report, filters, page and query are shown; history remembers how far the page was scrolled.
window.nt2vr = (() => {
  const isHere = () => new URLSearchParams(location.search).has("report") && document.querySelector("#evaluate")?.checkVisibility();
  let wantedScroll = history.state?.scroll; // until the page is as long again, what a browser scrolls to does not count
  const noteScroll = () => { if (wantedScroll === undefined && isHere()) history.replaceState({ ...history.state, scroll: scrollY }, ""); };
  const show = (visible) => ({ __type__: "update", visible });
  const openWhenAsked = {}; // row with a question -> what was open when it was asked
  let noteTimer;
  addEventListener("scroll", () => { clearTimeout(noteTimer); noteTimer = setTimeout(noteScroll, 150); });
  addEventListener("popstate", ({ state }) => { wantedScroll = state?.scroll; });
  return {
    // Show or hide a component.
    show,
    // Ask about what is open.
    askAbout: (row, about) => { openWhenAsked[row] = about; return show(true); },
    // Hide a question about something else. A page may tell what is open only after it was asked about.
    dropUnlessAbout: (row, about) => (about === openWhenAsked[row] ? { __type__: "update" } : show(false)),
    // Go to an address of this page; `instead` replaces the current one.
    go: (link, instead = false) => {
      wantedScroll = undefined;
      noteScroll();
      if (link !== location.search) history[instead ? "replaceState" : "pushState"](instead ? history.state : {}, "", link);
      if (!new URLSearchParams(link).has("report")) window.nt2vr.open(link);
    },
    // Scroll to where this place was left.
    scroll: () => {
      const until = performance.now() + 2000;
      const attempt = () => {
        if (wantedScroll === undefined) return;
        const isLong = document.documentElement.scrollHeight - innerHeight >= wantedScroll;
        if (!isLong && performance.now() < until) { requestAnimationFrame(attempt); return; }
        if (isHere()) scrollTo(0, wantedScroll);
        wantedScroll = undefined;
      };
      attempt();
    },
  };
})();
