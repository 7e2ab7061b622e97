// Stories for talks are searches, each with a note for the speaker. A page that opens on the stage without a search opens
// with the first of them.
{
  const { nt2vr } = window;
  const MOST_STORIES = 100;

  const isStory = (story) => typeof story?.query === "string" && Array.isArray(story.systems);
  const readStories = (text) => {
    const stories = JSON.parse(text);
    const areStories = Array.isArray(stories) && stories.length > 0 && stories.every(isStory);
    if (!areStories) throw new Error("no stories");
    return stories.slice(0, MOST_STORIES);
  };

  // Base64 that needs no escapes in an address.
  const encode = (text) => {
    const bytes = String.fromCharCode(...new TextEncoder().encode(text));
    return btoa(bytes).replace(/\+/g, "-").replace(/\//g, "_");
  };
  const decode = (text) => {
    const bytes = atob(text.replace(/-/g, "+").replace(/_/g, "/"));
    return new TextDecoder().decode(Uint8Array.from(bytes, (letter) => letter.charCodeAt(0)));
  };

  const ofLink = () => decode(new URLSearchParams(location.search).get("stories"));
  const lastEdited = () => nt2vr.stored("stories");
  const linkOfStory = ({ query, systems, k = 8, match }) => {
    const link = { q: query, systems: systems.join("|"), k };
    return `${new URLSearchParams(match ? { ...link, match } : link)}`;
  };

  Object.assign(nt2vr, {
    readStories,
    builtInStories: () => structuredClone(nt2vr.stories),
    // The link's own stories, otherwise those edited last, otherwise the built-in ones.
    loadStories: () => {
      for (const source of [ofLink, lastEdited]) {
        try {
          return readStories(source());
        } catch {} // absent, forbidden or damaged
      }
      return nt2vr.builtInStories();
    },
    storeStories: (stories) => nt2vr.store("stories", JSON.stringify(stories)),
    linkOfStories: (stories) => `${location.origin}${location.pathname}?stage=1&stories=${encode(JSON.stringify(stories))}`,
    linkOfStory,
    // Two columns in any order, so that the place of one does not give it away.
    linkOfGuess: ({ query, systems, k }) => {
      const ends = [systems[0], systems.at(-1)];
      return linkOfStory({ query, k, systems: Math.random() < 0.5 ? ends : ends.reverse() });
    },
  });

  const address = new URLSearchParams(location.search);
  if (address.get("stage") === "1" && !address.has("q")) {
    const [story] = nt2vr.loadStories();
    const link = address.has("guess") ? nt2vr.linkOfGuess(story) : linkOfStory(story);
    history.replaceState(history.state, "", `${location.search}&${link}`);
  }
}
