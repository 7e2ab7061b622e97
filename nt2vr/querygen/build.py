"""Query-set building: the original, negated and composed queries that a file of captions gives (paper, section 3.1).

The same file and seed give the same queries on every machine.
"""

import random
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from tqdm import tqdm

from nt2vr.language.inflect import verb_of
from nt2vr.language.phrases import Phrases
from nt2vr.language.query import understand
from nt2vr.language.tagger import VERB_TAGS, load_tagger
from nt2vr.querygen.actions import actions
from nt2vr.querygen.composer import Composer, Described
from nt2vr.querygen.negator import caption_tagger, negations
from nt2vr.querygen.query_sets import Caption, read_captioned_videos, write_captions, write_composed

GENERATOR = 1  # raise it when other queries are made of the same captions: sets on disk are then not found any more


def build(captions_file: Path, folder: Path, seed: int) -> dict[str, float]:
    """Write the three query sets of a captions file into `folder`; return their sizes, and the seconds it took.

    Raises:
        ConfigError: if the file cannot be read.
    """
    started = time.perf_counter()
    videos = read_captioned_videos(captions_file)
    folder.mkdir(parents=True, exist_ok=True)
    original = write_captions(folder / "original.txt", videos.queries)
    negated = write_captions(folder / "negated.txt", negate(tqdm(videos.queries, "negating", unit=" captions"), seed))
    described = {
        video_id: describe(texts)
        for video_id, texts in tqdm(videos.captions.items(), "reading captions", unit=" videos")
    }
    composed = tqdm(Composer(described).compose(seed), "composing", unit=" queries")
    return {
        "videos": len(videos.captions),
        "captions": sum(map(len, videos.captions.values())),
        "original": original,
        "negated": negated,
        "composed": write_composed(folder / "composed.jsonl", composed),
        "seconds": round(time.perf_counter() - started, 1),
    }


def negate(captions: Iterable[Caption], seed: int) -> Iterator[Caption]:
    """Yield one denial of every caption that can be denied, under its id; drawn alike whatever else is in the file."""
    for caption in captions:
        found = negations(caption.text)
        if found:
            yield Caption(caption.cap_id, random.Random(f"{seed} {caption.cap_id}").choice(found))


def describe(captions: Iterable[str]) -> Described:
    """Read what the captions of one video say."""
    sentences = [Phrases(caption_tagger().tag(caption)) for caption in captions]
    tokens = [token for sentence in sentences for token in sentence.tokens]
    verbs = {verb_of(token.text.lower()) for token in tokens if token.tag in VERB_TAGS}
    return Described(
        tuple(action for sentence in sentences for action in actions(sentence)),
        frozenset(token.lemma for token in tokens) | verbs,
    )


def split(sentences: Iterable[str]) -> Iterator[dict[str, object]]:
    """Yield each sentence with its wanted and unwanted parts.

    Raises:
        QueryError: if a sentence is too long to be a query.
    """
    tagger = load_tagger()
    for sentence in sentences:
        query = understand(sentence.rstrip("\n"), tagger)
        yield {"text": query.text, "wanted": query.wanted, "unwanted": query.unwanted}
