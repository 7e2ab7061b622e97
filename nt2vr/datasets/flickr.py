"""Flickr30k, Flickr8k and MS-COCO in the splits of Karpathy and Fei-Fei (CVPR 2015).

Flickr30k and Flickr8k are also read from their original files.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nt2vr.datasets.base import (
    Annotations,
    Captions,
    Listing,
    Loader,
    Split,
    listed_captions,
    read_split_lists,
    split_named,
)
from nt2vr.datasets.files import Files, expecting, read_json, read_table, read_text, text
from nt2vr.datasets.lookup import unique_ids

NAMES = {"coco": "MS-COCO", "flickr30k": "Flickr30k", "flickr8k": "Flickr8k"}
KARPATHY = ("dataset_coco.json", "dataset_flickr30k.json", "dataset_flickr8k.json", "dataset.json")
KARPATHY_FORM = (
    '{"dataset", "images": [{"filename", "split", "sentences": [{"raw"}, …]}, …]}, from caption_datasets.zip at '
    "cs.stanford.edu/people/karpathy/deepimagesent"
)
MARKS = ("results*.token", "*.token.txt", "*flickr*captions.txt", "captions.txt")
LISTS: dict[Split, tuple[str, ...]] = {
    "train": ("*trainImages.txt", "train.txt"),
    "validation": ("*devImages.txt", "val.txt"),
    "test": ("*testImages.txt", "test.txt"),
}
FORM = "lines of PICTURE.jpg#N<TAB>caption, as in results_20130124.token, Flickr8k.token.txt, or a CSV image,caption"
LIST_FORM = "one picture's file name per line, as in Flickr_8k.testImages.txt"


def _load_karpathy(files: Files) -> Annotations:
    """Read the captions; a picture is found by its path or file name."""
    path = files.single(*KARPATHY)
    assert path, "one of the marks was found"
    with expecting(path, KARPATHY_FORM):
        content = read_json(path)
        name = text(content["dataset"])
        listings = _karpathy_listings(content["images"], files.relative(path))
    if name == "coco":
        # Such as COCO_val2014_000000391895.jpg, which is 000000391895.jpg since 2017.
        listings = [
            listing._replace(alias=listing.video_id.rpartition("_")[2]) for listing in listings
        ]
    return Annotations(NAMES.get(name, name), listings)


def _karpathy_listings(images: Sequence[Any], source: str) -> list[Listing]:
    ids = unique_ids(map(_karpathy_path, images))
    listings = []
    for number, image in enumerate(images, 1):
        path = _karpathy_path(image)
        listings.append(
            Listing(
                ids[path],
                captions=[text(sentence["raw"]) for sentence in image["sentences"]],
                split=split_named(text(image["split"])),
                place=f"{source}, image {number}",
                file=path,
            )
        )
    return listings


def _karpathy_path(image: dict[str, object]) -> str:
    folder = text(image.get("filepath", ""))
    name = text(image["filename"])
    return f"{folder}/{name}" if folder else name


def _load(files: Files) -> Annotations:
    """Read captions and splits; a picture is found by its file name, in any folder."""
    path = files.single(*MARKS)
    assert path, "one of the marks was found"
    with expecting(path, FORM):
        picture_captions = _picture_captions(path)
    ids = unique_ids(picture for picture, _ in picture_captions)
    captions: Captions = {}
    for picture, caption in picture_captions:
        captions.setdefault(ids[picture], []).append(caption)

    pictures = dict(zip(ids.values(), ids, strict=True))
    listings = _listings(files, path, captions, ids)
    with_files = [listing._replace(file=pictures.get(listing.video_id, "")) for listing in listings]
    return Annotations(_name_of(path), with_files)


def _listings(
    files: Files, path: Path, captions: Captions, ids: Mapping[str, str]
) -> list[Listing]:
    """List the pictures of each split, or all of them if no split has a list."""
    lists = read_split_lists(files, LISTS, LIST_FORM)
    if lists:
        return listed_captions(files, lists, captions, ids)
    place = files.relative(path)
    return [Listing(video_id, texts, place=place) for video_id, texts in captions.items()]


def _picture_captions(path: Path) -> list[tuple[str, str]]:
    """Return the name of a picture's file and a caption per line."""
    lines = list(filter(str.strip, read_text(path).split("\n")))
    if "\t" not in lines[0]:
        rows = read_table(path, ["image"], ["caption"])
        return [(row["image"].strip(), row["caption"].strip()) for _, row in rows]

    picture_captions = []
    for line in lines:
        cells = line.split("\t")
        picture = cells[0].partition("#")[0]
        picture_captions.append((picture.strip(), cells[1].strip()))
    return picture_captions


def _name_of(path: Path) -> str:
    if "8k" in path.name.lower():
        return "Flickr8k"
    if "results" in path.name:
        return "Flickr30k"
    return path.parent.name


KARPATHY_LOADER = Loader(KARPATHY, KARPATHY_FORM, _load_karpathy)
LOADER = Loader(MARKS, FORM, _load)
