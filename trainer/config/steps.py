"""How a training proceeds: its batches, its learning rate, its optimizer, and what is computed in which format."""

from typing import Literal

from pydantic import Field

from nt2vr.sections import AnySize, Count, Positive, PositiveOrInfinite, Section, Whole


class BatchSettings(Section):
    """How many batches there are, and how large they are."""

    epochs: Count = Field(
        default=16, description="number of epochs; each ends with validation and a checkpoint"
    )
    passes: Count = Field(
        default=1,
        description="passes per epoch over the clips, each with newly drawn captions, or over the captions",
    )
    batch_size: int = Field(
        default=128,
        description="clips per batch; each caption's negatives are the batch's other videos. Several processes share "
        "a batch",
    )
    accumulate: Count = Field(
        default=1, description="batches per optimizer step; their gradients are averaged"
    )


class RateSettings(Section):
    """The learning rate, and how it changes."""

    learning_rate: Positive = Field(
        default=1e-3, description="peak learning rate, reached after warmup_steps"
    )
    head_learning_rate: AnySize = Field(
        default=0.0,
        description="learning rate of a pooling that learns; 0 for the same as the towers",
    )
    schedule: Literal["cosine", "exponential"] = Field(
        default="cosine",
        description="how the learning rate falls after warm-up: cosine, down to 0, or exponential (the paper's), by "
        "the factor decay every epoch",
    )
    decay: Positive = Field(
        default=0.99, description="learning-rate factor per epoch, if the schedule is exponential"
    )
    warmup_steps: Whole = Field(
        default=60, description="steps until the learning rate peaks; it rises linearly"
    )


class OptimizationSettings(Section):
    """The optimizer, the clipping of gradients, and number formats."""

    optimizer: Literal["adamw", "rmsprop"] = Field(
        default="adamw", description="AdamW or the paper's RMSProp"
    )
    weight_decay: AnySize = Field(
        default=0.05, description="weight decay, applied to matrices only"
    )
    max_grad_norm: PositiveOrInfinite = Field(
        default=1.0, description="maximum gradient norm; longer gradients are clipped to it"
    )
    loss_scale: Positive = Field(
        default=1.0,
        description="factor of the loss during clipping, divided out afterwards. The gradient norm is then at most "
        "max_grad_norm / loss_scale, as in nT2VR's code, where the scale of fp16 starts at 65536",
    )
    precision: Literal["auto", "fp32", "bf16"] = Field(
        default="auto",
        description="number format; bf16 is 2 to 10 times faster on processors that support it, and auto uses it "
        "there",
    )
    gradient_checkpointing: bool = Field(
        default=False,
        description="save memory at the cost of time by computing activations again in the backward pass; for "
        "transformers only",
    )
