"""An input of a loss: what a batch has besides captions and videos, from drawing it to its embeddings."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, ClassVar, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from nt2vr.errors import ConfigError
from nt2vr.models.encoder import Vectors
from nt2vr.progress import Progress, silent
from trainer.config import TrainConfig
from trainer.data.clips import Clips
from trainer.data.sentences import DrawnCaption
from trainer.distributed import share

# Rows of clips, or numbers of frames or captions.
Numbers = NDArray[np.int64]
Drawn = TypeVar("Drawn")
Embedded = TypeVar("Embedded")
T = TypeVar("T")


class Draw(NamedTuple):
    """A clip with one of its captions: the one of this number, or one that `key` draws."""

    row: int
    number: int | None
    key: str


class Input(Generic[Drawn, Embedded]):
    """What a loss needs in a batch. A loss names the class among its `inputs`; each run has an object of its own.

    The methods are called in the order in which they stand here: `check` and `check_base` before a
    run starts, `prepare` to `card_fields` once per run, `draw` to `embed` for each batch. `draw`
    and `embed` are the only ones that every input has.

    What `draw` returns may depend on nothing but the clips, the config, the epoch and the step, as
    in a resumed run.
    """

    # Inputs whose draws this one reads, or whose objects it uses.
    uses: ClassVar["InputFactories"] = ()
    # It needs the clips' videos. If no input does, a training reads captions alone.
    reads_videos = False
    # It needs embeddings of single frames, which a frozen visual tower makes beforehand.
    reads_frames = False
    # It needs sentences that deny something, which are made of parsed captions.
    parses_captions = False
    # It needs clips that have the same caption in all epochs, even where captions are generated.
    fixes_captions = False
    # It needs to know what each clip shows, as only the built-in world tells.
    needs_world = False
    # It compares with videos or texts as the starting model embeds them.
    needs_frozen_videos = False

    def check(self, config: TrainConfig, loss: str) -> None:
        """Raise a ConfigError if a config rules out the loss of this name, which has this input."""
        if self.needs_world and not config.dataset.is_world:
            raise ConfigError(
                f"The loss {loss} must know what each clip shows, which only the built-in world says. "
                "Set data to world, or choose other losses."
            )
        if self.needs_frozen_videos and config.encoder.trains_visual:
            raise ConfigError(f"{loss} needs a frozen visual tower. Set train to text.")

    def check_base(self, config: TrainConfig, loss: str) -> None:
        """Raise a ConfigError if the base, whose card can be read by now, rules out the loss."""

    def join(self, other: "Input[Drawn, Embedded]") -> None:
        """Take over what another object of this class is to do, for another loss of the same run."""

    def prepare(self, clips: Clips, config: TrainConfig, progress: Progress) -> None:
        """Compute what `draw` draws from, such as texts of all training clips."""

    def known_texts(self, row: int) -> list[str]:
        """Return all texts that it may draw for a clip, if they are known beforehand.

        A resumed run compares them, and the captions, to notice that its data has changed.
        """
        return []

    def example_texts(
        self, row: int, caption: DrawnCaption, preparation: "Preparation"
    ) -> list[str]:
        """Return texts like those that it will draw for a clip with this caption.

        The token rows of their words are set up before the first step.
        """
        return self.known_texts(row)

    def load(self, preparation: "Preparation") -> None:
        """Load a model of its own, once the videos have been embedded."""

    def card_fields(self) -> dict[str, Any]:
        """Return values of fields that the cards of checkpoints get."""
        return {}

    def draw(self, drawing: "Drawing") -> Drawn:
        """Draw it for a batch."""
        raise NotImplementedError

    def texts(self, drawn: Drawn) -> Sequence[str]:
        """Return the texts of a batch to embed by the model in training."""
        return ()

    def embed(
        self, drawn: Drawn, texts: Tensor, batch: "EmbeddedBatch", towers: "Towers"
    ) -> Embedded:
        """Return what the loss reads as `batch.of(…)`.

        Args:
            drawn: what `draw` returned, in this process.
            texts: (n, D), L2-normalised embeddings of `texts(drawn)`.
            batch: embeddings of all processes, of which the inputs that this one uses are already
                there.
            towers: the model in training.
        """
        raise NotImplementedError


AnyInput = Input[Any, Any]
InputT = TypeVar("InputT", bound=AnyInput)
InputFactory = Callable[[], AnyInput]
InputFactories = tuple[InputFactory, ...]
# What inputs have drawn, or embedded, by their class.
ByInput = dict[type[AnyInput], Any]


class Inputs:
    """The inputs of a run's losses, one object per class, in the order in which their texts are embedded."""

    def __init__(self, inputs: Iterable[AnyInput]) -> None:
        self._by_class = {type(loss_input): loss_input for loss_input in inputs}

    def __iter__(self) -> Iterator[AnyInput]:
        return iter(self._by_class.values())

    def __contains__(self, kind: type[AnyInput]) -> bool:
        return kind in self._by_class

    def of(self, kind: type[InputT]) -> InputT:
        """Return the object of a class that the run has."""
        built = self._by_class[kind]
        assert isinstance(built, kind)
        return built


@dataclass(frozen=True)
class Preparation:
    """A training before its first step.

    Attributes:
        videos: (N, D), L2-normalised embeddings of all clips by the frozen visual tower, or means
            of their frames'; None while that tower learns, without videos, and before they are
            embedded.
        shared: what an input keeps for others until the first step, by its class.
        cache: folder of results that a killed training reads when it starts again; None stores
            nothing.
    """

    clips: Clips
    config: TrainConfig
    device: str
    progress: Progress = silent
    cache: Path | None = None
    videos: Vectors | None = None
    shared: ByInput = field(default_factory=dict)

    @property
    def key(self) -> str:
        """The start of the seeds of captions and sentences drawn meanwhile."""
        return f"{self.config.run.seed} tokens"


@dataclass(frozen=True)
class Drawing:
    """A batch that is being drawn, of B clips; b of them are this process's share.

    Attributes:
        draws: the B clips and captions of all processes.
        captions: this process's b captions, or fewer, those that `keep_share` leaves.
        drawn: what earlier inputs have drawn, by their class.
    """

    clips: Clips
    config: TrainConfig
    epoch: int
    step: int
    draws: Sequence[Draw]
    captions: Sequence[DrawnCaption]
    drawn: ByInput

    @property
    def rows(self) -> Numbers:
        """Rows of the clips of all processes: (B,)."""
        return np.array([draw.row for draw in self.draws], np.int64)

    @property
    def share(self) -> slice:
        """This process's share of the B clips."""
        return share(len(self.draws))

    @property
    def own_draws(self) -> Sequence[Draw]:
        """This process's b clips and captions."""
        return self.draws[self.share]

    def of(self, kind: type[Input[T, Any]]) -> T:
        """Return what an input that the asking one `uses` has drawn."""
        drawn: T = self.drawn[kind]
        return drawn

    def seed(self, *numbers: int) -> tuple[int, ...]:
        """Return a seed for NumPy's generators: equal numbers give equal seeds in the same step."""
        return (self.config.run.seed, self.epoch, self.step, *numbers)

    def rng(self, name: str) -> Random:
        """Return a generator: equal names give equal generators in the same step."""
        seed = self.config.run.seed
        return Random(f"{seed} {self.epoch} {self.step} {name}")


@dataclass(frozen=True)
class EmbeddedBatch:
    """One batch as the losses see it; row i of video and caption describes the same clip.

    Attributes:
        video: (B, D), L2-normalised, pooled over frames; None without videos.
        caption: (B, D), L2-normalised; fewer rows with `keep_share`.
        logit_scale: scalar factor of cosines before a softmax (1 / temperature).
        inputs: what each input has embedded.
        spaces: K, the number of spaces of equal length that a vector joins; each part has length
            1 / √K.
    """

    video: Tensor | None
    caption: Tensor
    logit_scale: Tensor
    inputs: ByInput = field(default_factory=dict)
    spaces: int = 1

    def of(self, kind: type[Input[Any, T]]) -> T:
        """Return what an input has embedded; a ValueError says that the loss has not named it."""
        if kind not in self.inputs:
            raise ValueError(
                f"The batch lacks {kind.__name__}, which this loss reads. Name it among its inputs."
            )
        embedded: T = self.inputs[kind]
        return embedded


def given(value: T | None) -> T:
    """Return a value of the batch that the loss needs."""
    if value is None:
        raise ValueError("The batch lacks what this loss needs (see its `inputs`).")
    return value


class Towers(Protocol):
    """What inputs may use of the model in training."""

    config: TrainConfig
    device: str

    def stored_videos(self, rows: Numbers | Tensor) -> Tensor:
        """Return L2-normalised embeddings of training clips: (n, D)."""

    def pool_frames(self, rows: Numbers, frames: Numbers) -> Tensor:
        """Pool frames of training clips, given by (n, F) rows of clips and numbers of frames in them: (n, D)."""
