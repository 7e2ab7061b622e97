"""Triplets of composed video retrieval, mined from captions one word apart.

Source: Ventura et al., "CoVR: Learning Composed Video Retrieval from Web Video Captions", AAAI 2024, section 3.1.
"""

import json
import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice, product
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nt2vr.negation.generate.query_sets import write_lines
from nt2vr.negation.parse.inflect import is_known
from nt2vr.negation.parse.wordlists import listed
from nt2vr.progress import Progress, silent, tracked

Words = tuple[str, ...]
Embed = Callable[[Sequence[str]], NDArray[np.float32]]
LEAST, MOST = 0.60, 0.96  # similarity of two captions, exclusive
MAX_VIDEO_PAIRS = 10  # per pair of captions
TEMPLATES = ("abstract of", "concept of", "flag of")  # over-represented captions
TEXTS = (  # one is twice in the paper's list, too
    "Remove {old}",
    "Take out {old} and add {new}",
    "Change {old} for {new}",
    "Replace {old} with {new}",
    "Replace {old} with {new}",
    "Replace {old} by {new}",
    "Make the {old} into {new}",
    "Add {new}",
    "Change it to {new}",
)
_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")


@dataclass(frozen=True, order=True)
class NearCaptions:
    """Two captions that differ in one word, after the first `place` words."""

    one: Words
    other: Words
    place: int

    @property
    def swapped(self) -> "NearCaptions":
        """The same pair in the other direction."""
        return NearCaptions(self.other, self.one, self.place)

    @property
    def words(self) -> tuple[str, str]:
        """The word that differs in each; empty for the caption that lacks it."""
        return self._word(self.one), self._word(self.other)

    def _word(self, words: Words) -> str:
        return words[self.place] if len(words) == max(len(self.one), len(self.other)) else ""


def words_of(caption: str) -> Words:
    """Return the words of a caption in lower case, without punctuation."""
    return tuple(_WORD.findall(caption.lower()))


def caption_pairs(captions: Iterable[Words]) -> Iterator[NearCaptions]:
    """Yield all pairs of distinct captions that differ by one replaced, added or removed word.

    Captions are compared by what they have in common: each is filed under itself with one word left out, in every way,
    and under itself with a gap between words. Pairs that are filed together several times are yielded once.
    """
    filed: defaultdict[int, list[tuple[Words, int]]] = defaultdict(list)
    for words in dict.fromkeys(captions):
        for place in range(len(words)):
            filed[hash((place, words[:place], words[place + 1 :]))].append((words, place))
        for place in range(len(words) + 1):
            filed[hash((place, words[:place], words[place:]))].append((words, place))
    seen: set[tuple[Words, Words]] = set()
    for members in filed.values():
        for (a, place), (b, _) in combinations(members, 2) if len(members) > 1 else ():
            one, other = min(a, b), max(a, b)
            if one != other and (one, other) not in seen and _one_apart(one, other, place):
                seen.add((one, other))
                yield NearCaptions(one, other, _first_difference(one, other))


def _one_apart(one: Words, other: Words, place: int) -> bool:
    rests = one[place + (len(one) >= len(other)) :], other[place + (len(other) >= len(one)) :]
    return one[:place] == other[:place] and rests[0] == rests[1]


def _first_difference(one: Words, other: Words) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(one), len(other)))


def is_plain(pair: NearCaptions) -> bool:
    """Return whether a pair differs in a dictionary word without digits, and neither caption is a template.

    Pairs that differ in function words alone, "his mouth" and "its mouth", look the same in a video.
    """
    captions = (" ".join(words) for words in (pair.one, pair.other))
    templated = any(template in caption for caption in captions for template in TEMPLATES)
    named = any(word and word not in listed("function_words") for word in pair.words)
    return not templated and named and all(not word or is_known(word) for word in pair.words)


def similar_pairs(pairs: Sequence[NearCaptions], embed: Embed) -> list[NearCaptions]:
    """Keep the pairs whose captions are neither nearly the same nor about different things.

    `embed` is a model's text tower, L2-normalised.
    """
    texts = list(dict.fromkeys(" ".join(words) for pair in pairs for words in (pair.one, pair.other)))
    rows = {text: row for row, text in enumerate(texts)}
    embeddings = embed(texts)
    one, other = ([rows[" ".join(getattr(pair, side))] for pair in pairs] for side in ("one", "other"))
    similarities = np.einsum("nd,nd->n", embeddings[one], embeddings[other])
    return [pair for pair, value in zip(pairs, similarities, strict=True) if LEAST < value < MOST]


@dataclass(frozen=True)
class VideoPair:
    """A reference video, a target video, and their captions."""

    reference: str
    target: str
    captions: NearCaptions


def mine(videos: Mapping[str, Iterable[str]], embed: Embed, limit: int, seed: int = 0) -> list[VideoPair]:
    """Pair videos, in both directions, whose captions are one word apart; beyond the limit, a random choice."""
    having: defaultdict[Words, dict[str, None]] = defaultdict(dict)  # videos by caption, in order
    for video_id, captions in videos.items():
        for caption in captions:
            having[words_of(caption)][video_id] = None
    plain, pairs = sorted(filter(is_plain, caption_pairs(having))), list[VideoPair]()
    for pair in similar_pairs(plain, embed) if plain else ():
        found = ((a, b) for a, b in product(having[pair.one], having[pair.other]) if a != b)
        for one, other in islice(found, MAX_VIDEO_PAIRS):
            pairs += [VideoPair(one, other, pair), VideoPair(other, one, pair.swapped)]
    return random.Random(seed).sample(pairs, limit) if len(pairs) > limit else pairs


def write_by_template(pair: NearCaptions, rng: random.Random) -> str:
    """Write the words that differ into one of CoVR's templates, the rule-based row of its paper's Table 6.

    Their released code fills both words with the first ("replace A with A"); here the words are what the templates
    mean, and a word that only one caption has goes into a template that needs no other.
    """
    old, new = pair.words
    fits = [text for text in TEXTS if (old or "{old}" not in text) and (new or "{new}" not in text)]
    return rng.choice(fits).format(old=old, new=new)


class Triplet(NamedTuple):
    """A reference video, a text, and the target video that it asks for."""

    reference: str
    target: str
    text: str
    captions: tuple[str, str]


def write_triplets(pairs: Sequence[VideoPair], seed: int, path: Path, progress: Progress = silent) -> dict[str, float]:
    """Write the pairs with a text each as JSON lines, and return their statistics."""
    rng, found = random.Random(seed), list[Triplet]()
    for pair in tracked(pairs, len(pairs), "writing texts", progress):
        captions = (" ".join(pair.captions.one), " ".join(pair.captions.other))
        found.append(Triplet(pair.reference, pair.target, write_by_template(pair.captions, rng), captions))
    write_lines(path, (json.dumps(each._asdict(), ensure_ascii=False) for each in found))
    return statistics(found)


def statistics(found: Sequence[Triplet]) -> dict[str, float]:
    """Count triplets as Table 1 of CoVR's paper does, and those that share a target."""
    videos = {video for each in found for video in (each.reference, each.target)}
    targets = {each.target for each in found}
    return {
        "triplets": len(found),
        "videos": len(videos),
        "targets": len(targets),
        "triplets per target": round(len(found) / max(1, len(targets)), 1),
        "unique words": len({word for each in found for word in words_of(each.text)}),
        "mean characters": round(sum(len(each.text) for each in found) / max(1, len(found)), 1),
    }
