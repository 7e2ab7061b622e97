// The one place that reads and writes what the browser stores: `last`, the address of the last search in each gallery, by its
// key, as JSON, and `stories`, those edited last. It may forbid that: then nothing is remembered.
Object.assign(window.nt2vr, {
  stored: (name) => {
    try { return localStorage.getItem(`nt2vr-${name}`) ?? ""; } catch { return ""; }
  },
  store: (name, text) => {
    try { localStorage.setItem(`nt2vr-${name}`, text); } catch {} // forbidden, or full
  },
});
