"""Flickr30k, Flickr8k and MS-COCO in the splits of Karpathy and Fei-Fei (CVPR 2015).

Flickr30k and Flickr8k are also read from their original files.
"""

from collections import defaultdict
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
        captions_of_picture = _read_captions(path)
    ids = unique_ids(captions_of_picture)
    captions = {ids[picture]: texts for picture, texts in captions_of_picture.items()}
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


def _read_captions(path: Path) -> Captions:
    """Return the captions of each picture, by the name of its file."""
    captions = defaultdict[str, list[str]](list)
    lines = list(filter(str.strip, read_text(path).split("\n")))
    if "\t" not in lines[0]:
        for _, row in read_table(path, ["image"], ["caption"]):
            captions[row["image"].strip()].append(row["caption"].strip())
        return captions

    for line in lines:
        cells = line.split("\t")
        picture = cells[0].partition("#")[0]
        captions[picture.strip()].append(cells[1].strip())
    return captions


def _name_of(path: Path) -> str:
    if "8k" in path.name.lower():
        return "Flickr8k"
    if "results" in path.name:
        return "Flickr30k"
    return path.parent.name


KARPATHY_LOADER = Loader(KARPATHY, KARPATHY_FORM, _load_karpathy)
LOADER = Loader(MARKS, FORM, _load)
