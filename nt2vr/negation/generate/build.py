"""Query sets built from captions: original, negated and composed (paper, section 3.1).

The same file and seed give the same queries on every machine.
"""

import json
import logging
import random
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from typing import Any

from nt2vr.errors import QueryError
from nt2vr.files import parse_json, write_json
from nt2vr.negation.generate.absences import AbsenceQuery, Absences
from nt2vr.negation.generate.actions import actions
from nt2vr.negation.generate.composer import ComposedQuery, Composer
from nt2vr.negation.generate.content import VideoContent, things
from nt2vr.negation.generate.negator import negations
from nt2vr.negation.generate.query_sets import (
    Caption,
    CaptionedVideos,
    QuerySets,
    read_captioned_videos,
)
from nt2vr.negation.parse.inflect import verb_of
from nt2vr.negation.parse.phrases import Phrases
from nt2vr.negation.parse.query import Query, understand
from nt2vr.negation.parse.tagger import load_tagger
from nt2vr.negation.parse.tokens import VERB_TAGS
from nt2vr.progress import Progress, silent, tracked

logger = logging.getLogger(__name__)

WHY_NONE = {  # by kind of query: what it needs, where captions give none
    "negated": (
        "No caption can be negated: that takes a sentence with a verb or “with”, such as “a man sings”. Write "
        "captions as sentences."
    ),
    "composed": (
        "No composed query (“A and not B”) can be made: it needs a video whose captions tell two deeds of one "
        "subject, such as “a man sings” and “a man plays the guitar”, and another that shows only the first. Give "
        "more captions per video."
    ),
    "without": (
        "No query of the kind “A without N” can be made: it needs a thing that the captions of two videos name, and a "
        "video of the same deed without it. Give more captions per video."
    ),
    "not": (
        "No query of the kind “not B” can be made: it needs a thing or deed of three videos, and another video "
        "without it. Give more captions per video."
    ),
}
GENERATOR = 6  # cache version: raise it when the same captions give other queries
ReadContents = Callable[[], Mapping[str, VideoContent]]


def build(
    captions_file: Path, folder: Path, seed: int, progress: Progress = silent
) -> dict[str, float]:
    """Write the query sets of a captions file to `folder`; return their sizes and the seconds taken."""
    started = time.perf_counter()
    videos = read_captioned_videos(captions_file)
    sets = build_query_sets(videos, seed, progress)
    sets.write(folder)
    return {
        "videos": len(videos.captions),
        "captions": sum(map(len, videos.captions.values())),
        "original": len(sets.original),
        "negated": len(sets.negated),
        "composed": len(sets.composed),
        "seconds": round(time.perf_counter() - started, 1),
    }


def build_query_sets(
    videos: CaptionedVideos,
    seed: int,
    progress: Progress = silent,
    contents: ReadContents | None = None,
) -> QuerySets:
    """Build the three query sets, about one minute per 20,000 captions; `contents` returns `read_contents(videos)`."""
    captions = tracked(videos.queries, len(videos.queries), "negating captions", progress)
    negated = tuple(negate(captions, seed))
    composed = Composer(contents() if contents else read_contents(videos, progress)).compose(seed)
    return QuerySets(
        videos.queries, negated, tuple(tracked(composed, 0, "composing queries", progress))
    )


def cached_query_sets(
    videos: CaptionedVideos,
    seed: int,
    folder: Path,
    progress: Progress = silent,
    contents: ReadContents | None = None,
) -> QuerySets:
    """Return `build_query_sets(...)`, from `folder` if the same sets were built before."""
    source = [seed, list(videos.captions.items()), videos.queries]
    found = _cached(
        folder,
        "queries",
        source,
        lambda: asdict(build_query_sets(videos, seed, progress, contents)),
    )
    original, negated = (
        tuple(Caption(*caption) for caption in found[name]) for name in ("original", "negated")
    )
    return QuerySets(
        original,
        negated,
        tuple(ComposedQuery(**_with_tuples(query)) for query in found["composed"]),
    )


def missing_kinds(kinds: Iterable[str], made: Collection[str]) -> list[str]:
    """Return a sentence for each of these kinds of queries of which captions gave none, see WHY_NONE."""
    return [WHY_NONE[kind] for kind in kinds if kind not in made]


def cached_absences(
    videos: CaptionedVideos, seed: int, folder: Path, contents: ReadContents
) -> list[AbsenceQuery]:
    """Return the queries of `Absences`, from `folder` if the same ones were written before."""
    source = ["absences", seed, list(videos.captions.items())]
    found = _cached(
        folder, "absences", source, lambda: list(map(asdict, Absences(contents()).write(seed)))
    )
    return [AbsenceQuery(**_with_tuples(query)) for query in found]


def _cached(folder: Path, name: str, source: list[Any], built: Callable[[], Any]) -> Any:
    """Return JSON data built from `source`, from a file in `folder` if it was built before and can be read."""
    digest = blake2b(json.dumps([GENERATOR, *source]).encode(), digest_size=12).hexdigest()
    path = folder / f"{name}-{digest}.json"
    with suppress(OSError, ValueError):  # not there, or damaged
        return parse_json(path.read_text(encoding="utf-8"))
    data = built()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_json(path, data)
    except OSError as error:
        logger.warning(
            "Queries cannot be stored in %s (%s). They will be built again.", folder, error.strerror
        )
    return data


def _with_tuples(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()
    }


def negate(captions: Iterable[Caption], seed: int) -> Iterator[Caption]:
    """Yield one denial per caption that can be denied, under its id; independent of the file's other captions."""
    for caption in captions:
        if found := negations(caption.text):
            yield Caption(caption.cap_id, random.Random(f"{seed} {caption.cap_id}").choice(found))


def read_contents(videos: CaptionedVideos, progress: Progress = silent) -> dict[str, VideoContent]:
    """Parse the captions of all videos, about 1 ms each."""
    items = tracked(videos.captions.items(), len(videos.captions), "reading captions", progress)
    return {video_id: read_content(texts) for video_id, texts in items}


def read_content(captions: Iterable[str]) -> VideoContent:
    """Parse the captions of one video."""
    sentences = [Phrases(load_tagger().tag(caption)) for caption in captions]
    tokens = [token for sentence in sentences for token in sentence.tokens]
    verbs = {verb_of(token.text.lower()) for token in tokens if token.tag in VERB_TAGS}
    lemmas = frozenset(token.lemma for token in tokens)
    done, named = (
        chain.from_iterable(map(actions, sentences)),
        chain.from_iterable(map(things, sentences)),
    )
    return VideoContent(tuple(done), lemmas | verbs, tuple(named))


def split(sentences: Iterable[str]) -> Iterator[dict[str, object]]:
    """Yield each sentence with its wanted and unwanted parts, or, if it is too long for a query, with the error."""
    tagger = load_tagger()
    for sentence in sentences:
        text, error = sentence.rstrip("\n"), {}
        try:
            query = understand(text, tagger)
        except QueryError as refused:
            query, error = Query(text), {"error": str(refused)}
        yield {"text": text, "wanted": query.wanted, "unwanted": query.unwanted, **error}
