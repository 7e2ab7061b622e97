"""Datasets of pictures plus texts (covr), as published; files are found by their ids in the dataset's folder."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, compress
from pathlib import Path
from typing import Any

from nt2vr.datasets.file_remarks import unclear_remark
from nt2vr.datasets.files import Files, expecting, read_json, read_table
from nt2vr.datasets.files import text as text_of
from nt2vr.datasets.lookup import MediaName, stem
from nt2vr.datasets.splits import held_out_of
from nt2vr.errors import DatasetError
from nt2vr.files import parse_json

UNLABELED = "unlabeled2017"  # COCO's folder of the images that CIRCO ranks


@dataclass(frozen=True)
class CovrSample:
    """One query: a reference and a text."""

    reference: str
    text: str
    targets: tuple[
        str, ...
    ]  # ids of the right clips or pictures; empty where the targets are not published
    kind: str  # part of the dataset that it is reported in
    query_id: str  # as a test server knows it, otherwise numbered from 0 in its file; FashionIQ's after "dress-"
    target: str = (
        ""  # the one of several targets that counts in R@k, as in CIRCO; empty if any does
    )
    subset: tuple[str, ...] = ()  # ids ranked in CIRR's second measure; empty elsewhere
    caption: str = ""  # of the target; empty if unknown
    before: str = ""  # caption of the reference; empty if unknown
    gallery: str = ""  # what it ranks, a key of `CovrSet.galleries`
    labels: tuple[str, ...] = ()  # further groups that it is reported in


@dataclass(frozen=True)
class CovrSet:
    """The queries of a dataset, and the media that they rank."""

    name: str
    samples: tuple[CovrSample, ...]
    media: dict[str, Path]  # id to file, of everything that is ranked or a reference
    # ids that are ranked, by name; WebVid-CoVR's has one per query, and so may repeat
    galleries: dict[str, tuple[str, ...]]
    remarks: tuple[str, ...] = ()  # sentences about what is missing

    def without(self, lost: Collection[str]) -> "CovrSet":
        """Leave files out of what is ranked, and the queries that have nothing else as reference or answer."""
        galleries = {
            key: tuple(each for each in ids if each not in lost)
            for key, ids in self.galleries.items()
        }
        samples = _answerable(self.samples, galleries, lambda media_id: media_id not in lost)
        media = {media_id: path for media_id, path in self.media.items() if media_id not in lost}
        return replace(self, samples=samples, media=media, galleries=galleries)


def load_covr(path: Path, split: str = "test", known: Collection[str] | None = None) -> CovrSet:
    """Read a dataset's queries of the split "train", "val" or "test", and find its files.

    The test splits of CIRR and FashionIQ have no targets; of CIRCO only the validation split is
    read. With `known`, ids with embeddings from elsewhere, no file is needed.
    """
    files = Files(path)
    name = covr_name(files)
    samples = tuple(READERS[name][1](files, split))
    if not samples:
        raise DatasetError(
            f"{name} in {path} has no split {split!r}. Name one whose annotations are there."
        )
    all_ids = _rankable_ids(files, name) if known is None else known
    listed = _galleries(files, name, split, samples, all_ids)
    named = dict.fromkeys(
        (*chain.from_iterable(listed.values()), *(sample.reference for sample in samples))
    )
    remarks: list[str] = []
    if known is None:
        located = files.media.locate({media_id: MediaName(media_id) for media_id in named})
        paths = {media_id: files.folder / file for media_id, file in located.files.items()}
        remarks += unclear_remark(located, len(named), "named files")
    else:
        paths = {media_id: files.folder / media_id for media_id in named if media_id in known}

    galleries = {
        key: tuple(media_id for media_id in ids if media_id in paths) for key, ids in listed.items()
    }
    needs_reference = known is None
    chosen = _answerable(
        samples, galleries, lambda media_id: media_id in paths if needs_reference else True
    )
    if not chosen:
        lacking, where = (
            ("files", path) if known is None else ("embeddings", "the file of embeddings")
        )
        example = f"reference {samples[0].reference}, for example"
        raise DatasetError(
            f"None of the {len(samples)} queries of {name}, {split}, has its {lacking} in {where}: {example}."
            + "".join(f" {remark}" for remark in remarks)
        )
    needed = dict.fromkeys(
        (*chain.from_iterable(galleries.values()), *(sample.reference for sample in chosen))
    )
    media = {media_id: paths.get(media_id, files.folder / media_id) for media_id in needed}
    num_lost = len(samples) - len(chosen)
    if num_lost:
        remarks.append(
            f"{num_lost} of {len(samples)} queries lack their reference or target; they are left out."
        )
    num_listed = sum(len(ids) for ids in listed.values())
    num_ranked = sum(len(ids) for ids in galleries.values())
    if num_listed > num_ranked:
        missing = f"{num_listed - num_ranked} of the {num_listed} files to rank are missing"
        remarks.append(f"{missing}, which raises all figures.")
    return CovrSet(f"{name}, {split}", chosen, media, galleries, tuple(remarks))


def _rankable_ids(files: Files, name: str) -> list[str]:
    """Return the ids of all files that a dataset may rank."""
    media = files.media
    if name == "CIRCO":  # ranks COCO's unlabeled images, beside which its training images may lie
        unlabeled = [path for path in media.files if UNLABELED in path.split("/")[:-1]]
        return [stem(path) for path in unlabeled] or media.stems
    return media.stems


def _answerable(
    samples: Sequence[CovrSample],
    galleries: Mapping[str, Sequence[str]],
    there: Callable[[str], bool],
) -> tuple[CovrSample, ...]:
    """Return the queries whose reference is there, and one of whose answers is ranked, if any are published."""
    ranked, chosen = {key: frozenset(ids) for key, ids in galleries.items()}, []
    for sample in samples:
        answers, ids = (sample.target,) if sample.target else sample.targets, ranked[sample.gallery]
        if ids and there(sample.reference) and (not answers or not ids.isdisjoint(answers)):
            chosen.append(sample)
    return tuple(chosen)


def covr_name(files: Files) -> str:
    """Return the name of the dataset in a folder; a DatasetError says if there is none."""
    name = next((name for name, (pattern, _) in READERS.items() if files.named(pattern)), None)
    if name is None:
        forms = ", ".join(f"{name} ({pattern})" for name, (pattern, _) in READERS.items())
        raise DatasetError(
            f"{files.folder} holds no dataset of pictures plus texts (covr): {forms}."
        )
    return name


def _galleries(
    files: Files, name: str, split: str, samples: Sequence[CovrSample], known: Collection[str]
) -> dict[str, list[str]]:
    """List what a dataset ranks: the ids in its own file, of CIRCO all known ones, or else those that queries name."""
    named: dict[str, dict[str, None]] = {}
    for each in samples:
        named.setdefault(each.gallery, {}).update(
            dict.fromkeys((each.reference, *each.targets, *each.subset))
        )
    if (
        name == "WebVid-CoVR"
    ):  # a column per row, whose own reference is no candidate unless another's target
        return {"": [sample.targets[0] for sample in samples]}
    if name == "CIRCO":
        named[""] = dict.fromkeys(filter(str.isdigit, known)) or named[""]
    for key in named:
        pattern = {"CIRR": f"split.rc2.{split}*.json", "FashionIQ": f"split.{key}.{split}.json"}
        for file in files.named(pattern.get(name, ""))[:1]:
            with expecting(file, "a list of ids, or an object with ids as its keys"):
                named[key] = dict.fromkeys(map(text_of, read_json(file)))
    return {key: list(ids) for key, ids in named.items()}


def _covr(files: Files, split: str) -> Iterator[CovrSample]:
    """Read WebVid-CoVR: a CSV file with the paths of both videos, their captions, and the text."""
    for file in files.named(f"*covr*{split}*.csv"):
        with expecting(file, "the columns pth1, pth2, txt2 and edit"):
            for number, (_, row) in enumerate(
                read_table(file, ["pth1"], ["pth2"], ["txt2"], ["edit"])
            ):
                sample = CovrSample(
                    row["pth1"], row["edit"], (row["pth2"],), "WebVid-CoVR", str(number)
                )
                yield replace(sample, caption=row["txt2"], before=row.get("txt1", ""))


def _cirr(files: Files, split: str) -> Iterator[CovrSample]:
    """Read CIRR: JSON with the ids of a set of six similar pictures per query; the test split names no targets."""
    for file in files.named(f"cap.rc2.{split}*.json"):
        with expecting(file, "a list of objects with pairid, reference, caption and img_set"):
            for entry in read_json(file):
                reference, everything = (
                    text_of(entry["reference"]),
                    map(text_of, entry["img_set"]["members"]),
                )
                members = tuple(each for each in everything if each != reference)
                targets = (text_of(entry["target_hard"]),) if "target_hard" in entry else ()
                query_id = str(int(entry["pairid"]))
                yield CovrSample(
                    reference, text_of(entry["caption"]), targets, "CIRR", query_id, subset=members
                )


def _fashion(files: Files, split: str) -> Iterator[CovrSample]:
    """Read FashionIQ: JSON per kind of garment, two captions per query, which are joined; each kind ranks its own."""
    for kind in ("dress", "shirt", "toptee"):
        for file in files.named(f"cap.{kind}.{split}.json"):
            with expecting(file, "a list of objects with candidate and captions"):
                for number, entry in enumerate(read_json(file)):
                    text = " and ".join(caption.strip(" .?") for caption in entry["captions"])
                    targets, reference = (
                        (text_of(entry["target"]),) if "target" in entry else (),
                        entry["candidate"],
                    )
                    yield CovrSample(
                        text_of(reference), text, targets, kind, f"{kind}-{number}", gallery=kind
                    )


def _circo(files: Files, split: str) -> Iterator[CovrSample]:
    """Read CIRCO's validation split: JSON with several targets per query."""

    def named(number: Any) -> str:
        return f"{int(number):012d}"

    for file in files.named("val.json") if split == "val" else ():
        with expecting(
            file, "a list of objects with id, reference_img_id, relative_caption and target_img_id"
        ):
            for entry in read_json(file):
                yield CovrSample(
                    named(entry["reference_img_id"]),
                    text_of(entry["relative_caption"]),
                    tuple(map(named, entry["gt_img_ids"])),
                    "CIRCO",
                    str(int(entry["id"])),
                    target=named(entry["target_img_id"]),
                    labels=tuple(map(text_of, entry.get("semantic_aspects", ()))),
                )


def _mined(files: Files, split: str) -> Iterator[CovrSample]:
    """Read pairs of videos and their captions; "train" has no video of a tenth of the targets, others only these."""
    for file in files.named("*triplets*.jsonl"):
        with expecting(file, "JSON lines with reference, target, text and both captions"):
            lines = map(parse_json, filter(str.strip, file.read_text(encoding="utf-8").split("\n")))
            rows = [
                (stem(text_of(each["reference"])), stem(text_of(each["target"])), each)
                for each in lines
            ]
            held_out = set(held_out_of({target for _, target, _ in rows}))
            is_training = split == "train"
            kept = [
                not {one, two} & held_out if is_training else two in held_out
                for one, two, _ in rows
            ]
            if rows and not any(kept):
                raise DatasetError(
                    f"of {len(rows)} triplets, none is left after a tenth of the targets is held out"
                )
            for number, (reference, target, each) in compress(enumerate(rows), kept):
                before, caption = map(text_of, each["captions"])
                text = text_of(each["text"])
                yield CovrSample(
                    reference,
                    text,
                    (target,),
                    "triplets",
                    str(number),
                    caption=caption,
                    before=before,
                )


READERS: dict[
    str, tuple[str, Callable[[Files, str], Iterator[CovrSample]]]
] = {  # pattern of annotations, reader
    "WebVid-CoVR": ("*covr*.csv", _covr),
    "CIRR": ("cap.rc2.*.json", _cirr),
    "FashionIQ": ("cap.*.json", _fashion),
    "Mined triplets": ("*triplets*.jsonl", _mined),
    "CIRCO": ("*.json", _circo),
}
