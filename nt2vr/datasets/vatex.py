"""VATEX (Wang et al., ICCV 2019) with its English captions. Some of its YouTube videos have been deleted."""

from nt2vr.datasets.base import Annotations, Captions, Loader, Split
from nt2vr.datasets.files import Files, expecting, read_json, text

PARTS: dict[str, Split] = {
    "vatex_training_v1*.json": "train",
    "vatex_validation_v1*.json": "validation",
    "vatex_public_test_english_v1*.json": "test",
}
FORM = '[{"videoID", "enCap": […]}, …], from eric-xw.github.io/vatex-website'


def _load(files: Files) -> Annotations:
    """Read the splits present; a video is found by its videoID, such as Ptf_2VRj-V0_000122_000132."""
    splits: dict[Split, Captions] = {}
    for pattern, split in PARTS.items():
        for path in files.named(pattern)[:1]:
            with expecting(path, FORM):
                entries = read_json(path)
                splits[split] = {text(entry["videoID"]): [text(some) for some in entry["enCap"]] for entry in entries}
    return Annotations("VATEX", splits)


LOADER = Loader(tuple(PARTS), FORM, _load)
