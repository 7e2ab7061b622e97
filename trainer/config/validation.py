"""What is measured after each epoch, and what a run keeps and reports."""

from itertools import chain
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from nt2vr.evaluation.metric_names import (
    COMPOSED_HARD_PAIRS,
    COMPOSED_MIR,
    NEGATED_DELTA_MIR,
    NOT_AUC,
    ORIGINAL_MIR,
    ORIGINAL_RECALLS,
    TEXT_IDIOMS,
    TEXT_KEPT,
    TEXT_ORDER,
    TEXT_ORDER_IF_KEPT,
    TEXT_TARGET,
    WITHOUT_HARD_PAIRS,
    WITHOUT_MIR,
)
from nt2vr.extension import trainings
from nt2vr.sections import Count, Section, Whole

OF_VIDEOS = (ORIGINAL_MIR, *ORIGINAL_RECALLS)
OF_DENYING = (
    COMPOSED_MIR,
    COMPOSED_HARD_PAIRS,
    WITHOUT_MIR,
    WITHOUT_HARD_PAIRS,
    NOT_AUC,
    NEGATED_DELTA_MIR,
)
# Distillation on captions alone searches no videos.
OF_TEXT = (TEXT_ORDER_IF_KEPT, TEXT_ORDER, TEXT_TARGET, TEXT_KEPT, TEXT_IDIOMS)
_measures = chain.from_iterable(training.measures for training in trainings().values())
OF_EXTENSIONS = tuple(measure.name for measure in _measures)
# What patience can watch; higher is better.
METRICS = (*OF_VIDEOS, *OF_DENYING, *OF_TEXT, *OF_EXTENSIONS)
if TYPE_CHECKING:
    Metric = str
else:
    Metric = Literal[METRICS]


class ValidationSettings(Section):
    """What is measured after each epoch, and what follows from it."""

    validation_clips: Count = Field(
        default=1_000,
        description="held-out clips searched after each epoch; data without a validation split has at most 1,000",
    )
    patience: Whole = Field(
        default=0,
        description="epochs without improvement before the run stops; 0 for never (the paper: 2)",
    )
    monitor: Metric = Field(
        default=ORIGINAL_MIR,
        description="validation metric that decides which epoch is best, and that patience watches",
    )
    keep_checkpoints: Whole = Field(
        default=0, description="newest checkpoints to keep, along with the best; 0 keeps all"
    )


class RunSettings(Section):
    """The run itself: its random numbers, what it reports, and what becomes of its model."""

    seed: int = Field(default=0, description="random seed of weights, clips, captions and order")
    add_model: bool = Field(
        default=False,
        description="add the best epoch to the models when the run has finished, as “BASE taught”; only for a run in "
        "the data folder's runs",
    )
    log_every: Count = Field(default=20, description="steps between two lines of metrics")
    tensorboard: bool = Field(
        default=False,
        description="also write metrics for TensorBoard, into RUN/tensorboard; needs the package tensorboard",
    )
    logger: Literal["", "trackio", "wandb"] = Field(
        default="",
        description="also send metrics to Trackio or Weights & Biases, wherever that is set up to store them; "
        "needs its package",
    )
