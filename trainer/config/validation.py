"""What is measured after each epoch, and what a run keeps and reports."""

from typing import Literal, get_args

from pydantic import Field

from nt2vr.sections import Count, Section, Whole

OfVideos = Literal["original/MIR", "original/R@1", "original/R@5", "original/R@10"]
OfDenying = Literal[
    "composed/MIR",
    "composed/hard_pairs",
    "without/MIR",
    "without/hard_pairs",
    "not/auc",
    "negated/delta_MIR",
]
# of distillation on captions alone; no videos are searched
OfText = Literal["text/order_if_kept", "text/order", "text/target", "text/kept", "text/idioms"]
OfFusion = Literal["fusion/R@1", "fusion/R@5", "fusion/R@10"]  # queries of a picture plus a text
Metric = Literal[
    OfVideos, OfDenying, OfText, OfFusion
]  # validation metrics that patience can watch; higher is better
METRICS: tuple[str, ...] = get_args(Metric)


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
        default="original/MIR",
        description="validation metric that decides which epoch is best; patience goes by it too",
    )
    keep_checkpoints: Whole = Field(
        default=0, description="newest checkpoints to keep, along with the best; 0 keeps all"
    )


class RunSettings(Section):
    """The run itself: its random numbers, what it reports, and what becomes of its model."""

    seed: int = Field(default=0, description="random seed of weights, clips, captions and order")
    add_model: bool = Field(
        default=False,
        description="add the best epoch to the models when finished, as “BASE taught”; only for a run in the data "
        "folder's runs",
    )
    log_every: Count = Field(default=20, description="steps between two lines of metrics")
    tensorboard: bool = Field(
        default=False,
        description="also write metrics for TensorBoard, into RUN/tensorboard; needs the package tensorboard",
    )
    logger: Literal["", "trackio", "wandb"] = Field(
        default="",
        description="also send metrics to Trackio or Weights & Biases, wherever that is set up to; needs its package",
    )
