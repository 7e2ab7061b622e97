"""VATEX (Wang et al., ICCV 2019), English captions. Some of its YouTube videos have been deleted.

There are two test sets. VATEX's own is the public test. nT2VR, like most work on retrieval, uses
that of Chen et al. (HGR, CVPR 2020), who halve the validation set: val1k5 and test1k5, 1,500 videos
each. Lists of ids choose these, nT2VR's (vatex_val1k5.txt) or HGR's (val_names.npy), whose captions
are in ref_captions.json.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping

from nt2vr.datasets.base import (
    Annotations,
    Captions,
    Listing,
    Loader,
    Split,
    listed_captions,
    read_split_lists,
)
from nt2vr.datasets.files import Files, expecting, read_json, text, texts

PARTS: dict[str, Split] = {
    "vatex_training_v1*.json": "train",
    "vatex_validation_v1*.json": "validation",
    "vatex_public_test_english_v1*.json": "test",
}
# Lists of ids.
LISTS: dict[Split, tuple[str, ...]] = {
    "train": ("vatex_train*.txt", "trn_names.npy"),
    "validation": ("vatex_val1k5*.txt", "val_names.npy"),
    "test": ("vatex_test1k5*.txt", "tst_names.npy"),
}
CAPTIONS = "ref_captions.json"
FORM = '[{"videoID", "enCap": […]}, …], from eric-xw.github.io/vatex-website'
LIST_FORM = "a list of ids, one per line or a NumPy array, such as Ptf_2VRj-V0_000122_000132"
CAPTIONS_FORM = "HGR's captions: {id: [caption, …], …}"
# Start and end of a clip, after the id of the YouTube video.
_SECONDS = re.compile(r"_\d{6}_\d{6}\Z")


def _load(files: Files) -> Annotations:
    """Read the splits present.

    A video is found by its videoID, such as Ptf_2VRj-V0_000122_000132, or by Ptf_2VRj-V0.
    """
    name = "VATEX, public test"
    listings = _official(files)
    captions = {listing.video_id: list(listing.captions) for listing in listings}
    captions |= _reference_captions(files)
    youtube_ids = _youtube_ids(captions)

    # The halves of the validation set replace the official splits, perhaps except for training.
    lists = read_split_lists(files, LISTS, LIST_FORM)
    listed_splits = {split_list.split for split_list in lists}
    if listed_splits - {"train"}:
        name = "VATEX, val1k5 and test1k5"
        official_splits = {"train"} - listed_splits
        listings = [listing for listing in listings if listing.split in official_splits]
        clip_ids = dict(zip(youtube_ids.values(), youtube_ids, strict=True))
        listings += listed_captions(files, lists, captions, ids=clip_ids)
    if not listings:
        listings = [Listing(video_id, of_video) for video_id, of_video in captions.items()]
    return Annotations(name, _with_aliases(listings, youtube_ids))


def _with_aliases(listings: Iterable[Listing], youtube_ids: Mapping[str, str]) -> list[Listing]:
    """Let a clip's file be named by the YouTube video alone, too."""
    return [listing._replace(alias=youtube_ids.get(listing.video_id, "")) for listing in listings]


def _reference_captions(files: Files) -> Captions:
    """Read HGR's captions, if they are in the folder."""
    path = files.single(CAPTIONS)
    if path is None:
        return {}
    with expecting(path, CAPTIONS_FORM):
        return {video_id: texts(values) for video_id, values in read_json(path).items()}


def _official(files: Files) -> list[Listing]:
    listings = []
    for pattern, split in PARTS.items():
        path = files.single(pattern)
        if path is None:
            continue
        with expecting(path, FORM):
            for number, entry in enumerate(read_json(path), 1):
                listings.append(
                    Listing(
                        video_id=text(entry["videoID"]),
                        captions=texts(entry["enCap"]),
                        split=split,
                        place=f"{files.relative(path)}, entry {number}",
                    )
                )
    return listings


def _youtube_ids(captions: Captions) -> dict[str, str]:
    """Return the YouTube ids of clips; of several clips of one video, none."""
    clips_of = defaultdict[str, list[str]](list)
    for video_id in captions:
        clips_of[_SECONDS.sub("", video_id)].append(video_id)

    return {clips[0]: youtube_id for youtube_id, clips in clips_of.items() if len(clips) == 1}


LOADER = Loader((*PARTS, CAPTIONS), FORM, _load)
