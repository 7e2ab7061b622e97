"""CC-Neg, the benchmark of CoN-CLIP.

ccneg_preprocessed.pt   {"image_paths": […], "annotations": [{"json", "sop_data"}, …], "num_ops"}
"""

from pathlib import Path
from typing import Any

from nt2vr.datasets.files import text
from nt2vr.evaluation.queries import cue_of
from nt2vr.evaluation.tasks import Question
from nt2vr.models.foreign_file import read_tensors
from nt2vr.progress import Progress

TEST_SIZE = 40_000  # the last rows of CC-Neg, which its authors evaluate on


def read_cc_neg(file: Path, progress: Progress) -> list[Question]:
    """Read CC-Neg's last rows. As in its authors' code, negated captions lose their commas, and only they do."""
    data: Any = read_tensors(file)
    paths, notes = data["image_paths"], data["annotations"]
    if len(paths) != len(notes):
        raise ValueError(f"it has {len(paths)} pictures and {len(notes)} annotations")
    pairs = {
        int(row): f"{count} pairs"
        for count, rows in data.get("num_ops", {}).items()
        for row in rows
    }
    questions = []
    for row in range(max(0, len(paths) - TEST_SIZE), len(paths)):
        caption = text(notes[row]["json"]["caption"])
        foil = text(notes[row]["sop_data"]["negative-prompt"]).replace(",", "")
        groups = (
            cue_of(foil),
            "with a comma" if "," in caption else "without a comma",
            pairs.get(row, ""),
        )
        questions.append(Question(text(paths[row]), (caption, foil), groups))
    return questions
