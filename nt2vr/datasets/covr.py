"""Datasets of composed retrieval (covr) in their published formats: WebVid-CoVR, CIRR, FashionIQ, CIRCO.

Media are not downloaded: files are found by their ids in the dataset's folder.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nt2vr.datasets.files import Files, expecting, read_json, read_table
from nt2vr.errors import DatasetError

FASHION_KINDS = ("dress", "shirt", "toptee")


@dataclass(frozen=True)
class CovrSample:
    """One query: a reference and a text.

    Attributes:
        targets: ids of the right clips or pictures.
        kind: part of the dataset that it is reported in.
        subset: ids ranked in CIRR's second measure; empty elsewhere.
        caption: of the target; empty if unknown.
    """

    reference: str
    text: str
    targets: tuple[str, ...]
    kind: str
    subset: tuple[str, ...] = ()
    caption: str = ""


@dataclass(frozen=True)
class CovrSet:
    """The queries of a dataset, and the media that they rank.

    Attributes:
        media: id to file, of everything that is ranked.
    """

    name: str
    samples: tuple[CovrSample, ...]
    media: dict[str, Path]


def load_covr(path: Path, split: str = "test") -> CovrSet:
    """Read a dataset's queries of a split, and find its files.

    Args:
        split: "train", "val" or "test"; CIRR has further "train-negated", its training queries that deny something.

    Raises:
        DatasetError: if there is no such dataset in the folder, or it has no such split, or lacks all files.
    """
    files = Files(path)
    name = next((name for name, (pattern, _) in READERS.items() if files.named(pattern)), None)
    if name is None:
        forms = ", ".join(f"{name} ({pattern})" for name, (pattern, _) in READERS.items())
        raise DatasetError(f"{path} holds no dataset of composed retrieval (covr): {forms}.")
    samples = tuple(READERS[name][1](files, split))
    if not samples:
        raise DatasetError(f"{name} in {path} has no split {split!r}.")
    named = dict.fromkeys(each for s in samples for each in (s.reference, *s.targets, *s.subset))
    ranked = _gallery(files, name, split) or list(named)
    media = {each: files.media[_stem(each)] for each in ranked if _stem(each) in files.media}
    usable = tuple(s for s in samples if s.reference in media and not media.keys().isdisjoint(s.targets))
    if not usable:
        raise DatasetError(f"None of the {len(named)} files of {name} is in {path}. The first: {next(iter(named))}.")
    return CovrSet(f"{name}, {split}", usable, media)


def _stem(media_id: str) -> str:
    return media_id.rpartition("/")[2]


def _gallery(files: Files, name: str, split: str) -> list[str]:
    """List everything that a dataset ranks, where a file of its own says so."""
    if name == "CIRR":
        listed = files.named(f"split.rc2.{split.partition('-')[0]}*.json")
        return list(read_json(listed[0])) if listed else []
    if name == "FashionIQ":
        return [each for file in files.named(f"split.*.{split}.json") for each in read_json(file)]
    return [key for key in files.media if key.isdigit()] if name == "CIRCO" else []


def _covr(files: Files, split: str) -> Iterator[CovrSample]:
    """Read WebVid-CoVR: a CSV file with the paths of both videos, their captions, and the text."""
    for file in files.named(f"*covr*{split}*.csv"):
        for row in read_table(file, ("pth1", "pth2", "txt2", "edit")):
            yield CovrSample(row["pth1"], row["edit"], (row["pth2"],), "WebVid-CoVR", caption=row["txt2"])


def _cirr(files: Files, split: str) -> Iterator[CovrSample]:
    """Read CIRR: JSON with the ids of a set of six similar pictures per query; the test split names no targets."""
    part, _, negated = split.partition("-")
    for file in files.named(f"cap.rc2.{part}*.json"):
        with expecting(file, "a list of objects with reference, target_hard, caption and img_set"):
            for entry in read_json(file):
                if negated and not is_negated(entry["caption"]):
                    continue
                members = tuple(each for each in entry["img_set"]["members"] if each != entry["reference"])
                targets = (entry["target_hard"],) if "target_hard" in entry else ()
                yield CovrSample(entry["reference"], entry["caption"], targets, "CIRR", members)


def is_negated(caption: str) -> bool:
    """Return whether a text has a word of negation: CIRR's 868 negated training queries were chosen by such words."""
    return not NEGATIONS.isdisjoint(caption.lower().replace("n't", " not").replace(",", " ").replace(".", " ").split())


NEGATIONS = frozenset("no not without never none nobody nothing neither nor".split())


def _fashion(files: Files, split: str) -> Iterator[CovrSample]:
    """Read FashionIQ: JSON per kind of garment, two captions per query, which are joined."""
    for kind in FASHION_KINDS:
        for file in files.named(f"cap.{kind}.{split}.json"):
            with expecting(file, "a list of objects with candidate, target and captions"):
                for entry in read_json(file):
                    text = " and ".join(caption.strip(" .?") for caption in entry["captions"])
                    yield CovrSample(entry["candidate"], text, (entry["target"],), kind)


def _circo(files: Files, split: str) -> Iterator[CovrSample]:
    """Read CIRCO: JSON with several targets per query; the test split names none."""
    for file in files.named(f"{split}.json"):
        with expecting(file, "a list of objects with reference_img_id, relative_caption and gt_img_ids"):
            for entry in read_json(file):
                targets = tuple(map(_coco, entry.get("gt_img_ids", ())))
                yield CovrSample(_coco(entry["reference_img_id"]), entry["relative_caption"], targets, "CIRCO")


def _coco(number: Any) -> str:
    return f"{int(number):012d}"


Reader = Callable[[Files, str], Iterator[CovrSample]]
READERS: dict[str, tuple[str, Reader]] = {  # name -> pattern of its annotations, reader
    "WebVid-CoVR": ("*covr*.csv", _covr),
    "CIRR": ("cap.rc2.*.json", _cirr),
    "FashionIQ": ("cap.*.json", _fashion),
    "CIRCO": ("*.json", _circo),
}
