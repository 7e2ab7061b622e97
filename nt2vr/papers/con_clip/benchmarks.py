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

    pairs_group = _groups_by_pairs(content)
    rows = range(len(paths))[-TEST_SIZE:]
    return [_question(paths[row], annotations[row], pairs_group.get(row, "")) for row in rows]


def _groups_by_pairs(content: Any) -> dict[int, str]:
    """Return the name of each row's group by the number of pairs that its caption was cut into."""
    groups = {}
    for num_pairs, rows in content.get("num_ops", {}).items():
        for row in rows:
            groups[int(row)] = f"{num_pairs} pairs"
    return groups


def _question(path: Any, annotation: Any, pairs_group: str) -> Question:
    caption = text(annotation["json"]["caption"])
    negated = text(annotation["sop_data"]["negative-prompt"]).replace(",", "")
    comma_group = "with a comma" if "," in caption else "without a comma"
    groups = (cue_of(negated), comma_group, pairs_group)
    return Question(text(path), (caption, negated), groups)
