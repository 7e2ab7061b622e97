"""What a training reads: its data, and the frames of each clip."""

from typing import TYPE_CHECKING, Literal, Self, get_args

from pydantic import Field, model_validator

from nt2vr.errors import ConfigError
from nt2vr.extension import poolings
from nt2vr.models.card import LEARNT
from nt2vr.sections import Count, Section, Whole
from nt2vr.world import WORLD

Means = Literal["base", "mean", "raw_mean", "query_scored"]
if TYPE_CHECKING:
    # A type checker does not know the names of extensions' poolings.
    Pooling = str
else:
    Pooling = Literal[(*get_args(Means), *LEARNT, *poolings())]


class DatasetSettings(Section):
    """Which clips and captions are trained on, and how many."""

    data: str = Field(
        default=WORLD,
        description="training data: world for the built-in world, or the path of a dataset. For distill alone, which "
        "needs no videos, also a file of captions in any query-set format",
    )
    num_clips: Count = Field(
        default=32_000,
        description="training clips, or captions if only these are read; for a dataset, at most this many",
    )
    add_world: bool = Field(
        default=False,
        description="fill up with captions of the built-in world, if the data has fewer than num_clips; for distill "
        "alone",
    )
    num_captions: Whole = Field(
        default=0,
        description="maximum number of captions per epoch of a dataset, each taken once, as in the paper. 0 draws one "
        "caption per clip and pass. Validation searches with all captions of the held-out clips",
    )

    @model_validator(mode="after")
    def _check_data(self) -> Self:
        if not self.data.strip():
            raise ConfigError("data is empty. Enter world, or the path of a dataset.")
        return self

    @property
    def is_world(self) -> bool:
        """True for the built-in world, False for a dataset."""
        return self.data == WORLD


class FrameSettings(Section):
    """Which frames of a clip are used, and how they become one vector."""

    num_frames: Count = Field(
        default=4,
        description="frames stored per clip; the trained model also expects as many per video",
    )
    positions: Literal["base", "centres", "ends"] = Field(
        default="base",
        description="where frames are taken from a video: centres are those of equal segments; ends are spaced evenly "
        "from end to end, as in nT2VR's code; base is as for the base. Without a base, base means centres",
    )
    pooling: Pooling = Field(
        default="base",
        description="how frames become one vector: by their mean; by raw_mean, which does not "
        "normalise them first, as in nT2VR's code; or as for the base. Without a base, base means "
        "mean. Two poolings have weights that learn: seqTransf, CLIP4Clip's, which knows the "
        "order of frames (unit_seqTransf is the same over normalised frames), and attention. "
        "query_scored trains like mean, and searches with frames weighted by each query",
    )
    frames_per_step: Count = Field(
        default=1, description="random frames per clip and step, kept in order"
    )
    flip: bool = Field(
        default=True,
        description="mirror clips at random; turn it off if captions mention left or right",
    )

    @model_validator(mode="after")
    def _check_frames_per_step(self) -> Self:
        if self.frames_per_step > self.num_frames:
            raise ConfigError(
                f"frames_per_step ({self.frames_per_step}) must not exceed num_frames ({self.num_frames})."
            )
        return self
