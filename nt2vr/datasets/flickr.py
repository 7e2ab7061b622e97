"""Flickr30k, Flickr8k and MS-COCO: in the splits of Karpathy and Fei-Fei (CVPR 2015), or Flickr's original files."""

from pathlib import Path

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
    """Read the captions; a picture is found by its path or file name, MS-COCO's also by its name of 2017."""
    path = files.single(*KARPATHY)
    assert path, "one of the marks was found"
    listings = []
    with expecting(path, KARPATHY_FORM):
        data = read_json(path)
        name = text(data["dataset"])
        images = data["images"]
        paths = [_karpathy_path(image) for image in images]
        ids = unique_ids(paths)
        for number, (image, image_path) in enumerate(zip(images, paths, strict=True), 1):
            video_id = ids[image_path]
            listings.append(
                Listing(
                    video_id,
                    captions=[text(sentence["raw"]) for sentence in image["sentences"]],
                    split=split_named(text(image["split"])),
                    place=f"{files.relative(path)}, image {number}",
                    file=image_path,
                    alias=video_id.rpartition("_")[2] if name == "coco" else "",
                )
            )
    return Annotations(NAMES.get(name, name), listings)


def _karpathy_path(image: dict[str, object]) -> str:
    folder = text(image.get("filepath", ""))
    name = text(image["filename"])
    return f"{folder}/{name}" if folder else name


def _load(files: Files) -> Annotations:
    """Read captions and splits; a picture is found by its file name, in any folder."""
    path = files.single(*MARKS)
    assert path, "one of the marks was found"
    with expecting(path, FORM):
        rows = _picture_captions(path)
    ids = unique_ids(picture for picture, _ in rows)
    captions: Captions = {}
    for picture, caption in rows:
        captions.setdefault(ids[picture], []).append(caption)

    pictures = {video_id: picture for picture, video_id in ids.items()}
    lists = read_split_lists(files, LISTS, LIST_FORM)
    if lists:
        listings = listed_captions(files, lists, captions, ids)
        listings = [
            listing._replace(file=pictures.get(listing.video_id, "")) for listing in listings
        ]
    else:
        place = files.relative(path)
        listings = [
            Listing(video_id, texts, place=place, file=pictures[video_id])
            for video_id, texts in captions.items()
        ]
    return Annotations(_name_of(path), listings)


def _picture_captions(path: Path) -> list[tuple[str, str]]:
    """Return the name of a picture's file and a caption per line."""
    lines = [line.split("\t") for line in read_text(path).split("\n") if line.strip()]
    if len(lines[0]) == 1:
        rows = [
            (row["image"].strip(), row["caption"].strip())
            for _, row in read_table(path, ["image"], ["caption"])
        ]
    else:
        rows = [(cells[0].partition("#")[0].strip(), cells[1].strip()) for cells in lines]
    return rows


def _name_of(path: Path) -> str:
    if "8k" in path.name.lower():
        return "Flickr8k"
    return "Flickr30k" if "results" in path.name else path.parent.name


KARPATHY_LOADER = Loader(KARPATHY, KARPATHY_FORM, _load_karpathy)
LOADER = Loader(MARKS, FORM, _load)
