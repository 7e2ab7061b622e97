"""Captions and query sets as files, in the formats that nT2VR released; no word of them is looked at here.

Captions, and negated queries, one a line: `VIDEO#enc#N caption`; read as well is Flickr's `ID#N<TAB>caption`. Captions
may also be JSON lines, one a video: {"video_id", "captions": [...], "query": the one to ask with, if not all}.
Composed queries are JSON lines: {"cap_id", "caption", "video_ids": [...]}, here with "wanted", "unwanted" and
"violating_ids", the videos that show both, beside them.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from nt2vr.errors import ConfigError
from nt2vr.files import atomic_write
from nt2vr.querygen.composer import ComposedQuery


class Caption(NamedTuple):
    """One caption of a video; its id is unique in a file and begins with the video's: "video7010#enc#3"."""

    cap_id: str
    text: str

    @property
    def video_id(self) -> str:
        """The video that it describes."""
        return self.cap_id.partition("#")[0]


@dataclass(frozen=True)
class CaptionedVideos:
    """What a captions file holds.

    Attributes:
        captions: all captions of each video, by its id.
        queries: the captions to ask with.
    """

    captions: Mapping[str, tuple[str, ...]]
    queries: tuple[Caption, ...]


def read_captioned_videos(path: Path) -> CaptionedVideos:
    """Read a captions file of any of the three formats.

    Raises:
        ConfigError: if it cannot be read, or a line is of none of the formats.
    """
    captions: dict[str, tuple[str, ...]] = {}
    queries: list[Caption] = []
    for number, line in _lines(path):
        if line.startswith("{"):
            video_id, texts, asked = _video(path, number, line)
            captions[video_id] = (*captions.get(video_id, ()), *texts)
            queries += asked
        else:
            caption = _caption(path, number, line)
            captions[caption.video_id] = (*captions.get(caption.video_id, ()), caption.text)
            queries.append(caption)
    if not captions:
        raise ConfigError(f"{path} holds no captions. Give a file with one caption a line: VIDEO#enc#0 a man sings.")
    return CaptionedVideos(captions, tuple(queries))


def read_any_captions(path: Path) -> Mapping[str, Sequence[str]]:
    """Read the captions of each video from a file of any of the three formats, or from plain text, one a line.

    A line of plain text begins with no id, and stands for a video of its own.

    Raises:
        ConfigError: as `read_captioned_videos`.
    """
    lines = list(_lines(path))
    first = lines[0][1] if lines else "{"
    if first.startswith("{") or "#" in first.split()[0][1:]:
        return read_captioned_videos(path).captions
    return {f"{path.stem} {number}": (line,) for number, line in lines}


def read_captions(path: Path) -> list[Caption]:
    """Read captions or negated queries, `VIDEO#enc#N caption` a line.

    Raises:
        ConfigError: if it cannot be read, or a line is of another format.
    """
    return [_caption(path, number, line) for number, line in _lines(path)]


def read_composed(path: Path) -> dict[str, ComposedQuery]:
    """Read composed queries, by their ids; the keys that nT2VR's own files lack are empty then.

    Raises:
        ConfigError: if it cannot be read, or a line is no composed query.
    """
    queries: dict[str, ComposedQuery] = {}
    for number, line in _lines(path):
        fields = _object(path, number, line)
        try:
            queries[str(fields["cap_id"])] = ComposedQuery(
                caption=str(fields["caption"]),
                wanted=str(fields.get("wanted", "")),
                unwanted=str(fields.get("unwanted", "")),
                video_ids=tuple(fields["video_ids"]),
                violating_ids=tuple(fields.get("violating_ids", ())),
            )
        except KeyError as error:
            raise ConfigError(
                f"Line {number} of {path} has no {error}. A composed query needs cap_id, caption and video_ids."
            ) from None
    return queries


def write_captions(path: Path, captions: Iterable[Caption]) -> int:
    """Write `VIDEO#enc#N caption` lines; return how many."""
    return _write(path, (f"{caption.cap_id} {' '.join(caption.text.split())}" for caption in captions))


def write_composed(path: Path, queries: Iterable[ComposedQuery]) -> int:
    """Write composed queries as JSON lines, numbered from s0; return how many."""
    numbered = ({"cap_id": f"s{number}", **asdict(query)} for number, query in enumerate(queries))
    return _write(path, (json.dumps(fields, ensure_ascii=False) for fields in numbered))


def _write(path: Path, lines: Iterable[str]) -> int:
    """Write a file; return of how many lines."""
    count = 0
    with atomic_write(path) as partial, partial.open("w", encoding="utf-8") as file:
        for line in lines:
            file.write(f"{line}\n")
            count += 1
    return count


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not blank, with their numbers from 1."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read as text ({error}). Name a UTF-8 file.") from None
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield number, line.strip()


def _caption(path: Path, number: int, line: str) -> Caption:
    cap_id, text = [*line.split(maxsplit=1), ""][:2]
    video_id, mark, _ = cap_id.partition("#")
    if not (video_id and mark and text):
        raise ConfigError(
            f"Line {number} of {path} is {line[:60]!r}. Write an id, then the caption: VIDEO#enc#0 a man sings."
        )
    return Caption(cap_id, text)


def _object(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        fields = json.loads(line)
    except ValueError:
        fields = None
    if not isinstance(fields, dict):
        raise ConfigError(f"Line {number} of {path} is no JSON object: {line[:60]!r}. Write one object a line.")
    return fields


def _video(path: Path, number: int, line: str) -> tuple[str, tuple[str, ...], list[Caption]]:
    fields = _object(path, number, line)
    video_id, texts = fields.get("video_id"), fields.get("captions")
    if not (isinstance(video_id, str) and isinstance(texts, list) and all(isinstance(text, str) for text in texts)):
        raise ConfigError(
            f"Line {number} of {path} lacks a video_id, or its captions as a list of sentences. Add them."
        )
    query = fields.get("query")
    if query is None:
        return video_id, tuple(texts), [Caption(f"{video_id}#enc#{i}", text) for i, text in enumerate(texts)]
    place = texts.index(query) if query in texts else len(texts)
    return video_id, tuple(texts), [Caption(f"{video_id}#enc#{place}", str(query))]
