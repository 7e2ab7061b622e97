"""Flickr30k and Flickr8k in their original form: one caption file, one list per split."""

import csv
from pathlib import Path

from nt2vr.datasets.base import Annotations, Captions, Loader, Split, listed_splits
from nt2vr.datasets.files import Files, expecting, stem

MARKS = ("results*.token", "*.token.txt", "*flickr*captions.txt", "captions.txt")
LISTS: dict[Split, tuple[str, ...]] = {
    "train": ("*trainImages.txt", "train.txt"),
    "validation": ("*devImages.txt", "val.txt"),
    "test": ("*testImages.txt", "test.txt"),
}
FORM = (
    "lines of PICTURE.jpg#N<TAB>caption, as in results_20130124.token and Flickr8k.token.txt, or a CSV image,caption"
)
LIST_FORM = "one picture's file name per line, as in Flickr_8k.testImages.txt"


def _load(files: Files) -> Annotations:
    """Read captions and splits; a picture is found by its file name, in any folder."""
    path = files.named(*MARKS)[0]
    with expecting(path, FORM):
        captions = _captions(path)
    splits = listed_splits(files, LISTS, LIST_FORM, captions)
    name = "Flickr8k" if "8k" in path.name.lower() else "Flickr30k" if "results" in path.name else path.parent.name
    return Annotations(name, splits or {"all": captions})


def _captions(path: Path) -> Captions:
    captions: Captions = {}
    lines = path.read_text(encoding="utf-8-sig").split("\n")
    if lines[0].strip() == "image,caption":
        rows = ((row[0], row[1]) for row in csv.reader(lines[1:]) if row)
    else:
        rows = ((line.split("\t")[0], line.split("\t")[1]) for line in lines if line.strip())
    for picture, caption in rows:
        captions.setdefault(stem(picture.partition("#")[0]), []).append(caption.strip())
    return captions


LOADER = Loader(MARKS, FORM, _load)
