"""Flickr30k, Flickr8k and MS-COCO: in the splits of Karpathy and Fei-Fei (CVPR 2015), or Flickr's original files."""

from nt2vr.datasets.base import Annotations, Captions, Loader, Split, listed_splits, split_named
from nt2vr.datasets.files import Files, expecting, read_json, read_table, read_text, stem, text

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
    """Read the captions; a picture is found by its file name, in any folder, MS-COCO's also by that of 2017."""
    path = files.named(*KARPATHY)[0]
    splits: dict[Split, Captions] = {}
    with expecting(path, KARPATHY_FORM):
        data = read_json(path)
        name = text(data["dataset"])
        for image in data["images"]:
            captions = splits.setdefault(split_named(text(image["split"])), {})
            captions[stem(text(image["filename"]))] = [text(some["raw"]) for some in image["sentences"]]
    ids = (picture for captions in splits.values() for picture in captions)
    aliases = {picture: picture.rpartition("_")[2] for picture in ids} if name == "coco" else {}
    return Annotations(NAMES.get(name, name), splits, aliases=aliases)


def _load(files: Files) -> Annotations:
    """Read captions and splits; a picture is found by its file name, in any folder."""
    path = files.named(*MARKS)[0]
    captions: Captions = {}
    with expecting(path, FORM):
        lines = [line.split("\t") for line in read_text(path).split("\n") if line.strip()]
        if len(lines[0]) == 1:
            lines = [[row["image"], row["caption"]] for _, row in read_table(path, ["image"], ["caption"])]
        for picture, caption, *_ in lines:
            captions.setdefault(stem(picture.partition("#")[0]), []).append(caption.strip())
    splits = listed_splits(files, LISTS, LIST_FORM, captions, {})
    name = "Flickr8k" if "8k" in path.name.lower() else "Flickr30k" if "results" in path.name else path.parent.name
    return Annotations(name, splits or {"all": captions})


KARPATHY_LOADER = Loader(KARPATHY, KARPATHY_FORM, _load_karpathy)
LOADER = Loader(MARKS, FORM, _load)
