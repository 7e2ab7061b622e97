"""A data folder as commit 1c29183 wrote it, the last one before 0.2.0 was reorganised.

models/imported           a CLIP of two 16-pixel layers, its token table without the rows of unused tokens
runs/drawn                finished: 1 epoch on 16 clips of the built-in world
runs/taught               stopped at step 8 of 12 on captions.txt; expected.jsonl: metrics of its uninterrupted twin
evaluation/reports        `imported` on clips/, with a note
evaluation/composed       `imported` on one covr query per kind of change
libraries, embeddings     the library Films, an upload of one video, with its embeddings and preview
cache, frames, owner-token
"""

import tarfile
from pathlib import Path

from tests.support.paths import ROOT

FILE = ROOT / "tests" / "data" / "stored_0_2.tar.xz"


def unpack_stored_data(folder: Path) -> Path:
    """Unpack the data folder into `folder`, and return it."""
    with tarfile.open(FILE) as archive:
        archive.extractall(folder, filter="data")
    return folder
