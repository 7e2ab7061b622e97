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

import ast
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from nt2vr.errors import ConfigError
from nt2vr.files import atomic_write, parse_json
from nt2vr.negation.generate.composer import ComposedQuery

ORIGINAL, NEGATED, COMPOSED = "original.txt", "negated.txt", "composed.jsonl"
_RELEASED = {  # endings of nT2VR's names for each of ours, the first that is there is read
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
_TEXTS, _IDS = (
    ("cap_id", "caption", "wanted", "unwanted"),
    ("video_ids", "hard_ids", "violating_ids"),
)
_MAX_CHARS = (
    1 << 20
)  # of a line that is an object; a composed query with all 10,000 videos of MSR-VTT has 120,000


class Caption(NamedTuple):
    """One caption of a video."""

    cap_id: str  # unique within a file; starts with the video's id: "video7010#enc#3"
    text: str  # may be empty in published files
    wanted: str | None = None  # of a negated caption; None if unknown
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
        return cls(
            captions,
            tuple(each for name, texts in captions.items() for each in _numbered(name, texts)),
        )


@dataclass(frozen=True)
class QuerySets:
    """nT2VR's three query sets over one collection of videos; negated captions have the ids of those they deny."""

    original: tuple[Caption, ...]
    negated: tuple[Caption, ...]
    composed: tuple[ComposedQuery, ...]

    @classmethod
    def read(cls, folder: Path) -> "QuerySets":
        """Read original.txt, negated.txt and composed.jsonl, or nT2VR's files; a folder may have only some of them.

        Raises:
            ConfigError: if one of them cannot be read, none is there, or a folder has files of
                several collections.
        """
        paths = {
            name.partition(".")[0]: path
            for name in _RELEASED
            if (path := _find(folder, name)).exists()
        }
        if not paths:
            names = f"{ORIGINAL}, {NEGATED} or {COMPOSED}"
            raise ConfigError(f"{folder} has no query sets ({names}). Choose another folder.")
        return cls(
            tuple(read_captions(paths["original"])) if "original" in paths else (),
            tuple(read_negated(paths["negated"])) if "negated" in paths else (),
            tuple(read_composed(paths["composed"]).values()) if "composed" in paths else (),
        )

    def write(self, folder: Path) -> None:
        """Write the three files; the folder is created if needed."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, captions in ((ORIGINAL, self.original), (NEGATED, self.negated)):
            write_lines(
                folder / name, (f"{each.cap_id} {' '.join(each.text.split())}" for each in captions)
            )
        numbered = (
            asdict(query) | {"cap_id": f"s{number}"} for number, query in enumerate(self.composed)
        )
        known = (
            {name: value for name, value in fields.items() if value is not None}
            for fields in numbered
        )
        write_lines(folder / COMPOSED, (json.dumps(fields, ensure_ascii=False) for fields in known))


def _find(folder: Path, name: str) -> Path:
    for ending in () if (folder / name).is_file() else _RELEASED[name]:
        if found := sorted(folder.glob(f"*.{ending}")):
            if len(found) > 1:
                names = ", ".join(path.name for path in found[:3])
                raise ConfigError(
                    f"{folder} has query sets of several collections ({names}). Keep one per folder."
                )
            return found[0]
    return folder / name


def read_captioned_videos(path: Path) -> CaptionedVideos:
    """Read a captions file in any of the formats, without empty captions; a ConfigError names a bad line."""
    captions: dict[str, tuple[str, ...]] = {}
    queries: list[Caption] = []
    for number, line, fields in _rows(path):
        if fields and not {"cap_id", "truth"} & fields.keys():
            video_id, texts, own_queries = _video(path, number, fields)
            captions[video_id] = (*captions.get(video_id, ()), *texts)
            queries += own_queries
        elif (caption := _caption(path, number, line, fields)).text:
            captions[caption.video_id] = (*captions.get(caption.video_id, ()), caption.text)
            queries.append(caption)
    if not captions:
        raise ConfigError(
            f"{path} holds no captions. Use one caption per line: VIDEO#enc#0 a man sings."
        )
    return CaptionedVideos(captions, tuple(queries))


def read_any_captions(path: Path) -> Mapping[str, Sequence[str]]:
    """Read the captions of each video from any of the formats, or from plain text, each line as a video's."""
    lines = list(_lines(path))
    first = lines[0][1] if lines else "{"
    if first.startswith("{") or "#" in first.split()[0][1:]:
        return read_captioned_videos(path).captions
    return {f"{path.stem} {number}": (line,) for number, line in lines}


def read_captions(path: Path) -> list[Caption]:
    """Read captions, one `VIDEO#enc#N caption` per line, or nT2VR's JSON lines; a ConfigError names a bad line."""
    return [_caption(path, *row) for row in _rows(path)]


def read_negated(path: Path) -> list[Caption]:
    """Read negated captions like captions; of nT2VR's training captions, `.caption.negation.txt`, the negations.

    These have the caption's id and a number: "video0#enc#3#1".
    """
    negated: list[Caption] = []
    for number, line, fields in _rows(path):
        if "truth" not in fields:
            negated.append(_caption(path, number, line, fields))
            continue
        texts = [
            each.get("falsesent") for each in fields.get("false", ()) if isinstance(each, dict)
        ]
        said = [text.strip() for text in texts if isinstance(text, str) and text.strip()]
        negated += (Caption(f"{fields.get('id')}#{n}", text) for n, text in enumerate(said))
    return negated


def read_composed(path: Path) -> dict[str, ComposedQuery]:
    """Read composed queries by id; fields missing from nT2VR's own files are left empty."""
    queries: dict[str, ComposedQuery] = {}
    for number, fields in objects_of(path):
        if missing := {"cap_id", "caption", "video_ids"} - fields.keys():
            reason = f"has no {min(missing)!r}"
        elif not all(isinstance(fields.get(name, []), list | tuple) for name in _IDS):
            reason = "has ids that are no list"  # a string would be an id per letter
        else:
            cap_id, caption, wanted, unwanted = (str(fields.get(name, "")) for name in _TEXTS)
            shown, hard, violating = (tuple(map(str, fields.get(name, ()))) for name in _IDS)
            queries[cap_id] = ComposedQuery(
                caption, wanted, unwanted, shown, hard, violating, cap_id=cap_id
            )
            continue
        raise ConfigError(
            f"Line {number} of {path} {reason}. A composed query needs cap_id, caption and video_ids."
        )
    return queries


def objects_of(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects of a file of JSON lines, with the numbers of the lines."""
    for number, line in _lines(path):
        yield number, _object(path, number, line)


def write_lines(path: Path, lines: Iterable[str]) -> None:
    with atomic_write(path) as partial, partial.open("w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    try:
        text = path.read_text(encoding="utf-8-sig")  # some editors write a byte order mark
    except FileNotFoundError:
        raise ConfigError(f"{path} is not there. Name a file of captions or queries.") from None
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be opened ({error.strerror}). Name a file of captions or queries."
        ) from None
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"{path} cannot be read as text ({error}). Choose a UTF-8 file."
        ) from None
    yield from (
        (number, line.strip()) for number, line in enumerate(text.split("\n"), 1) if line.strip()
    )


def _rows(path: Path) -> Iterator[tuple[int, str, dict[str, Any]]]:
    for number, line in _lines(path):
        yield number, line, _object(path, number, line) if line.startswith("{") else {}


def _object(path: Path, number: int, line: str) -> dict[str, Any]:
    fields = object_of(line)
    if fields is None:
        raise ConfigError(
            f"Line {number} of {path} is not a JSON object: {line[:60]!r}. Write one object per line."
        )
    return fields


def object_of(line: str) -> dict[str, Any] | None:
    """Parse a line as a JSON object or, as in nT2VR's composed queries, a Python dict of literals; None if neither."""
    if len(line) > _MAX_CHARS:
        return None
    for parse in (parse_json, ast.literal_eval):
        try:
            fields = parse(line)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            continue
        return fields if isinstance(fields, dict) else None
    return None


def _caption(path: Path, number: int, line: str, fields: Mapping[str, Any]) -> Caption:
    cap_id, text = [*line.split(maxsplit=1), ""][:2]
    if line.startswith("{"):
        cap_id, text = (
            fields.get("cap_id", fields.get("id")),
            fields.get("caption", fields.get("truth")),
        )
    if not (isinstance(cap_id, str) and isinstance(text, str) and all(cap_id.partition("#")[:2])):
        raise ConfigError(
            f"Line {number} of {path} is {line[:60]!r}. Write an id and then the caption: VIDEO#enc#0 a man sings."
        )
    wanted, unwanted = fields.get("poscap"), fields.get("negcap")
    if not isinstance(unwanted, str) or not unwanted.strip():
        return Caption(cap_id, text.strip())
    pieces = [wanted] if isinstance(wanted, str) else wanted if isinstance(wanted, list) else []
    said = " , ".join(filter(None, (str(piece).strip() for piece in pieces)))
    return Caption(cap_id, text.strip(), said, unwanted.strip())


def _numbered(video_id: str, texts: Sequence[str]) -> list[Caption]:
    return [Caption(f"{video_id}#enc#{i}", text) for i, text in enumerate(texts)]


def _video(
    path: Path, number: int, fields: Mapping[str, Any]
) -> tuple[str, tuple[str, ...], list[Caption]]:
    video_id, texts = fields.get("video_id"), fields.get("captions")
    if not (
        isinstance(video_id, str)
        and isinstance(texts, list)
        and all(isinstance(text, str) for text in texts)
    ):
        raise ConfigError(
            f"Line {number} of {path} lacks a video_id or a list of captions. Add them."
        )
    query = fields.get("query")
    place = texts.index(query) if query in texts else len(texts)
    queries = (
        _numbered(video_id, texts)
        if query is None
        else [Caption(f"{video_id}#enc#{place}", str(query))]
    )
    return video_id, tuple(texts), queries
