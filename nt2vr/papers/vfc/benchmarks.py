"""Benchmarks that VFC is measured on: SVO-Probes and NExT-QA.

SVO-Probes   a CSV: sentence, pos_image_id, neg_image_id; subj_neg, verb_neg and obj_neg name the group
NExT-QA      a CSV: question, answer, a0 … a4, type, which is causal, temporal or descriptive
"""

import re
from collections.abc import Sequence
from pathlib import Path

from nt2vr.evaluation.queries import JudgedQuery, row_array
from nt2vr.evaluation.task_data import Task, named_files
from nt2vr.evaluation.tasks import Question, Row, file_of

SVO_GROUPS = {"subj_neg": "subject", "verb_neg": "verb", "obj_neg": "object"}

# Columns of NExT-QA's answers.
ANSWER_COLUMN = re.compile(r"a\d")
# Kinds of questions by the first letter of NExT-QA's types: CW is a causal "why".
QUESTION_TYPES = {"C": "causal", "T": "temporal", "D": "descriptive"}


def read_svo_probes(lines: Sequence[Row], path: Path, prompts: str) -> Task:
    """Ask which of two pictures a sentence describes."""
    names = []
    for line in lines:
        names += [line["pos_image_id"], line["neg_image_id"]]
    files = named_files(names, path.parent)
    queries = []
    for line, right, wrong in zip(lines, files.rows[::2], files.rows[1::2], strict=True):
        query = JudgedQuery(
            kind="picture",
            text=line["sentence"],
            relevant=row_array((right,)),
            hard=row_array((wrong,)),
            group="; ".join(_svo_groups(line)),
        )
        queries.append(query)
    return Task(files.videos, queries, unclear=files.unclear)


def _svo_groups(line: Row) -> list[str]:
    """Return what differs between the two pictures of a line."""
    return [name for column, name in SVO_GROUPS.items() if line[column].lower() == "true"]


def read_next_qa(row: Row, fold: str) -> Question:
    """Ask “question answer”, as VFC does."""
    # Without None, which has what a line has beyond the last column.
    named_columns = filter(None, row)
    columns = sorted(filter(ANSWER_COLUMN.fullmatch, named_columns))
    answers = [f"{row['question']} {row[column]}" for column in columns]
    question_type = row["type"]
    groups = (QUESTION_TYPES.get(question_type[:1], ""), question_type)
    return Question(
        file=file_of(row),
        answers=answers,
        groups=groups,
        right=int(row["answer"]),
        kind="choice",
    )
