"""VATEX (Wang et al., ICCV 2019), English captions. Some of its YouTube videos have been deleted.

There are two test sets. VATEX's own is the public test. nT2VR, like most work on retrieval, uses that of Chen et al.
(HGR, CVPR 2020), who halve the validation set: val1k5 and test1k5, 1,500 videos each. Lists of ids choose these,
nT2VR's (vatex_val1k5.txt) or HGR's (val_names.npy), whose captions are in ref_captions.json.
"""

import re
from collections import Counter

from nt2vr.datasets.base import Annotations, Captions, Loader, Split, listed_splits
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
    splits = _parts(files)
    captions = {video_id: some for part in splits.values() for video_id, some in part.items()}
    for path in files.named(CAPTIONS)[:1]:
        with expecting(path, CAPTIONS_FORM):
            captions |= {video_id: [text(one) for one in some] for video_id, some in read_json(path).items()}
    youtube = _youtube_ids(captions)
    full = {short: video_id for video_id, short in youtube.items()}
    lists = listed_splits(files, LISTS, LIST_FORM, captions, full)
    if lists.keys() - {"train"}:  # the halves replace the official splits
        splits = {"train": splits.get("train", {}), **lists} if "train" in splits else lists
        return Annotations("VATEX, val1k5 and test1k5", splits, aliases=youtube)
    return Annotations("VATEX, public test", splits or {"all": captions}, aliases=youtube)


def _parts(files: Files) -> dict[Split, Captions]:
    splits: dict[Split, Captions] = {}
    for pattern, split in PARTS.items():
        for path in files.named(pattern)[:1]:
            with expecting(path, FORM):
                entries = read_json(path)
                splits[split] = {text(entry["videoID"]): [text(some) for some in entry["enCap"]] for entry in entries}
    return splits


def _youtube_ids(captions: Captions) -> dict[str, str]:
    """Return the YouTube ids of clips; of several clips of one video, none."""
    short = {video_id: _SECONDS.sub("", video_id) for video_id in captions}
    counts = Counter(short.values())
    return {video_id: name for video_id, name in short.items() if counts[name] == 1}


LOADER = Loader((*PARTS, CAPTIONS), FORM, _load)
