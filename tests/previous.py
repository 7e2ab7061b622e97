"""A data folder that version 0.1 wrote: an imported model, a finished and a stopped run, a report, caches.

    captions.txt  clips/  models/imported/  runs/drawn (finished)  runs/taught (stopped at step 8)  evaluation/  cache/

`runs/taught/expected.jsonl` holds the metrics of the same run, never stopped, as version 0.1 measured them.
"""

import tarfile
from pathlib import Path

from tests.paths import ROOT


def unpack_previous_version(folder: Path) -> Path:
    """Unpack the data folder into `folder`, and return it."""
    with tarfile.open(ROOT / "tests" / "data" / "previous_version.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    return folder
