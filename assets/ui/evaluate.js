// What events of the Evaluate tab do in the browser; the address says what is shown, see report-link.js.
{
  const { nt2vr } = window;
  // A click has moved the address, whose change shows the place: an event's own data would be stale if it had to wait.
  const here = () => `${location.search}&at=${performance.now()}`; // the same place may be asked for again
  let wanted = ""; // the place of a click that has not been asked for yet: the tab may wait for an earlier answer
  const say = (text) => {
    const place = document.querySelector(".nt-saved");
    if (place) place.textContent = text;
  };

  Object.assign(nt2vr, {
    here,
    // A page whose address names a place in a report opens with this tab.
    openReport: () => {
      const isPlace = new URLSearchParams(location.search).has("report");
      return { __type__: "update", ...(isPlace && { selected: "evaluate" }) };
    },
    wantPlace: (place) => {
      wanted = place;
      return here();
    },
    // Show what was clicked, otherwise the place that the address names, or else the one that was shown last.
    askReport: (_, chosen, wished) => {
      const place = wanted || location.search;
      wanted = "";
      return [place, chosen, wished];
    },
    // Show what the chosen data asks for: a split, the number of queries, and one model or several systems.
    chooseData: ({ ofModels, sized, builtIn, library }, data) => {
      const [name, { show }] = [data ?? "", nt2vr];
      const isBuiltIn = builtIn.includes(name) || name.startsWith(library);
      const isOfModel = ofModels.some((prefix) => name.startsWith(prefix));
      return [show(!isBuiltIn), show(sized.includes(name)), show(!isOfModel), show(isOfModel)];
    },
    // What a breakdown needs of the report and of the list of queries, without tables and rows.
    breakdownInputs: (report, { first, second }, key) => [{ id: report?.id ?? "" }, { first, second }, key],
    // A changed filter is a new address. Typing into a field changes the address of its first letter.
    filterQueries: (filters, others, _, ...values) => {
      const address = new URLSearchParams(location.search);
      const before = address.get("find");
      others.forEach((name) => address.delete(name));
      filters.forEach((name, i) => {
        const value = values[i] === true ? "1" : values[i] || "";
        if (value || name === "kind") address.set(name, value); else address.delete(name);
      });
      const isTyping = before && address.get("find") && before !== address.get("find");
      nt2vr.go(`?${address}`, isTyping);
      return here();
    },
    // The server has chosen a report, or its systems: the address follows, unless the person has left the tab meanwhile.
    followReport: ({ link = "?report=" }) => {
      if (wanted || !document.querySelector("#evaluate")?.checkVisibility()) return;
      const [now, full] = [new URLSearchParams(location.search), new URLSearchParams(link)];
      if (now.get("report") !== full.get("report")) return nt2vr.go(link);
      if (now.has("first")) return;
      if (now.has("query")) full.set("query", now.get("query"));
      history.replaceState(history.state, "", `?${full}`);
    },
    noteSaved: () => {
      say("saved");
      return new URLSearchParams(location.search).has("report") ? here() : "";
    },
    noteFailed: () => say("not saved"),
    // A place is shown: the page scrolls to where it was left, and its review, closed in between, opens again.
    showPlace: () => {
      dispatchEvent(new Event("nt2vr-shown"));
      nt2vr.scroll();
    },
    // Whoever turns to another tab leaves the report; the address becomes that of the last search.
    leaveReport: () => {
      const wasShown = document.querySelector("#evaluate"); // the first tab is selected once before the page is loaded
      if (!wasShown || !new URLSearchParams(location.search).has("report")) return;
      history.pushState({ answered: true }, "", nt2vr.address());
    },
  });
}
