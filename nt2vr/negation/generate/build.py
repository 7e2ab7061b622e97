"""Query sets built from captions: original, negated and composed (paper, section 3.1).

The same file and seed give the same queries on every machine.
"""

import json
import logging
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, TypeVar

from pydantic import TypeAdapter

from nt2vr.errors import QueryError
from nt2vr.files import hash_text, stored_json, write_json
from nt2vr.negation.generate.absences import AbsenceQuery, Absences
from nt2vr.negation.generate.actions import actions
from nt2vr.negation.generate.composer import compose_queries
from nt2vr.negation.generate.content import Contents, VideoContent
from nt2vr.negation.generate.negator import negations
from nt2vr.negation.generate.query_sets import (
    Caption,
    CaptionedVideos,
    QuerySets,
    read_captioned_videos,
)
from nt2vr.negation.generate.things import NamedThing, things
from nt2vr.negation.parse.inflect import verb_of
from nt2vr.negation.parse.phrases import phrases_of
from nt2vr.negation.parse.query import understand
from nt2vr.negation.parse.tokens import VERB_TAGS
from nt2vr.progress import Progress, silent, tracked

logger = logging.getLogger(__name__)

# What a person reads if captions give no query of a kind: what that kind needs.
WHY_NONE = {
    "negated": (
        "No caption can be negated: that takes a sentence with a verb or “with”, such as “a man sings”. Write "
        "captions as sentences."
    ),
    "composed": (
        "No composed query (“A and not B”) can be made: it needs a video whose captions name two actions of one "
        "subject, such as “a man sings” and “a man plays the guitar”, and another that shows only the first. Give "
        "more captions per video."
    ),
    "without": (
        "No query of the kind “A without N” can be made: it needs a thing that the captions of two videos name, and a "
        "video of the same action without it. Give more captions per video."
    ),
    "not": (
        "No query of the kind “not B” can be made: it needs a thing or action of three videos, and another video "
        "without it. Give more captions per video."
    ),
}
# Cache version: raise it when the same captions give other queries.
GENERATOR = 7
ReadContents = Callable[[], Contents]
Queries = TypeVar("Queries")


def build(
    captions_file: Path, folder: Path, seed: int, progress: Progress = silent
) -> dict[str, float]:
    """Write the query sets of a captions file to `folder`; return their sizes and the seconds."""
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
    """Build the three query sets, about one minute per 20,000 captions.

    A function `contents` that returns `read_contents(videos)` saves reading them twice.
    """
    captions = tracked(
        videos.queries, total=len(videos.queries), doing="negating captions", progress=progress
    )
    negated = tuple(negate(captions, seed))
    video_contents = contents() if contents else read_contents(videos, progress)
    queries = compose_queries(video_contents, seed)
    composed = tuple(tracked(queries, total=0, doing="composing queries", progress=progress))
    return QuerySets(videos.queries, negated, composed)


def cached_query_sets(
    videos: CaptionedVideos,
    seed: int,
    folder: Path,
    progress: Progress = silent,
    contents: ReadContents | None = None,
) -> QuerySets:
    """Return `build_query_sets(...)`, from `folder` if the same sets were built before."""
    return _cached(
        folder / "queries",
        source=[seed, list(videos.captions.items()), videos.queries],
        form=TypeAdapter(QuerySets),
        build_queries=partial(build_query_sets, videos, seed, progress, contents),
    )


def missing_kinds(kinds: Iterable[str], drawn: Collection[str]) -> list[str]:
    """Return a sentence for each kind of queries of which captions gave none, see WHY_NONE."""
    return [WHY_NONE[kind] for kind in kinds if kind not in drawn]


def cached_absences(
    videos: CaptionedVideos, seed: int, folder: Path, contents: ReadContents
) -> list[AbsenceQuery]:
    """Return the queries of `Absences`, from `folder` if the same ones were written before."""
    return _cached(
        folder / "absences",
        source=["absences", seed, list(videos.captions.items())],
        form=TypeAdapter(list[AbsenceQuery]),
        build_queries=lambda: list(Absences(contents()).write(seed)),
    )


def _cached(
    file: Path, source: list[Any], form: TypeAdapter[Queries], build_queries: Callable[[], Queries]
) -> Queries:
    """Return what is built from `source`, read from a file with its digest in the name if there is one."""
    digest = hash_text(json.dumps([GENERATOR, *source]))
    path = file.with_name(f"{file.name}-{digest}.json")
    # The file may be missing or damaged.
    with suppress(OSError, ValueError):
        return form.validate_python(stored_json(path))

    queries = build_queries()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_json(path, form.dump_python(queries))
    except OSError as error:
        logger.warning(
            "Queries cannot be stored in %s (%s). They will be built again.",
            path.parent,
            error.strerror,
        )
    return queries


def negate(captions: Iterable[Caption], seed: int) -> Iterator[Caption]:
    """Yield one denial per caption that can be denied, under its id.

    It is independent of the file's other captions.
    """
    for caption in captions:
        texts = negations(caption.text)
        if texts:
            rng = Random(f"{seed} {caption.cap_id}")
            yield Caption(caption.cap_id, rng.choice(texts))


def read_contents(videos: CaptionedVideos, progress: Progress = silent) -> dict[str, VideoContent]:
    """Parse the captions of all videos, about 1 ms each."""
    captions = tracked(
        videos.captions.items(),
        total=len(videos.captions),
        doing="reading captions",
        progress=progress,
    )
    return {video_id: read_content(texts) for video_id, texts in captions}


def read_content(captions: Iterable[str]) -> VideoContent:
    """Parse the captions of one video."""
    all_actions = []
    all_things: list[NamedThing] = []
    lemmas = set()
    for caption in captions:
        phrases = phrases_of(caption)
        all_actions += actions(phrases)
        all_things += things(phrases)
        for token in phrases.tokens:
            lemmas.add(token.lemma)
            # A verb may have been tagged with the lemma of a noun.
            if token.tag in VERB_TAGS:
                lemmas.add(verb_of(token.text.lower()))
    return VideoContent(tuple(all_actions), frozenset(lemmas), tuple(all_things))


def split(sentences: Iterable[str]) -> Iterator[dict[str, object]]:
    """Yield each sentence with its wanted and unwanted parts.

    If it is too long for a query, yield it with the error.
    """
    for sentence in sentences:
        text = sentence.rstrip("\n")
        try:
            query = understand(text)
        except QueryError as error:
            yield {"text": text, "wanted": (), "unwanted": (), "error": str(error)}
        else:
            yield {"text": text, "wanted": query.wanted, "unwanted": query.unwanted}
