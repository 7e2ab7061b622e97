"""MSR-VTT (Xu et al., CVPR 2016): the official split and JSFusion's "1k-A".

nT2VR calls them MSR-VTT3k (2,990 test videos) and MSR-VTT1k (1,000). MSR-VTT1k trains on the other
9,000 videos, or on the 7,010 that the official split does not test, and has one caption per test
video.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from nt2vr.datasets.base import Annotations, Listing, Loader, split_named
from nt2vr.datasets.files import Files, expecting, read_json, read_table, text

CAPTIONS = ("MSRVTT_data.json", "*videodatainfo*.json")
TEST = "MSRVTT_JSFUSION_test.csv"
TRAINING = ("MSRVTT_train.9k.csv", "MSRVTT_train.7k.csv")
FROM_CLIP4CLIP = "of CLIP4Clip's msrvtt_data.zip (github.com/ArrowLuo/CLIP4Clip)"
CAPTIONS_FORM = (
    f"MSRVTT_data.json {FROM_CLIP4CLIP} or the videodatainfo JSON of the MSR-VTT challenge: "
    '{"videos": [{"video_id", "split"}, …], "sentences": [{"video_id", "caption"}, …]}'
)
TEST_FORM = f'a CSV with the columns "video_id" and "sentence", {FROM_CLIP4CLIP}'
TRAINING_FORM = f'a CSV with the column "video_id", {FROM_CLIP4CLIP}'


def _load_1k(files: Files) -> Annotations:
    """Read JSFusion's test videos, and the training videos of a list, or all others."""
    path = files.single(TEST)
    assert path, "the mark was found"
    listings = []
    with expecting(path, TEST_FORM):
        for place, row in read_table(path, ["video_id"], ["sentence"]):
            listings.append(
                Listing(
                    video_id=text(row["video_id"]),
                    captions=[text(row["sentence"])],
                    split="test",
                    place=f"{files.relative(path)}, {place}",
                )
            )

    captions = {listing.video_id: listing.captions for listing in _official(files)}
    list_path = files.single(TRAINING[0]) or files.single(TRAINING[1])
    if list_path:
        listings += _training_list(files, list_path, captions)
    else:
        test_ids = {listing.video_id for listing in listings}
        for video_id, texts in captions.items():
            if video_id not in test_ids:
                listings.append(Listing(video_id, texts, "train"))
    return Annotations("MSR-VTT1k", listings)


def _training_list(
    files: Files, path: Path, captions: Mapping[str, Sequence[str]]
) -> list[Listing]:
    listings = []
    with expecting(path, TRAINING_FORM):
        for place, row in read_table(path, ["video_id"]):
            video_id = text(row["video_id"])
            listings.append(
                Listing(
                    video_id=video_id,
                    captions=captions.get(video_id, []),
                    split="train",
                    place=f"{files.relative(path)}, {place}",
                )
            )
    return listings


def _official(files: Files) -> list[Listing]:
    """Read the official split, 20 captions each: 6,513 training, 497 validation, 2,990 test."""
    # Captions of a video are from the first file that has it, since the file of 2017 repeats those
    # of 2016.
    path = files.single(CAPTIONS[0])
    paths = [path] if path else files.named(CAPTIONS[1])
    listings: list[Listing] = []
    for path in paths:
        read_ids = {listing.video_id for listing in listings}
        with expecting(path, CAPTIONS_FORM):
            listings += _read_captions(path, files.relative(path), read_ids)
    return listings


def _read_captions(path: Path, source: str, read_ids: Collection[str]) -> list[Listing]:
    """Describe the videos of a file that have captions, but not those that have been read."""
    content = read_json(path)
    captions = defaultdict[str, list[str]](list)
    for sentence in content["sentences"]:
        captions[text(sentence["video_id"])].append(text(sentence["caption"]))

    # A video may be listed twice by mistake.
    listings_of: dict[str, list[Listing]] = {}
    for number, video in enumerate(content["videos"], 1):
        video_id = text(video["video_id"])
        listings_of.setdefault(video_id, []).append(
            Listing(
                video_id=video_id,
                captions=captions.get(video_id, []),
                split=split_named(text(video["split"])),
                place=f"{source}, video {number}",
            )
        )

    listings = []
    for video_id in captions:
        if video_id not in read_ids:
            listings += listings_of[video_id]
    return listings


LOADER_3K = Loader(
    CAPTIONS, CAPTIONS_FORM, lambda files: Annotations("MSR-VTT3k", _official(files))
)
LOADER_1K = Loader((TEST,), TEST_FORM, _load_1k)
