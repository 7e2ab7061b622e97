"""VATEX (Wang et al., ICCV 2019), English captions. Some of its YouTube videos have been deleted.

There are two test sets. VATEX's own is the public test. nT2VR, like most work on retrieval, uses
that of Chen et al. (HGR, CVPR 2020), who halve the validation set: val1k5 and test1k5, 1,500 videos
each. Lists of ids choose these, nT2VR's (vatex_val1k5.txt) or HGR's (val_names.npy), whose captions
are in ref_captions.json.
"""

import re
from collections import Counter

from nt2vr.datasets.base import (
    Annotations,
    Captions,
    Listing,
    Loader,
    Split,
    listed_captions,
    read_split_lists,
)
from nt2vr.datasets.files import Files, expecting, read_json, text

PARTS: dict[str, Split] = {
    "vatex_training_v1*.json": "train",
    "vatex_validation_v1*.json": "validation",
    "vatex_public_test_english_v1*.json": "test",
}
LISTS: dict[Split, tuple[str, ...]] = {  # of ids
    "train": ("vatex_train*.txt", "trn_names.npy"),
    "validation": ("vatex_val1k5*.txt", "val_names.npy"),
    "test": ("vatex_test1k5*.txt", "tst_names.npy"),
}
CAPTIONS = "ref_captions.json"
FORM = '[{"videoID", "enCap": […]}, …], from eric-xw.github.io/vatex-website'
LIST_FORM = "a list of ids, one per line or a NumPy array, such as Ptf_2VRj-V0_000122_000132"
CAPTIONS_FORM = "HGR's captions: {id: [caption, …], …}"
_SECONDS = re.compile(r"_\d{6}_\d{6}\Z")  # after the id of the YouTube video


def _load(files: Files) -> Annotations:
    """Read the splits present; a video is found by its videoID, such as Ptf_2VRj-V0_000122_000132, or Ptf_2VRj-V0."""
    listings = _parts(files)
    captions: Captions = {listing.video_id: list(listing.captions) for listing in listings}
    captions |= _reference_captions(files)
    youtube = _youtube_ids(captions)
    full_ids = {short: video_id for video_id, short in youtube.items()}
    lists = read_split_lists(files, LISTS, LIST_FORM)
    name = "VATEX, public test"
    if any(split != "train" for split, _, _ in lists):  # the halves replace the official splits
        name = "VATEX, val1k5 and test1k5"
        has_training_list = any(split == "train" for split, _, _ in lists)
        training = (
            []
            if has_training_list
            else [listing for listing in listings if listing.split == "train"]
        )
        listings = [*training, *listed_captions(files, lists, captions, full_ids)]
    if not listings:
        listings = [Listing(video_id, texts) for video_id, texts in captions.items()]
    return Annotations(
        name, [listing._replace(alias=youtube.get(listing.video_id, "")) for listing in listings]
    )


def _reference_captions(files: Files) -> Captions:
    """Read HGR's captions, where they are."""
    path = files.single(CAPTIONS)
    if path is None:
        return {}
    with expecting(path, CAPTIONS_FORM):
        entries = read_json(path).items()
        return {video_id: [text(caption) for caption in captions] for video_id, captions in entries}


def _parts(files: Files) -> list[Listing]:
    listings = []
    for pattern, split in PARTS.items():
        path = files.single(pattern)
        if path is None:
            continue
        with expecting(path, FORM):
            for number, entry in enumerate(read_json(path), 1):
                captions = [text(caption) for caption in entry["enCap"]]
                place = f"{files.relative(path)}, entry {number}"
                listings.append(Listing(text(entry["videoID"]), captions, split, place))
    return listings


def _youtube_ids(captions: Captions) -> dict[str, str]:
    """Return the YouTube ids of clips; of several clips of one video, none."""
    short = {video_id: _SECONDS.sub("", video_id) for video_id in captions}
    counts = Counter(short.values())
    return {video_id: name for video_id, name in short.items() if counts[name] == 1}


LOADER = Loader((*PARTS, CAPTIONS), FORM, _load)
