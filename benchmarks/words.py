"""Words that a model of the built-in world knows, as JSON: `python -m benchmarks.words CHECKPOINT [--cache FOLDER]`.

It searches for single words among test scenes, which are drawn once and cached. Every thing is in at
least 16 of them.

- known: names of things and kinds, actions and places: precision@10, and the share of at least .5;
- unseen: words of `assets/world/unseen_words.tsv`, which no caption has, next to the known word
  that they stand for;
- things: precision@8 of the usual name;
- time of day: hard pairs of "in the park but not at night" and the like, of all places and things
  shown at both times.
"""

import json
import math
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.gallery import stream_staged
from benchmarks.harness import arguments
from nt2vr.evaluation.scoring import ordered_shares
from nt2vr.models.checkpoint import read_checkpoint
from nt2vr.models.encoder import Encoder
from nt2vr.negation.parse.inflect import inflect_phrase
from nt2vr.settings import Settings, prepare_environment
from nt2vr.world.claims import Act, Claim, SceneTable, visible_in
from nt2vr.world.drawn.clips import ClipFile
from nt2vr.world.labels import labels
from nt2vr.world.reader import read_claim
from nt2vr.world.sampling import sample_scenes, showing
from nt2vr.world.scenes import Scene
from nt2vr.world.things import actions, kinds, meanings, places, read_table, things

NUM_CLIPS = 1_000
SEED = 7
# Clips with each thing.
LEAST = 16
# Clips that show a word, for it to be measured.
FEWEST = 4
Words = Mapping[str, Claim]


def test_scenes() -> list[Scene]:
    """Draw test scenes as usual, then further ones for things that few of them show."""
    scenes = sample_scenes("test", NUM_CLIPS, SEED)
    num_scenes: Counter[str] = Counter()
    for scene in scenes:
        num_scenes.update(_things_in(scene))
    for name in things():
        with_thing = stream_staged([showing(name)], SEED)
        while num_scenes[name] < LEAST:
            scene = next(with_thing)
            scenes.append(scene)
            num_scenes.update(_things_in(scene))
    return scenes


def _things_in(scene: Scene) -> set[str]:
    return {figure.thing for figure in visible_in(scene)}


def unseen_words() -> dict[str, tuple[str, Claim]]:
    """Return words that no caption has, with the known word in their place and what they mean."""
    meaning_of = {}
    for row in read_table("unseen_words"):
        name = row["name"]
        if row["kind"] == "action":
            meaning_of[row["word"]] = _action(name, row["object"])
        elif row["kind"] == "place":
            place = Claim.at(name)
            meaning_of[row["word"]] = (places()[name].phrases[0], place)
        else:
            nouns = things()[name].nouns if name in things() else kinds().get(name, ())
            # "police officer" is said of two things.
            known_word = nouns[0].word if nouns else name
            thing = Claim.of_things(meanings()[known_word])
            meaning_of[row["word"]] = (known_word, thing)
    return meaning_of


def _action(verb: str, thing: str) -> tuple[str, Claim]:
    """Return how captions say an action, and what that means."""
    object_text = things()[thing].noun.with_article() if thing else ""
    phrase = actions()[verb].phrases[0].replace("{o}", object_text).strip()
    return inflect_phrase(phrase, "VBG"), Claim.of_act(Act.of(verb, thing))


class WordSearch:
    """A model and the clips: precision of single words."""

    def __init__(
        self, encoder: Encoder, scenes: Sequence[Scene], videos: NDArray[np.float32]
    ) -> None:
        """Index the scenes."""
        self.table = SceneTable(scenes)
        self._encoder = encoder
        self._videos = videos

    def scores(self, words: Sequence[str]) -> NDArray[np.float32]:
        """Return the scores of all clips: (W, N)."""
        return self._encoder.encode_text(list(words)) @ self._videos.T

    def ranked(self, words: Sequence[str], k: int) -> NDArray[np.int64]:
        """Return the best clips of each word: (W, k)."""
        return np.argsort(-self.scores(words), axis=1)[:, :k]

    def precisions(self, words: Words, k: int = 10) -> dict[str, float]:
        """Return the share of correct clips among the first k, or among as many as there are."""
        precision_of = {}
        for (word, claim), rows in zip(words.items(), self.ranked(list(words), k), strict=True):
            is_right = self.table.holding(claim)
            count = min(k, int(is_right.sum()))
            if count >= FEWEST:
                precision_of[word] = float(is_right[rows[:count]].mean())
        return precision_of


def of_things(search: WordSearch) -> list[float]:
    """Return precision@8 of each thing by its usual name; wherever it is seen counts."""
    words = [thing.noun.word for thing in things().values()]
    precisions = []
    for word, rows in zip(words, search.ranked(words, 8), strict=True):
        is_right = search.table.holding(Claim.of_things(meanings()[word]))
        precisions.append(float(is_right[rows].mean()))
    return precisions


def of_night(search: WordSearch) -> dict[str, Any]:
    """Return the hard pairs of sentences that name a place or a thing and deny the time of day, in percent."""
    is_night = search.table.holding(read_claim("at night") or Claim())
    is_shown_of = _shown_at_both_times(search, is_night)
    shown = np.stack([*is_shown_of.values()])
    percentages: dict[str, Any] = {"sentences": len(is_shown_of)}
    for name, denied, is_unwanted in (
        ("but not at night", " but not at night", is_night),
        ("but not by day", " but not by day", ~is_night),
        ("drop: not at night", "", is_night),
    ):
        scores = search.scores([f"{text}{denied}" for text in is_shown_of])
        ordered, _ = ordered_shares(scores, shown & ~is_unwanted, shown & is_unwanted)
        percentages[name] = 100 * float(ordered.mean())
    return percentages


def _shown_at_both_times(
    search: WordSearch, is_night: NDArray[np.bool_]
) -> dict[str, NDArray[np.bool_]]:
    """Return which clips show each place or thing that is in enough of them by night and by day."""
    is_shown_of = {}
    for label in labels():
        if any(subject.acts for subject in label.claim.subjects):
            continue
        is_shown = search.table.holding(label.claim)
        num_by_night = (is_shown & is_night).sum()
        num_by_day = (is_shown & ~is_night).sum()
        if min(num_by_night, num_by_day) >= FEWEST:
            is_shown_of[label.texts[-1]] = is_shown
    return is_shown_of


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else math.nan


def _share_from(values: Sequence[float], least: float) -> float:
    return _mean([value >= least for value in values])


def known_words() -> dict[str, Claim]:
    """Return the names of things and kinds, actions without an object, and places."""
    claim_of = {}
    for label in labels():
        acts = chain.from_iterable(subject.acts for subject in label.claim.subjects)
        if not any(act.objects for act in acts):
            claim_of[label.texts[0]] = label.claim
    return claim_of


def measure(search: WordSearch, scenes: Sequence[Scene]) -> dict[str, Any]:
    """Return all figures."""
    known = search.precisions(known_words())
    unseen = unseen_words()
    of_unseen = search.precisions({word: claim for word, (_, claim) in unseen.items()})
    of_known_word = search.precisions(dict(unseen.values()))
    in_place = [of_known_word[unseen[word][0]] for word in of_unseen]
    precisions_of_things = of_things(search)
    precisions_of_known = list(known.values())
    return {
        "clips": len(scenes),
        "known": {
            "words": len(known),
            "precision@10": _mean(precisions_of_known),
            "at least .5": _share_from(precisions_of_known, 0.5),
        },
        "unseen": {
            "words": len(of_unseen),
            "precision@10": _mean(list(of_unseen.values())),
            "of the known word": _mean(in_place),
            "worst": sorted(of_unseen, key=of_unseen.__getitem__)[:40],
        },
        "things": {
            "precision@8": _mean(precisions_of_things),
            "at least 0.5": sum(precision >= 0.5 for precision in precisions_of_things),
            "at least 0.8": sum(precision >= 0.8 for precision in precisions_of_things),
        },
        "time of day": of_night(search),
    }


def main() -> None:
    """Print one JSON object."""
    parser = arguments("words", __doc__)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument(
        "--cache", type=Path, help="folder of the drawn clips; the app's own by default"
    )
    flags = parser.parse_args()
    prepare_environment()
    settings = Settings.read()
    encoder = read_checkpoint(flags.checkpoint, settings.device)
    scenes = test_scenes()
    cache = flags.cache or settings.data_dir / "cache"
    clips = ClipFile.of("test", scenes, encoder.num_frames, encoder.framing, cache)
    search = WordSearch(encoder, scenes, clips.embeddings(encoder, keeps_frames=True))
    json.dump(measure(search, scenes), sys.stdout, indent=1)


if __name__ == "__main__":
    main()
