"""CC-Neg, the benchmark of CoN-CLIP.

ccneg_preprocessed.pt is a dictionary that PyTorch has saved:

    image_paths   path of each picture
    annotations   of each picture {"json": {"caption": …}, "sop_data": {"negative-prompt": …}}, among others;
                  sop is subject, predicate, object, and the negative prompt is the negated caption
    num_ops       {K: rows whose caption was cut into K pairs of predicate and object}
"""

from pathlib import Path
from typing import Any

from nt2vr.datasets.files import text
from nt2vr.evaluation.queries import cue_of
from nt2vr.evaluation.tasks import Question
from nt2vr.models.foreign_file import read_tensors
from nt2vr.progress import Progress

# The last rows of CC-Neg, which its authors evaluate on.
TEST_SIZE = 40_000


def read_cc_neg(file: Path, progress: Progress) -> list[Question]:
    """Read CC-Neg's last rows. As in its authors' code, negated captions lose their commas, and only they do."""
    content: Any = read_tensors(file)
    paths = content["image_paths"]
    annotations = content["annotations"]
    if len(paths) != len(annotations):
        raise ValueError(f"it has {len(paths)} pictures and {len(annotations)} annotations")

    pairs_group: dict[int, str] = {}
    for num_pairs, rows in content.get("num_ops", {}).items():
        for row in rows:
            pairs_group[int(row)] = f"{num_pairs} pairs"

    questions: list[Question] = []
    first_row = max(0, len(paths) - TEST_SIZE)
    for row in range(first_row, len(paths)):
        caption = text(annotations[row]["json"]["caption"])
        negated = text(annotations[row]["sop_data"]["negative-prompt"]).replace(",", "")
        comma_group = "without a comma"
        if "," in caption:
            comma_group = "with a comma"
        groups = (cue_of(negated), comma_group, pairs_group.get(row, ""))
        questions.append(Question(text(paths[row]), (caption, negated), groups))
    return questions
