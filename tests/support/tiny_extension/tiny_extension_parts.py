"""What the extension adds."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from torch import Tensor

from nt2vr.evaluation.queries import JudgedQuery, row_array
from nt2vr.evaluation.task_data import Task, named_files
from nt2vr.evaluation.tasks import Row, file_of
from nt2vr.search.strategies import Parts, Strategy, Vector
from trainer.inputs import EmbeddedBatch, Video, given
from trainer.loss_settings import option


@dataclass(frozen=True)
class PullLoss:
    """Pull captions towards their videos."""

    strength: float = option(1.0, "factor of the distance")
    inputs = (Video,)

    def __call__(self, batch: EmbeddedBatch) -> Tensor:
        cosines = (given(batch.video) * batch.caption).sum(dim=-1)
        return self.strength * (1 - cosines).mean()


def opposite(parts: Parts) -> Vector | None:
    """Search for what is least like the sentence."""
    return None if parts.sentence is None else -parts.sentence


OPPOSITE = Strategy(opposite, "the opposite of the sentence", ("sentence",))


def read_captions(lines: Sequence[Row], path: Path, prompts: str) -> Task:
    """Read a CSV file with the columns tiny_caption and path."""
    files = named_files([file_of(line) for line in lines], path.parent)
    queries = [
        JudgedQuery("retrieval", line["tiny_caption"], row_array((row,)))
        for line, row in zip(lines, files.rows, strict=True)
    ]
    return Task(files.videos, queries, unclear=files.unclear)


def count_words(sentence: str, /) -> None:
    """Count the words of a sentence."""
    sys.stdout.write(f"{len(sentence.split())}\n")
