"""MSR-VTT (Xu et al., CVPR 2016): the official split and JSFusion's "1k-A".

nT2VR calls them MSR-VTT3k (2,990 test videos) and MSR-VTT1k (1,000). MSR-VTT1k trains on the other 9,000 videos, or on
the 7,010 that the official split does not test, and has one caption per test video.
"""

from itertools import chain

from nt2vr.datasets.base import Annotations, Captions, Loader, Split, split_named
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
    path = files.named(TEST)[0]
    test: Captions = {}
    with expecting(path, TEST_FORM):
        for _, row in read_table(path, ["video_id"], ["sentence"]):
            test.setdefault(text(row["video_id"]), []).append(text(row["sentence"]))
    captions = dict(chain.from_iterable(split.items() for split in _official(files).values()))
    training = [video_id for video_id in captions if video_id not in test]
    for path in (files.named(TRAINING[0]) or files.named(TRAINING[1]))[:1]:
        with expecting(path, TRAINING_FORM):
            training = [text(row["video_id"]) for _, row in read_table(path, ["video_id"])]
    splits: dict[Split, Captions] = {"test": test}
    if training:
        splits["train"] = {video_id: captions.get(video_id, []) for video_id in training}
    return Annotations("MSR-VTT1k", splits)


def _official(files: Files) -> dict[Split, Captions]:
    """Read the official split: 6,513 videos to train, 497 to validate and 2,990 to test, 20 captions each."""
    # Captions of a video are from the first file that has it, since the file of 2017 repeats those of 2016.
    splits: dict[Split, Captions] = {}
    known: set[str] = set()
    for path in files.named(CAPTIONS[0])[:1] or files.named(CAPTIONS[1]):
        with expecting(path, CAPTIONS_FORM):
            data = read_json(path)
            split_of = {text(video["video_id"]): split_named(text(video["split"])) for video in data["videos"]}
            for sentence in data["sentences"]:
                if (video_id := text(sentence["video_id"])) not in known:
                    captions = splits.setdefault(split_of[video_id], {})
                    captions.setdefault(video_id, []).append(text(sentence["caption"]))
        known |= {video_id for captions in splits.values() for video_id in captions}
    return splits


LOADER_3K = Loader(CAPTIONS, CAPTIONS_FORM, lambda files: Annotations("MSR-VTT3k", _official(files)))
LOADER_1K = Loader((TEST,), TEST_FORM, _load_1k)
