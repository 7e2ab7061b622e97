"""Datasets of pictures plus texts (covr), as published; files are found by their ids in the dataset's folder."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from nt2vr.datasets.file_remarks import unclear_remark
from nt2vr.datasets.files import Files, expecting, read_json, read_table
from nt2vr.datasets.files import text as text_of
from nt2vr.datasets.lookup import MediaName, stem
from nt2vr.datasets.splits import held_out_of
from nt2vr.errors import DatasetError
from nt2vr.files import parse_json

# COCO's folder of the images that CIRCO ranks.
UNLABELED = "unlabeled2017"
# Of clips or pictures, as a dataset has them.
MediaIds = tuple[str, ...]


@dataclass(frozen=True)
class CovrSample:
    """One query: a reference and a text.

    Attributes:
        targets: ids of the right clips or pictures; empty where they are not published.
        kind: part of the dataset that it is reported in.
        query_id: as a test server knows it, otherwise numbered from 0 in its file; FashionIQ's
            after "dress-".
        target: the one of several targets that counts in R@k, as in CIRCO; empty if any does.
        subset: ids ranked in CIRR's second measure; empty elsewhere.
        caption: of the target; empty if unknown.
        before: caption of the reference; empty if unknown.
        gallery: what it ranks, a key of `CovrSet.galleries`.
        labels: further groups that it is reported in.
    """

    reference: str
    text: str
    targets: MediaIds
    kind: str
    query_id: str
    target: str = ""
    subset: MediaIds = ()
    caption: str = ""
    before: str = ""
    gallery: str = ""
    labels: tuple[str, ...] = ()

    @property
    def answers(self) -> MediaIds:
        """Ids that count in R@k; empty where they are not published."""
        if self.target:
            return (self.target,)
        return self.targets


@dataclass(frozen=True)
class CovrSet:
    """The queries of a dataset, and the media that they rank.

    Attributes:
        media: id to file, of everything that is ranked or a reference.
        galleries: ids that are ranked, by name. That of WebVid-CoVR has one per query, so ids may
            repeat.
        remarks: sentences about what is missing.
    """

    name: str
    samples: tuple[CovrSample, ...]
    media: dict[str, Path]
    galleries: dict[str, MediaIds]
    remarks: tuple[str, ...] = ()

    @property
    def media_ids(self) -> list[str]:
        """Ids of everything that is ranked or a reference."""
        references = [sample.reference for sample in self.samples]
        return list(dict.fromkeys(chain(*self.galleries.values(), references)))

    def without(self, lost: Collection[str]) -> "CovrSet":
        """Leave files out of what is ranked, and the queries that have nothing else as reference or answer."""
        samples = tuple(sample for sample in self.samples if sample.reference not in lost)
        media = {media_id: path for media_id, path in self.media.items() if media_id not in lost}
        present = set(self.media_ids) - set(lost)
        return replace(self, samples=samples, media=media).ranking_only(present)

    def ranking_only(self, rankable: Collection[str]) -> "CovrSet":
        """Leave all else out of what is ranked, and the queries that have nothing else as answer."""
        galleries = {}
        for name, ids in self.galleries.items():
            galleries[name] = tuple(media_id for media_id in ids if media_id in rankable)

        ranked = {name: frozenset(ids) for name, ids in galleries.items()}
        samples = []
        for sample in self.samples:
            ranked_ids = ranked[sample.gallery]
            # Answers that are not published may be among what is ranked.
            may_be_found = not sample.answers or not ranked_ids.isdisjoint(sample.answers)
            if ranked_ids and may_be_found:
                samples.append(sample)
        return replace(self, galleries=galleries, samples=tuple(samples))


def load_covr(
    path: Path, split: str = "test", embedded_ids: Collection[str] | None = None
) -> CovrSet:
    """Read a dataset's queries of the split "train", "val" or "test", and find its files.

    The test splits of CIRR and FashionIQ have no targets; of CIRCO only the validation split is
    read. With `embedded_ids`, those that have embeddings from elsewhere, no file is needed.
    """
    files = Files(path)
    name = covr_name(files)
    samples = tuple(READERS[name].read(files, split))
    if not samples:
        raise DatasetError(
            f"{name} in {path} has no split {split!r}. Name one whose annotations are there."
        )
    published = CovrSet(
        name=f"{name}, {split}",
        samples=samples,
        media={},
        galleries=_galleries(
            files, name=name, split=split, samples=samples, embedded_ids=embedded_ids
        ),
    )
    if embedded_ids is None:
        dataset = _with_files(published, files, path)
    else:
        dataset = _with_embeddings(published, files.folder, embedded_ids)
    return replace(dataset, remarks=(*dataset.remarks, *_loss_remarks(published, dataset)))


def _with_files(published: CovrSet, files: Files, path: Path) -> CovrSet:
    """Return the queries whose files are there, with these."""
    ids = published.media_ids
    located = files.media.locate({media_id: MediaName(media_id) for media_id in ids})
    remarks = unclear_remark(located, len(ids), "named files")
    dataset = published.without(set(ids) - located.files.keys())
    if not dataset.samples:
        raise _nothing_left(published, f"files in {path}", remarks)
    media = {media_id: files.folder / located.files[media_id] for media_id in dataset.media_ids}
    return replace(dataset, media=media, remarks=tuple(remarks))


def _with_embeddings(published: CovrSet, folder: Path, embedded_ids: Collection[str]) -> CovrSet:
    """Return the queries that have an answer with an embedding.

    A query has an embedding of its own, which its reference is part of, so that the reference needs
    none.
    """
    dataset = published.ranking_only(embedded_ids)
    if not dataset.samples:
        raise _nothing_left(published, "embeddings in the file of embeddings")
    return replace(dataset, media={media_id: folder / media_id for media_id in dataset.media_ids})


def _nothing_left(published: CovrSet, lacking: str, remarks: Sequence[str] = ()) -> DatasetError:
    """Return the error of a dataset without a query that can be asked."""
    reason = (
        f"None of the {len(published.samples)} queries of {published.name}, has its {lacking}: "
        f"reference {published.samples[0].reference}, for example."
    )
    return DatasetError(" ".join((reason, *remarks)))


def _loss_remarks(published: CovrSet, dataset: CovrSet) -> Iterator[str]:
    """Report the queries, and the files to rank, that a published dataset has lost."""
    num_published = len(published.samples)
    num_lost = num_published - len(dataset.samples)
    if num_lost:
        yield (
            f"{num_lost} of {num_published} queries lack their reference or target; they are left out."
        )
    num_listed = sum(map(len, published.galleries.values()))
    num_missing = num_listed - sum(map(len, dataset.galleries.values()))
    if num_missing:
        yield (
            f"{num_missing} of the {num_listed} files to rank are missing, which raises all figures."
        )


def covr_name(files: Files) -> str:
    """Return the name of the dataset in a folder; a DatasetError says if there is none."""
    for name, reader in READERS.items():
        if files.named(reader.pattern):
            return name
    forms = ", ".join(f"{name} ({reader.pattern})" for name, reader in READERS.items())
    raise DatasetError(f"{files.folder} holds no dataset of pictures plus texts (covr): {forms}.")


def _galleries(
    files: Files,
    name: str,
    split: str,
    samples: Sequence[CovrSample],
    embedded_ids: Collection[str] | None,
) -> dict[str, MediaIds]:
    """List what a dataset ranks: its published list, or what its queries name, by gallery."""
    # A column per row, whose own reference is no candidate unless another's target.
    if name == "WebVid-CoVR":
        return {"": tuple(sample.targets[0] for sample in samples)}

    named_ids: dict[str, list[str]] = defaultdict(list)
    for sample in samples:
        named_ids[sample.gallery] += (sample.reference, *sample.targets, *sample.subset)
    galleries = {}
    for gallery, ids in named_ids.items():
        if name == "CIRCO":
            published_ids = _images(files, embedded_ids)
        else:
            pattern = READERS[name].ranked.format(split=split, gallery=gallery)
            published_ids = _published_list(files, pattern)
        ranked_ids = ids if published_ids is None else published_ids
        galleries[gallery] = tuple(dict.fromkeys(ranked_ids))
    return galleries


def _images(files: Files, embedded_ids: Collection[str] | None) -> list[str] | None:
    """Return the ids of all COCO images that CIRCO ranks, the unlabeled ones; None if there are none."""
    ids = embedded_ids
    if ids is None:
        # The training images may lie beside them.
        unlabeled = [path for path in files.media.files if UNLABELED in path.split("/")[:-1]]
        ids = list(map(stem, unlabeled)) or files.media.stems
    return list(filter(str.isdigit, ids)) or None


def _published_list(files: Files, pattern: str) -> list[str] | None:
    """Return the ids in a dataset's own file; None without one."""
    for file in files.named(pattern):
        with expecting(file, "a list of ids, or an object with ids as its keys"):
            return list(map(text_of, read_json(file)))
    return None


def _read_webvid(files: Files, split: str) -> Iterator[CovrSample]:
    """Read WebVid-CoVR: a CSV file with the paths of both videos, their captions, and the text."""
    for file in files.named(f"*covr*{split}*.csv"):
        with expecting(file, "the columns pth1, pth2, txt2 and edit"):
            table = read_table(file, ["pth1"], ["pth2"], ["txt2"], ["edit"])
            for number, (_, row) in enumerate(table):
                yield CovrSample(
                    reference=row["pth1"],
                    text=row["edit"],
                    targets=(row["pth2"],),
                    kind="WebVid-CoVR",
                    query_id=str(number),
                    caption=row["txt2"],
                    before=row.get("txt1", ""),
                )


def _target_of(entry: Mapping[str, Any], key: str) -> MediaIds:
    """Return the target, or nothing where the targets are not published."""
    if key not in entry:
        return ()
    return (text_of(entry[key]),)


def _read_cirr(files: Files, split: str) -> Iterator[CovrSample]:
    """Read CIRR: JSON with the ids of a set of six similar pictures per query; the test split names no targets."""
    for file in files.named(f"cap.rc2.{split}*.json"):
        with expecting(file, "a list of objects with pairid, reference, caption and img_set"):
            for entry in read_json(file):
                reference = text_of(entry["reference"])
                members = map(text_of, entry["img_set"]["members"])
                yield CovrSample(
                    reference=reference,
                    text=text_of(entry["caption"]),
                    targets=_target_of(entry, "target_hard"),
                    kind="CIRR",
                    query_id=str(int(entry["pairid"])),
                    subset=tuple(member for member in members if member != reference),
                )


def _read_fashion(files: Files, split: str) -> Iterator[CovrSample]:
    """Read FashionIQ: JSON per kind of garment, two captions per query, which are joined; each kind ranks its own."""
    for kind in ("dress", "shirt", "toptee"):
        for file in files.named(f"cap.{kind}.{split}.json"):
            with expecting(file, "a list of objects with candidate and captions"):
                for number, entry in enumerate(read_json(file)):
                    captions = [caption.strip(" .?") for caption in entry["captions"]]
                    yield CovrSample(
                        reference=text_of(entry["candidate"]),
                        text=" and ".join(captions),
                        targets=_target_of(entry, "target"),
                        kind=kind,
                        query_id=f"{kind}-{number}",
                        gallery=kind,
                    )


def _read_circo(files: Files, split: str) -> Iterator[CovrSample]:
    """Read CIRCO's validation split: JSON with several targets per query."""
    if split != "val":
        return
    form = "a list of objects with id, reference_img_id, relative_caption and target_img_id"
    for file in files.named("val.json"):
        with expecting(file, form):
            for entry in read_json(file):
                yield CovrSample(
                    reference=_image_id(entry["reference_img_id"]),
                    text=text_of(entry["relative_caption"]),
                    targets=tuple(map(_image_id, entry["gt_img_ids"])),
                    kind="CIRCO",
                    query_id=str(int(entry["id"])),
                    target=_image_id(entry["target_img_id"]),
                    labels=tuple(map(text_of, entry.get("semantic_aspects", ()))),
                )


def _image_id(number: Any) -> str:
    """Return the name of a COCO image without its suffix."""
    return f"{int(number):012d}"


class _Triplet(NamedTuple):
    number: int  # from 0 in its file
    reference: str
    target: str
    entry: Mapping[str, Any]


def _read_mined(files: Files, split: str) -> Iterator[CovrSample]:
    """Read pairs of videos and their captions; "train" has no video of a tenth of the targets, others only these."""
    for file in files.named("*triplets*.jsonl"):
        with expecting(file, "JSON lines with reference, target, text and both captions"):
            triplets = list(_triplets_in(file))
            held_out = set(held_out_of({triplet.target for triplet in triplets}))
            of_split = [triplet for triplet in triplets if _is_in(split, triplet, held_out)]
            if triplets and not of_split:
                raise DatasetError(
                    f"of {len(triplets)} triplets, none is left after a tenth of the targets is held out"
                )
            for triplet in of_split:
                before, caption = map(text_of, triplet.entry["captions"])
                yield CovrSample(
                    reference=triplet.reference,
                    text=text_of(triplet.entry["text"]),
                    targets=(triplet.target,),
                    kind="triplets",
                    query_id=str(triplet.number),
                    caption=caption,
                    before=before,
                )


def _triplets_in(file: Path) -> Iterator[_Triplet]:
    lines = file.read_text(encoding="utf-8").split("\n")
    for number, line in enumerate(filter(str.strip, lines)):
        entry = parse_json(line)
        yield _Triplet(
            number,
            reference=stem(text_of(entry["reference"])),
            target=stem(text_of(entry["target"])),
            entry=entry,
        )


def _is_in(split: str, triplet: _Triplet, held_out: Collection[str]) -> bool:
    if split == "train":
        return triplet.reference not in held_out and triplet.target not in held_out
    return triplet.target in held_out


class CovrReader(NamedTuple):
    """How a dataset is recognised and read.

    Attributes:
        pattern: of its annotations.
        read: yields the queries of a split.
        ranked: pattern of the list of what a split's gallery ranks; empty if there is none.
    """

    pattern: str
    read: Callable[[Files, str], Iterator[CovrSample]]
    ranked: str = ""


# The first whose annotations are there is read.
READERS = {
    "WebVid-CoVR": CovrReader("*covr*.csv", _read_webvid),
    "CIRR": CovrReader("cap.rc2.*.json", _read_cirr, "split.rc2.{split}*.json"),
    "FashionIQ": CovrReader("cap.*.json", _read_fashion, "split.{gallery}.{split}.json"),
    "Mined triplets": CovrReader("*triplets*.jsonl", _read_mined),
    "CIRCO": CovrReader("*.json", _read_circo),
}
