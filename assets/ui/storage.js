// The one place that reads and writes what the browser stores. It may forbid that: then nothing is remembered.
{
  const PLACES = {
    settings: () => [localStorage, "nt2vr"], // systems, results and gallery of the last search, as a query string
    last: () => [localStorage, "nt2vr-last"], // address of the last search in each gallery, by its key, as JSON
    stories: () => [localStorage, "nt2vr-stories"],
    search: () => [sessionStorage, "nt2vr-search"], // address of this tab's last search
  };
  Object.assign(window.nt2vr, {
    stored: (name) => {
      try {
        const [storage, key] = PLACES[name]();
        return storage.getItem(key) ?? "";
      } catch { return ""; }
    },
    store: (name, text) => {
      try {
        const [storage, key] = PLACES[name]();
        storage.setItem(key, text);
      } catch {} // forbidden, or full
    },
  });
}
