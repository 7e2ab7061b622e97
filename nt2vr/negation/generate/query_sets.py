"""File formats of captions and query sets, as released with nT2VR. Knows nothing of their language.

Captions and negated queries: one `VIDEO#enc#N caption` per line; negated queries may be numbered,
`VIDEO#enc#N#K`. Flickr's `ID#N<TAB>caption` is read as well, and so are JSON lines with one video
each: {"video_id", "captions": [...], "query": the one to search with (default: all)}, and nT2VR's
own JSON lines. Composed queries: JSON lines with {"cap_id", "caption", "video_ids": [...]},
extended here by "wanted", "unwanted", "hard_ids" (videos that show both parts) and "violating_ids"
(those that show the unwanted part).

nT2VR's own names: `COLLECTION.caption.txt` or, for MSR-VTT1k, `COLLECTION.captionsubset.txt` has
the original queries, `COLLECTION.negated.txt` and `COLLECTION.composed.txt` have the others. With
`_neginfo` at the end of the name, lines are objects with the parts of the sentence, for boolean
search. `COLLECTION.caption.negation.txt` has training captions with all their negations. COLLECTION
is msrvtt10ktest, msrvtt1kAtest or vatex_test1k5, for example.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from nt2vr.errors import ConfigError
from nt2vr.negation.generate.composer import ComposedQuery
from nt2vr.negation.generate.json_lines import (
    Fields,
    PlacedLine,
    is_list_of_texts,
    lines_of_file,
    objects_of,
    rows_of,
    write_lines,
)

ORIGINAL = "original.txt"
NEGATED = "negated.txt"
COMPOSED = "composed.jsonl"
# Endings of nT2VR's names for each of ours; the first that is there is read.
_RELEASED = {
    ORIGINAL: (
        "captionsubset_neginfo.txt",
        "captionsubset.txt",
        "caption_neginfo.txt",
        "caption.txt",
    ),
    NEGATED: (
        "negated_neginfo.txt",
        "negated_withneginfo.txt",
        "negated.txt",
        "caption.negation.txt",
    ),
    COMPOSED: ("composed.txt",),
}
_REQUIRED = frozenset({"cap_id", "caption", "video_ids"})
# The start of an id, such as "video0#enc#0"; and a line that begins with one.
_CAP_ID = re.compile(r"[^#]+#")
_CAPTION_LINE = re.compile(r"\S+#")


class Caption(NamedTuple):
    """One caption of a video.

    Attributes:
        cap_id: unique within a file; starts with the video's id: "video7010#enc#3".
        text: may be empty in published files.
        wanted: of a negated caption; None if unknown.
        unwanted: of a negated caption.
    """

    cap_id: str
    text: str
    wanted: str | None = None
    unwanted: str = ""

    @property
    def video_id(self) -> str:
        return self.cap_id.partition("#")[0]


@dataclass(frozen=True)
class CaptionedVideos:
    """All captions by video id, and those that serve as queries."""

    captions: Mapping[str, tuple[str, ...]]
    queries: tuple[Caption, ...]

    @classmethod
    def all_as_queries(cls, captions: Mapping[str, tuple[str, ...]]) -> "CaptionedVideos":
        """Search with every caption."""
        queries = []
        for video_id, texts in captions.items():
            queries += _numbered(video_id, texts)
        return cls(captions, tuple(queries))


@dataclass(frozen=True)
class QuerySets:
    """nT2VR's three query sets over one collection of videos.

    Negated captions have the ids of those they deny.
    """

    original: tuple[Caption, ...]
    negated: tuple[Caption, ...]
    composed: tuple[ComposedQuery, ...]

    @classmethod
    def read(cls, folder: Path) -> "QuerySets":
        """Read original.txt, negated.txt and composed.jsonl, or nT2VR's files.

        A folder may have only some of them.

        Raises:
            ConfigError: if one of them cannot be read, none is there, or a folder has files of
                several collections.
        """
        original = _find(folder, ORIGINAL)
        negated = _find(folder, NEGATED)
        composed = _find(folder, COMPOSED)
        if not (original or negated or composed):
            names = f"{ORIGINAL}, {NEGATED} or {COMPOSED}"
            raise ConfigError(f"{folder} has no query sets ({names}). Choose another folder.")
        return cls(
            original=tuple(read_captions(original)) if original else (),
            negated=tuple(read_negated(negated)) if negated else (),
            composed=tuple(read_composed(composed).values()) if composed else (),
        )

    def write(self, folder: Path) -> None:
        """Write the three files; the folder is created if needed."""
        folder.mkdir(parents=True, exist_ok=True)
        write_lines(folder / ORIGINAL, map(_caption_line, self.original))
        write_lines(folder / NEGATED, map(_caption_line, self.negated))
        lines = []
        for number, query in enumerate(self.composed):
            fields = asdict(query) | {"cap_id": f"s{number}"}
            lines.append(json.dumps(fields, ensure_ascii=False))
        write_lines(folder / COMPOSED, lines)


def _caption_line(caption: Caption) -> str:
    return f"{caption.cap_id} {' '.join(caption.text.split())}"


def _find(folder: Path, name: str) -> Path | None:
    """Return the file of a query set under our name or one of nT2VR's; None if there is none."""
    path = folder / name
    if path.is_file():
        return path
    for ending in _RELEASED[name]:
        released = sorted(folder.glob(f"*.{ending}"))
        if len(released) > 1:
            names = ", ".join(path.name for path in released[:3])
            raise ConfigError(
                f"{folder} has query sets of several collections ({names}). Keep one per folder."
            )
        if released:
            return released[0]
    return path if path.exists() else None


def read_captioned_videos(path: Path) -> CaptionedVideos:
    """Read a captions file in any of the formats, without empty captions.

    A ConfigError names a bad line.
    """
    captions: dict[str, tuple[str, ...]] = {}
    queries = []
    for row in rows_of(path):
        if row.fields and row.fields.keys().isdisjoint({"cap_id", "truth"}):
            video_id, texts, video_queries = _video(row)
        else:
            caption = _caption(row)
            if not caption.text:
                continue
            video_id = caption.video_id
            texts = [caption.text]
            video_queries = [caption]
        captions[video_id] = (*captions.get(video_id, ()), *texts)
        queries += video_queries
    if not captions:
        raise ConfigError(
            f"{path} holds no captions. Use one caption per line: VIDEO#enc#0 a man sings."
        )
    return CaptionedVideos(captions, tuple(queries))


def read_any_captions(path: Path) -> Mapping[str, Sequence[str]]:
    """Read the captions of each video from any of the formats.

    In plain text, each line is a video's.
    """
    lines = dict(lines_of_file(path))
    # A file without a line is refused with the reason.
    first_line = next(iter(lines.values()), "{")
    if first_line.startswith("{") or _CAPTION_LINE.match(first_line):
        return read_captioned_videos(path).captions
    return {f"{path.stem} {number}": (line,) for number, line in lines.items()}


def read_captions(path: Path) -> list[Caption]:
    """Read captions, one `VIDEO#enc#N caption` per line, or nT2VR's JSON lines.

    A ConfigError names a bad line.
    """
    return [_caption(row) for row in rows_of(path)]


def read_negated(path: Path) -> list[Caption]:
    """Read negated captions like captions; of nT2VR's training captions, the negations.

    These are in `.caption.negation.txt`, and have the caption's id and a number:
    "video0#enc#3#1".
    """
    negated: list[Caption] = []
    for row in rows_of(path):
        if "truth" in row.fields:
            negated += _negations_of(row.fields)
        else:
            negated.append(_caption(row))
    return negated


def _negations_of(fields: Fields) -> Iterator[Caption]:
    """Yield the negations of a training caption, numbered without empty ones."""
    texts = []
    for negation in fields.get("false", ()):
        text = negation.get("falsesent") if isinstance(negation, dict) else None
        if isinstance(text, str) and text.strip():
            texts.append(text.strip())
    for number, text in enumerate(texts):
        yield Caption(f"{fields.get('id')}#{number}", text)


def read_composed(path: Path) -> dict[str, ComposedQuery]:
    """Read composed queries by id; fields missing from nT2VR's own files are left empty."""
    queries = {}
    for number, fields in objects_of(path):
        fault = _fault_of_composed(fields)
        if fault:
            raise ConfigError(
                f"Line {number} of {path} {fault}. "
                "A composed query needs cap_id, caption and video_ids."
            )
        cap_id = str(fields["cap_id"])
        queries[cap_id] = ComposedQuery(
            caption=str(fields["caption"]),
            wanted=str(fields.get("wanted", "")),
            unwanted=str(fields.get("unwanted", "")),
            video_ids=_texts(fields["video_ids"]),
            hard_ids=_texts(fields.get("hard_ids", ())),
            violating_ids=_texts(fields.get("violating_ids", ())),
            cap_id=cap_id,
        )
    return queries


def _fault_of_composed(fields: Fields) -> str:
    """Return what is wrong with a composed query; "" if nothing is."""
    missing = _REQUIRED - fields.keys()
    if missing:
        return f"has no {min(missing)!r}"
    for name in ("video_ids", "hard_ids", "violating_ids"):
        # A string would be an id per letter.
        if not isinstance(fields.get(name, []), list | tuple):
            return "has ids that are not a list"
    return ""


def _texts(values: Iterable[Any]) -> tuple[str, ...]:
    return tuple(map(str, values))


def _caption(row: PlacedLine) -> Caption:
    """Read a caption; a ConfigError names a bad line."""
    fields = row.fields
    cap_id: Any
    text: Any
    if row.line.startswith("{"):
        cap_id = fields.get("cap_id", fields.get("id"))
        text = fields.get("caption", fields.get("truth"))
    else:
        cap_id = row.line.split(maxsplit=1)[0]
        # The caption may be empty.
        text = row.line.removeprefix(cap_id)
    is_cap_id = isinstance(cap_id, str) and _CAP_ID.match(cap_id)
    if not is_cap_id or not isinstance(text, str):
        raise ConfigError(
            f"{row.place} is {row.line[:60]!r}. "
            "Write an id and then the caption: VIDEO#enc#0 a man sings."
        )

    unwanted = fields.get("negcap")
    if not isinstance(unwanted, str) or not unwanted.strip():
        return Caption(cap_id, text.strip())
    return Caption(
        cap_id=cap_id,
        text=text.strip(),
        wanted=_joined_pieces(fields.get("poscap")),
        unwanted=unwanted.strip(),
    )


def _joined_pieces(wanted: object) -> str:
    """Join the pieces of a wanted part, which may be a text or a list."""
    pieces: Sequence[object] = ()
    if isinstance(wanted, str):
        pieces = [wanted]
    elif isinstance(wanted, list):
        pieces = wanted
    texts = [str(piece).strip() for piece in pieces]
    return " , ".join(filter(None, texts))


def _numbered(video_id: str, texts: Sequence[str]) -> list[Caption]:
    return [Caption(f"{video_id}#enc#{i}", text) for i, text in enumerate(texts)]


def _video(row: PlacedLine) -> tuple[str, list[str], list[Caption]]:
    """Read the id, the captions and the queries of a video; a ConfigError names a bad line."""
    video_id = row.fields.get("video_id")
    texts: Any = row.fields.get("captions")
    if not isinstance(video_id, str) or not is_list_of_texts(texts):
        raise ConfigError(f"{row.place} lacks a video_id or a list of captions. Add them.")

    query = row.fields.get("query")
    if query is None:
        queries = _numbered(video_id, texts)
    else:
        position = texts.index(query) if query in texts else len(texts)
        queries = [Caption(f"{video_id}#enc#{position}", str(query))]
    return video_id, texts, queries
