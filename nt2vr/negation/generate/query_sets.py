"""File formats of captions and query sets, as released with nT2VR. Knows nothing of their language.

Captions and negated queries: one `VIDEO#enc#N caption` per line; negated queries may be numbered, `VIDEO#enc#N#K`.
Flickr's `ID#N<TAB>caption` is read as well, and so are JSON lines with one video each: {"video_id", "captions": [...],
"query": the one to search with (default: all), "split"}, and nT2VR's own JSON lines.
Composed queries: JSON lines with {"cap_id", "caption", "video_ids": [...]}, extended here by "wanted", "unwanted",
"hard_ids" (videos that show both parts) and "violating_ids" (those that show the unwanted part).

nT2VR's own names: `COLLECTION.caption.txt` or, for MSR-VTT1k, `COLLECTION.captionsubset.txt` has the original queries,
`COLLECTION.negated.txt` and `COLLECTION.composed.txt` have the others. With `_neginfo` at the end of the name, lines
are objects with the parts of the sentence, for boolean search. `COLLECTION.caption.negation.txt` has training captions
with all their negations. COLLECTION is msrvtt10ktest, msrvtt1kAtest or vatex_test1k5, for example.
"""

import ast
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from nt2vr.errors import ConfigError
from nt2vr.files import atomic_write, parse_json
from nt2vr.negation.generate.composer import ComposedQuery

NAMES = {  # endings of nT2VR's names for each of ours, the first that is there is read
    "original.txt": ("captionsubset_neginfo.txt", "captionsubset.txt", "caption_neginfo.txt", "caption.txt"),
    "negated.txt": ("negated_neginfo.txt", "negated_withneginfo.txt", "negated.txt", "caption.negation.txt"),
    "composed.jsonl": ("composed.txt",),
}
CUES_OF_CODE = re.compile(r" not | n't ")
DENIED_FIRST = "negstionfirst"  # as their composer writes it: 1 if the denied clause comes first
CLAUSES_OF_CODE, DENIALS_OF_CODE = re.compile("and|while"), re.compile("not|don't|doesn't")  # within words, too
MAX_CHARS = 1 << 20  # of a line that is an object; a composed query with all 10,000 videos of MSR-VTT has 120,000


def find(folder: Path, name: str) -> Path:
    """Return the file of a query set: by our name if it is there or nothing is, otherwise by nT2VR's.

    Raises:
        ConfigError: if there are files of several collections.
    """
    for ending in () if (folder / name).is_file() else NAMES[name]:
        if found := sorted(folder.glob(f"*.{ending}")):
            if len(found) > 1:
                names = ", ".join(path.name for path in found[:3])
                raise ConfigError(f"{folder} has query sets of several collections ({names}). Keep one per folder.")
            return found[0]
    return folder / name


def object_of(line: str) -> dict[str, Any] | None:
    """Parse a line as a JSON object or, as in nT2VR's composed queries, a Python dict of literals; None if neither."""
    if len(line) > MAX_CHARS:
        return None
    for parse in (parse_json, ast.literal_eval):
        try:
            fields = parse(line)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            continue
        return fields if isinstance(fields, dict) else None
    return None


def parts_of(fields: Mapping[str, Any]) -> tuple[str | None, str]:
    """Return the wanted and the unwanted part that a `_neginfo` line names; None and "" if it names none."""
    wanted, unwanted = fields.get("poscap"), fields.get("negcap")
    if not isinstance(unwanted, str) or not unwanted.strip():
        return None, ""
    pieces = [wanted] if isinstance(wanted, str) else wanted if isinstance(wanted, list) else []
    return " , ".join(filter(None, (str(piece).strip() for piece in pieces))), unwanted.strip()


def split_as_code(text: str, denied_first: bool | None = None) -> tuple[str, tuple[str, ...]]:
    """Split a sentence for boolean search as the authors' code does: the wanted part, and the unwanted one if any.

    The clause stays with the cue ("a man sings and", "dance"); "doesn't" is no cue, as no space precedes its "n't".
    Where the file says which clause is denied, they are cut at the first "and" or "while", and what is beyond a second
    one is lost; a sentence without any, which their code cannot read, stays whole.

    Args:
        denied_first: whether the denied clause comes first; None if the file does not say.

    Source: `adhocTextDataset` in data_providerneg.py of ruc-aimc-lab/nT2VR.
    """
    if denied_first is not None and len(clauses := CLAUSES_OF_CODE.split(text)) > 1:
        denied, wanted = clauses[:2] if denied_first else clauses[1::-1]
        return wanted.strip(), (DENIALS_OF_CODE.sub("", denied).strip(),)
    if denied_first is not None:
        return text, ()
    wanted, *unwanted = CUES_OF_CODE.split(text)
    return wanted.strip(), tuple(part.strip() for part in unwanted[:1] if part.strip())


def negated_captions(fields: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the negations of a training caption, each with the caption's id and a number: "video0#enc#3#1"."""
    negations = fields.get("false", ())
    texts = (each.get("falsesent") for each in negations if isinstance(each, dict))
    for number, text in enumerate(text for text in texts if isinstance(text, str) and text.strip()):
        yield f"{fields.get('id')}#{number}", text.strip()


ORIGINAL, NEGATED, COMPOSED = "original.txt", "negated.txt", "composed.jsonl"


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
    """All captions by video id, and those that serve as queries; also the splits that lines of a file name."""

    captions: Mapping[str, tuple[str, ...]]
    queries: tuple[Caption, ...]
    splits: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def all_as_queries(cls, captions: Mapping[str, tuple[str, ...]]) -> "CaptionedVideos":
        """Search with every caption."""
        numbered = (
            Caption(f"{name}#enc#{i}", text) for name, texts in captions.items() for i, text in enumerate(texts)
        )
        return cls(captions, tuple(numbered))


@dataclass(frozen=True)
class QuerySets:
    """nT2VR's three query sets over one collection of videos; negated captions have the ids of those they deny.

    Attributes:
        as_code: kinds whose file is one that the authors' code searches with boolean, and so splits as it does.
        released: kinds whose file has one of the authors' names.
    """

    original: tuple[Caption, ...]
    negated: tuple[Caption, ...]
    composed: tuple[ComposedQuery, ...]
    as_code: tuple[str, ...] = ()
    released: tuple[str, ...] = ()

    @classmethod
    def read(cls, folder: Path) -> "QuerySets":
        """Read original.txt, negated.txt and composed.jsonl, or nT2VR's files, whose names start with a collection.

        A folder may have only some of them, for systems that know no other queries.

        Raises:
            ConfigError: if one of them cannot be read, none is there, or a folder has files of several collections.
        """
        paths = {
            "original": find(folder, ORIGINAL),
            "negated": find(folder, NEGATED),
            "composed": find(folder, COMPOSED),
        }
        if not any(path.exists() for path in paths.values()):
            raise ConfigError(
                f"{folder} has no query sets ({ORIGINAL}, {NEGATED} or {COMPOSED}). Choose another folder."
            )
        original, negated, composed = paths.values()
        released = (kind for kind, path in paths.items() if path.name not in (ORIGINAL, NEGATED, COMPOSED))
        as_code = (kind for kind, path in paths.items() if path.name.endswith(("neginfo.txt", ".composed.txt")))
        return cls(
            tuple(read_captions(original)) if original.exists() else (),
            tuple(read_negated(negated)) if negated.exists() else (),
            tuple(read_composed(composed).values()) if composed.exists() else (),
            tuple(as_code),
            tuple(released),
        )

    def write(self, folder: Path) -> None:
        """Write the three files; the folder is created if needed."""
        folder.mkdir(parents=True, exist_ok=True)
        write_captions(folder / ORIGINAL, self.original)
        write_captions(folder / NEGATED, self.negated)
        write_composed(folder / COMPOSED, self.composed)


def read_captioned_videos(path: Path) -> CaptionedVideos:
    """Read a captions file in any of the formats; empty captions are left out.

    Raises:
        ConfigError: if the file cannot be read or a line matches no format.
    """
    captions: dict[str, tuple[str, ...]] = {}
    queries: list[Caption] = []
    splits: dict[str, Any] = {}
    for number, line, fields in _rows(path):
        if fields and not {"cap_id", "truth"} & fields.keys():
            video_id, texts, own_queries = _video(path, number, fields)
            captions[video_id] = (*captions.get(video_id, ()), *texts)
            queries += own_queries
            splits |= {video_id: fields["split"]} if fields.get("split") else {}
        elif (caption := _caption(path, number, line, fields)).text:
            captions[caption.video_id] = (*captions.get(caption.video_id, ()), caption.text)
            queries.append(caption)
    if not captions:
        raise ConfigError(f"{path} holds no captions. Use one caption per line: VIDEO#enc#0 a man sings.")
    return CaptionedVideos(captions, tuple(queries), splits)


def read_any_captions(path: Path) -> Mapping[str, Sequence[str]]:
    """Read the captions of each video from any of the formats, or from plain text with one caption per line.

    Lines of plain text have no id; each counts as a separate video.
    """
    lines = list(_lines(path))
    first = lines[0][1] if lines else "{"
    if first.startswith("{") or "#" in first.split()[0][1:]:
        return read_captioned_videos(path).captions
    return {f"{path.stem} {number}": (line,) for number, line in lines}


def read_captions(path: Path) -> list[Caption]:
    """Read captions, one `VIDEO#enc#N caption` per line, or nT2VR's JSON lines; a ConfigError names a bad line."""
    return [_caption(path, *row) for row in _rows(path)]


def read_negated(path: Path) -> list[Caption]:
    """Read negated captions like captions; of nT2VR's training captions, `.caption.negation.txt`, the negations."""
    negated: list[Caption] = []
    for number, line, fields in _rows(path):
        if "truth" in fields:
            negated += (Caption(cap_id, text) for cap_id, text in negated_captions(fields))
        else:
            negated.append(_caption(path, number, line, fields))
    return negated


def read_composed(path: Path) -> dict[str, ComposedQuery]:
    """Read composed queries by id; fields missing from nT2VR's own files are left empty."""
    queries: dict[str, ComposedQuery] = {}
    for number, line in _lines(path):
        fields = _object(path, number, line)
        try:
            ids = (fields["video_ids"], fields.get("hard_ids", []), fields.get("violating_ids", []))
            if not all(isinstance(some, list | tuple) for some in ids):  # a string would be an id per letter
                raise TypeError
            video_ids, hard_ids, violating_ids = (tuple(map(str, some)) for some in ids)
            queries[str(fields["cap_id"])] = ComposedQuery(
                caption=str(fields["caption"]),
                wanted=str(fields.get("wanted", "")),
                unwanted=str(fields.get("unwanted", "")),
                video_ids=video_ids,
                hard_ids=hard_ids,
                violating_ids=violating_ids,
                cap_id=str(fields["cap_id"]),
                denied_first=fields[DENIED_FIRST] == 1 if DENIED_FIRST in fields else None,
            )
        except (KeyError, TypeError) as error:
            reason = f"has no {error}" if isinstance(error, KeyError) else "has ids that are no list"
            raise ConfigError(
                f"Line {number} of {path} {reason}. A composed query needs cap_id, caption and video_ids."
            ) from None
    return queries


def write_captions(path: Path, captions: Iterable[Caption]) -> None:
    """Write `VIDEO#enc#N caption` lines."""
    write_lines(path, (f"{caption.cap_id} {' '.join(caption.text.split())}" for caption in captions))


def write_composed(path: Path, queries: Iterable[ComposedQuery]) -> None:
    """Write composed queries as JSON lines, numbered from s0."""
    numbered = (asdict(query) | {"cap_id": f"s{number}"} for number, query in enumerate(queries))
    known = ({name: value for name, value in fields.items() if value is not None} for fields in numbered)
    write_lines(path, (json.dumps(fields, ensure_ascii=False) for fields in known))


def write_lines(path: Path, lines: Iterable[str]) -> None:
    with atomic_write(path) as partial, partial.open("w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield non-blank lines with their 1-based numbers."""
    try:
        text = path.read_text(encoding="utf-8-sig")  # some editors write a byte order mark
    except FileNotFoundError:
        raise ConfigError(f"{path} is not there. Name a file of captions or queries.") from None
    except OSError as error:
        raise ConfigError(f"{path} cannot be opened ({error.strerror}). Name a file of captions or queries.") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} cannot be read as text ({error}). Choose a UTF-8 file.") from None
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield number, line.strip()


def objects_of(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects of a file of JSON lines, with the numbers of the lines."""
    for number, line in _lines(path):
        yield number, _object(path, number, line)


def _rows(path: Path) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Yield non-blank lines with their numbers; as objects too, if they are JSON."""
    for number, line in _lines(path):
        yield number, line, _object(path, number, line) if line.startswith("{") else {}


def _caption(path: Path, number: int, line: str, fields: Mapping[str, Any]) -> Caption:
    if line.startswith("{"):
        cap_id, text = fields.get("cap_id", fields.get("id")), fields.get("caption", fields.get("truth"))
    else:
        cap_id, text = [*line.split(maxsplit=1), ""][:2]
    if not (isinstance(cap_id, str) and isinstance(text, str) and all(cap_id.partition("#")[:2])):
        raise ConfigError(
            f"Line {number} of {path} is {line[:60]!r}. Write an id and then the caption: VIDEO#enc#0 a man sings."
        )
    return Caption(cap_id, text.strip(), *(parts_of(fields) if line.startswith("{") else ()))


def _object(path: Path, number: int, line: str) -> dict[str, Any]:
    fields = object_of(line)
    if fields is None:
        raise ConfigError(f"Line {number} of {path} is not a JSON object: {line[:60]!r}. Write one object per line.")
    return fields


def _video(path: Path, number: int, fields: Mapping[str, Any]) -> tuple[str, tuple[str, ...], list[Caption]]:
    video_id, texts = fields.get("video_id"), fields.get("captions")
    if not (isinstance(video_id, str) and isinstance(texts, list) and all(isinstance(text, str) for text in texts)):
        raise ConfigError(f"Line {number} of {path} lacks a video_id or a list of captions. Add them.")
    query = fields.get("query")
    if query is None:
        return video_id, tuple(texts), [Caption(f"{video_id}#enc#{i}", text) for i, text in enumerate(texts)]
    place = texts.index(query) if query in texts else len(texts)
    return video_id, tuple(texts), [Caption(f"{video_id}#enc#{place}", str(query))]
