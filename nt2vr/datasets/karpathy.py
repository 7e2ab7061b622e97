"""Flickr30k, Flickr8k and MS-COCO in the splits of Karpathy and Fei-Fei (CVPR 2015)."""

from nt2vr.datasets.base import Annotations, Captions, Loader, Split, split_named
from nt2vr.datasets.files import Files, expecting, read_json, stem, text

NAMES = {"coco": "MS-COCO", "flickr30k": "Flickr30k", "flickr8k": "Flickr8k"}
MARKS = ("dataset_coco.json", "dataset_flickr30k.json", "dataset_flickr8k.json", "dataset.json")
FORM = (
    '{"dataset", "images": [{"filename", "split", "sentences": [{"raw"}, …]}, …]}, from caption_datasets.zip at '
    "cs.stanford.edu/people/karpathy/deepimagesent"
)


def _load(files: Files) -> Annotations:
    """Read the captions; a picture is found by its file name, in any folder, MS-COCO's also by that of 2017."""
    path = files.named(*MARKS)[0]
    splits: dict[Split, Captions] = {}
    with expecting(path, FORM):
        data = read_json(path)
        name = text(data["dataset"])
        for image in data["images"]:
            captions = splits.setdefault(split_named(text(image["split"])), {})
            captions[stem(text(image["filename"]))] = [text(some["raw"]) for some in image["sentences"]]
    ids = (picture for captions in splits.values() for picture in captions)
    aliases = {picture: picture.rpartition("_")[2] for picture in ids} if name == "coco" else {}
    return Annotations(NAMES.get(name, name), splits, aliases=aliases)


LOADER = Loader(MARKS, FORM, _load)
