"""Mined pairs for triplets: captions one word apart, and their videos.

Source: Ventura et al., "CoVR: Learning Composed Video Retrieval from Web Video Captions", AAAI 2024, section 3.1.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice, product

import numpy as np
from numpy.typing import NDArray

from nt2vr.negation.parse.inflect import is_known
from nt2vr.negation.parse.wordlists import listed

Words = tuple[str, ...]
Embed = Callable[[Sequence[str]], NDArray[np.float32]]
LEAST, MOST = 0.60, 0.96  # similarity of two captions, exclusive
MAX_VIDEO_PAIRS = 10  # per pair of captions
TEMPLATES = ("abstract of", "concept of", "flag of")  # over-represented captions
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
    """Check a pair that was filed together, to exclude hash collisions."""
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


def video_pairs(pairs: Iterable[NearCaptions], videos: Mapping[Words, Sequence[str]]) -> Iterator[VideoPair]:
    """Yield the videos of each pair of captions, in both directions; at most MAX_VIDEO_PAIRS per pair."""
    for pair in pairs:
        found = ((a, b) for a, b in product(videos[pair.one], videos[pair.other]) if a != b)
        for one, other in islice(found, MAX_VIDEO_PAIRS):
            yield VideoPair(one, other, pair)
            yield VideoPair(other, one, pair.swapped)


def mine(captions: Sequence[tuple[str, str]], embed: Embed) -> list[VideoPair]:
    """Mine pairs of videos from (video id, caption) pairs."""
    videos: defaultdict[Words, list[str]] = defaultdict(list)
    for video_id, caption in captions:
        if video_id not in videos[words := words_of(caption)]:
            videos[words].append(video_id)
    plain = sorted(pair for pair in caption_pairs(videos) if is_plain(pair))
    return list(video_pairs(similar_pairs(plain, embed) if plain else [], videos))
