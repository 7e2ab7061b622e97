"""Further datasets of text-to-video retrieval and captioned pictures, one table of readers.

DiDeMo and ActivityNet are used as paragraph retrieval: a video's sentences, joined, are its one caption. ActivityNet
is tested on val_1. The splits are those of CLIP4Clip (github.com/ArrowLuo/CLIP4Clip).
"""

import pickle
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from nt2vr.datasets.base import Annotations, Captions, Loader, Split, listed_splits
from nt2vr.datasets.files import Files, expecting, read_json, stem, text

LISTS: dict[Split, tuple[str, ...]] = {
    "train": ("train_list.txt",),
    "validation": ("val_list.txt",),
    "test": ("test_list.txt",),
}
LIST_FORM = "one id per line, as in CLIP4Clip's train_list.txt"
NUM_COLUMNS = 6  # of LSMDC: clip, four times, sentence

MSVD = ("raw-captions.pkl", "AllVideoDescriptions.txt")
MSVD_FORM = (
    "raw-captions.pkl of CLIP4Clip's msvd_data.zip, {id: [[word, …], …]}, or AllVideoDescriptions.txt, lines of ID "
    "caption; with train_list.txt, val_list.txt and test_list.txt"
)
DIDEMO: Mapping[str, Split] = {"train_data.json": "train", "val_data.json": "validation", "test_data.json": "test"}
DIDEMO_FORM = '[{"video", "description"}, …], from github.com/LisaAnne/LocalizingMoments'
ACTIVITYNET: Mapping[str, Split] = {"train.json": "train", "val_1.json": "test"}
ACTIVITYNET_FORM = '{"v_ID": {"duration", "timestamps", "sentences": […]}, …}, from ActivityNet Captions'
LSMDC: Mapping[str, Split] = {
    "LSMDC16_annos_training.csv": "train",
    "LSMDC16_annos_val.csv": "validation",
    "LSMDC16_challenge_1000_publictect.csv": "test",
}
LSMDC_FORM = "lines of six tab-separated cells, the clip first and its sentence last"
BLIP: Mapping[str, Split] = {"_train.json": "train", "_val.json": "validation", "_test.json": "test"}
BLIP_FORM = '[{"image", "caption": […] or a string}, …], as in BLIP\'s coco_karpathy_test.json and flickr30k_test.json'


class Plain(pickle.Unpickler):
    """Reads containers, numbers and strings: any class or function is refused, so no code of a file runs."""

    def find_class(self, module: str, name: str) -> Any:
        raise ValueError(f"it holds {module}.{name}, more than captions")


def _msvd(files: Files) -> Annotations:
    path = files.named(*MSVD)[0]
    captions: Captions = {}
    with expecting(path, MSVD_FORM):
        try:
            for video_id, caption in _described(path):
                captions.setdefault(video_id, []).append(caption)
        except (pickle.UnpicklingError, EOFError, MemoryError) as error:
            raise ValueError(str(error) or "it is cut off") from error
    return Annotations("MSVD", listed_splits(files, LISTS, LIST_FORM, captions) or {"all": captions})


def _described(path: Path) -> Iterator[tuple[str, str]]:
    if path.suffix == ".pkl":
        with path.open("rb") as file:
            for video_id, sentences in Plain(file, encoding="utf-8").load().items():
                yield from ((text(video_id), " ".join(text(word) for word in words)) for words in sentences)
    else:
        lines = (line.strip() for line in path.read_text("utf-8-sig").split("\n"))
        for line in lines:
            if line and not line.startswith("#"):
                video_id, _, caption = line.partition(" ")
                yield video_id, caption.strip()


def _didemo(files: Files) -> Annotations:
    """Read the descriptions; the published files name some videos twice, with two endings."""
    ids: dict[str, str] = {}  # by the names that a list may have

    def rows(data: Any) -> Iterator[tuple[str, str]]:
        for row in data:
            name = text(row["video"])
            yield ids.setdefault(stem(name), name.rpartition(".")[0] or name), text(row["description"])

    splits = {part: _joined(some) for part, some in _read(files, DIDEMO, DIDEMO_FORM, rows).items()}
    captions = {video_id: some for part in splits.values() for video_id, some in part.items()}
    return Annotations("DiDeMo, paragraphs", {**splits, **listed_splits(files, LISTS, LIST_FORM, captions, ids)})


def _activitynet(files: Files) -> Annotations:
    def rows(data: Any) -> Iterator[tuple[str, str]]:
        return ((text(name), text(sentence)) for name, entry in data.items() for sentence in entry["sentences"])

    splits = {part: _joined(some) for part, some in _read(files, ACTIVITYNET, ACTIVITYNET_FORM, rows).items()}
    aliases = {name: name.removeprefix("v_") for captions in splits.values() for name in captions}
    return Annotations("ActivityNet, paragraphs of val_1", splits, aliases=aliases)


def _lsmdc(files: Files) -> Annotations:
    splits: dict[Split, Captions] = {}
    for name, split in LSMDC.items():
        for path in files.named(name)[:1]:
            with expecting(path, LSMDC_FORM):
                for number, line in enumerate(path.read_text("utf-8-sig", errors="replace").splitlines(), 1):
                    cells = line.split("\t")
                    if line.strip() and len(cells) != NUM_COLUMNS:
                        raise ValueError(f"line {number} has {len(cells)} cells")
                    if line.strip():
                        splits.setdefault(split, {}).setdefault(cells[0].strip(), []).append(cells[-1].strip())
    return Annotations("LSMDC", splits)


def _blip(files: Files) -> Annotations:
    def rows(data: Any) -> Iterator[tuple[str, str]]:
        for row in data:
            captions = row["caption"] if isinstance(row["caption"], list) else [row["caption"]]
            yield from ((stem(text(row["image"])), text(caption)) for caption in captions)

    name = "coco_karpathy" if files.named("coco_karpathy*.json") else "flickr30k"
    splits = _read(files, {f"{name}{suffix}": split for suffix, split in BLIP.items()}, BLIP_FORM, rows)
    pictures = (picture for captions in splits.values() for picture in captions)
    aliases = {picture: picture.rpartition("_")[2] for picture in pictures} if name != "flickr30k" else {}
    return Annotations("Flickr30k" if name == "flickr30k" else "MS-COCO", splits, aliases=aliases)


def _read(
    files: Files, parts: Mapping[str, Split], form: str, rows: Callable[[Any], Iterator[tuple[str, str]]]
) -> dict[Split, Captions]:
    """Read the JSON file of each split as pairs of an id and a caption."""
    splits: dict[Split, Captions] = {}
    for name, split in parts.items():
        for path in files.named(name)[:1]:
            with expecting(path, form):
                captions = splits.setdefault(split, {})
                for video_id, caption in rows(read_json(path)):
                    captions.setdefault(video_id, []).append(caption)
    return splits


def _joined(captions: Captions) -> Captions:
    """Make one paragraph of each video's sentences, in the file's order."""
    return {video_id: [" ".join(filter(None, sentences))] for video_id, sentences in captions.items()}


LOADERS = {
    "msvd": Loader(MSVD, MSVD_FORM, _msvd),
    "didemo": Loader(tuple(DIDEMO), DIDEMO_FORM, _didemo),
    "activitynet": Loader(("val_1.json",), ACTIVITYNET_FORM, _activitynet),
    "lsmdc": Loader(tuple(LSMDC), LSMDC_FORM, _lsmdc),
    "blip": Loader(
        tuple(f"{name}{suffix}" for name in ("coco_karpathy", "flickr30k") for suffix in BLIP), BLIP_FORM, _blip
    ),
}
