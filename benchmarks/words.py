"""Words that a model of the built-in world knows, as JSON: `python -m benchmarks.words CHECKPOINT [--cache FOLDER]`.

Asks for single words among test scenes, drawn once and cached; every thing is in at least 16 of
them.

- known: names of things and kinds, actions and places: precision@10, and the share of at least .5;
- unseen: words of `assets/world/unseen_words.tsv`, which no caption has, next to the known word in
  their place;
- things: precision@8 of the usual name;
- time of day: hard pairs of "in the park but not at night" and the like, of all places and things
  shown at both times.
"""

import json
import math
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import arguments
from nt2vr.evaluation.scoring import ordered_shares
from nt2vr.models.checkpoint import read_checkpoint
from nt2vr.models.encoder import Encoder
from nt2vr.negation.parse.inflect import inflect_phrase
from nt2vr.settings import Settings, prepare_environment
from nt2vr.world.claims import Act, Claim, SceneTable, SubjectClaim, visible_in
from nt2vr.world.drawn.clips import ClipFile
from nt2vr.world.labels import labels
from nt2vr.world.reader import read_claim
from nt2vr.world.sampling import sample_scenes, showing, stream_staged
from nt2vr.world.scenes import Scene
from nt2vr.world.things import actions, kinds, places, read_table, things
from nt2vr.world.wording import meanings

NUM_CLIPS, SEED = 1_000, 7
LEAST = 16  # clips with each thing
FEWEST = 4  # clips that show a word, for it to be measured
Words = Mapping[str, Claim]


def test_scenes() -> list[Scene]:
    """Draw test scenes as usual, then further ones for things that few of them show."""
    scenes = sample_scenes("test", NUM_CLIPS, SEED)
    shown = Counter(
        name for scene in scenes for name in {figure.thing for figure in visible_in(scene)}
    )
    for name in things():
        further = stream_staged([showing(name)], "test", SEED)
        while shown[name] < LEAST:
            scenes.append(next(further))
            shown.update({figure.thing for figure in visible_in(scenes[-1])})
    return scenes


def unseen_words() -> dict[str, tuple[str, Claim]]:
    """Return words that no caption has, with the known word in their place and what they mean."""
    found = {}
    for row in read_table("unseen_words"):
        name, thing = row["name"], row["object"]
        if row["kind"] == "action":
            phrase = (
                actions()[name]
                .phrases[0]
                .replace("{o}", things()[thing].nouns[0].with_article() if thing else "")
            )
            act = Act(frozenset((name,)), frozenset((thing,) if thing else ()))
            found[row["word"]] = (
                inflect_phrase(phrase.strip(), "VBG"),
                Claim((SubjectClaim(acts=(act,)),)),
            )
        elif row["kind"] == "place":
            found[row["word"]] = places()[name].phrases[0], Claim(places=frozenset((name,)))
        else:
            nouns = things()[name].nouns if name in things() else kinds().get(name, ())
            known = nouns[0].word if nouns else name  # "police officer", said of two things
            found[row["word"]] = known, Claim((SubjectClaim(meanings()[known]),))
    return found


class Asked:
    """A model and the clips: precision of single words."""

    def __init__(
        self, encoder: Encoder, scenes: Sequence[Scene], videos: NDArray[np.float32]
    ) -> None:
        """Index the scenes."""
        self._encoder, self._videos, self.table = encoder, videos, SceneTable(scenes)

    def scores(self, words: Sequence[str]) -> NDArray[np.float32]:
        """Return the scores of all clips: (W, N)."""
        return self._encoder.encode_text(list(words)) @ self._videos.T

    def ranked(self, words: Sequence[str], k: int) -> NDArray[np.int64]:
        """Return the best clips of each word: (W, k)."""
        return np.argsort(-self.scores(words), axis=1)[:, :k]

    def precisions(self, words: Words, k: int = 10) -> dict[str, float]:
        """Return the share of correct clips among the first k, or among as many as there are."""
        found = {}
        for (word, claim), best in zip(words.items(), self.ranked(list(words), k), strict=True):
            right = self.table.holding(claim)
            count = min(k, int(right.sum()))
            if count >= FEWEST:
                found[word] = float(right[best[:count]].mean())
        return found


def of_things(asked: Asked) -> list[float]:
    """Return precision@8 of each thing by its usual name; wherever it is seen counts."""
    words = [thing.nouns[0].word for thing in things().values()]
    right = [asked.table.holding(Claim((SubjectClaim(meanings()[word]),))) for word in words]
    ranked = asked.ranked(words, 8)
    return [float(found[best].mean()) for found, best in zip(right, ranked, strict=True)]


def of_night(asked: Asked) -> dict[str, Any]:
    """Return the hard pairs of sentences that name a place or a thing and deny the time of day, in percent."""
    night = asked.table.holding(read_claim("at night") or Claim())
    named = [label for label in labels() if not any(who.acts for who in label.claim.subjects)]
    shown = {label.texts[-1]: asked.table.holding(label.claim) for label in named}
    shown = {
        text: has
        for text, has in shown.items()
        if min((has & night).sum(), (has & ~night).sum()) >= FEWEST
    }
    found: dict[str, Any] = {"sentences": len(shown)}
    has = np.stack([*shown.values()])
    for denied, unwanted in (
        (" but not at night", night),
        (" but not by day", ~night),
        ("", night),
    ):
        ordered, _ = ordered_shares(
            asked.scores([f"{text}{denied}" for text in shown]), has & ~unwanted, has & unwanted
        )
        found[denied.strip() or "drop: not at night"] = 100 * float(ordered.mean())
    return found


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else math.nan


def measure(asked: Asked, scenes: Sequence[Scene]) -> dict[str, Any]:
    """Return all figures."""
    unseen = unseen_words()
    known = asked.precisions(
        {
            label.texts[0]: label.claim
            for label in labels()
            if not any(act.objects for who in label.claim.subjects for act in who.acts)
        }
    )
    new = asked.precisions({word: claim for word, (_, claim) in unseen.items()})
    instead = asked.precisions({known: claim for known, claim in unseen.values()})
    pairs = [(precision, instead[unseen[word][0]]) for word, precision in new.items()]
    of = of_things(asked)
    return {
        "clips": len(scenes),
        "known": {
            "words": len(known),
            "precision@10": _mean([*known.values()]),
            "at least .5": _least(known, 0.5),
        },
        "unseen": {
            "words": len(pairs),
            "precision@10": _mean([each for each, _ in pairs]),
            "of the known word": _mean([each for _, each in pairs]),
            "worst": sorted(new, key=new.__getitem__)[:40],
        },
        "things": {
            "precision@8": _mean(of),
            **{f"at least {x}": sum(p >= x for p in of) for x in (0.5, 0.8)},
        },
        "time of day": of_night(asked),
    }


def _least(precisions: Mapping[str, float], least: float) -> float:
    return _mean([each >= least for each in precisions.values()])


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
    encoder, scenes = read_checkpoint(flags.checkpoint, settings.device), test_scenes()
    cache = flags.cache or settings.data_dir / "cache"
    clips = ClipFile.of("test", scenes, encoder.num_frames, encoder.framing, cache)
    asked = Asked(encoder, scenes, clips.embeddings(encoder, keeps_frames=True))
    json.dump(measure(asked, scenes), sys.stdout, indent=1)


if __name__ == "__main__":
    main()
