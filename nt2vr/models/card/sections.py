"""The sections of a card. A field whose key in nt2vr.json has another name says that name as its alias."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, FiniteFloat

from nt2vr.errors import quoted
from nt2vr.extension import poolings
from nt2vr.files import JsonObject
from nt2vr.models.capabilities import VideoInputName
from nt2vr.models.card.names import MEAN, OF_RAW, POOLINGS
from nt2vr.models.framing import BICUBIC, DEFAULT_SIZE, SHORTEST

T = TypeVar("T")
DEFAULT_FRAMES = 8


class CardSection(BaseModel):
    """Fields of one subject, frozen; every field has a description."""

    # Checked as a part of its card, so that nothing is compiled for it alone, which takes a
    # millisecond at start-up.
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class CardEntry(CardSection):
    """A section that not every model has, with one key in nt2vr.json; its types are exact.

    An unknown key is refused: it may say something that changes embeddings.
    """

    model_config = ConfigDict(strict=True, defer_build=False)

    def as_stored(self) -> JsonObject:
        """Return the keys that were given, and no defaults: keys of stored embeddings are made from them."""
        return self.model_dump(exclude_unset=True)


def _read_nothing(value: Any) -> Any:
    """Read {} as None: files have it in the place of an entry that a model does not have."""
    return None if value == {} else value


# An entry that not every model has.
OrNothing = Annotated[T | None, BeforeValidator(_read_nothing)]


def _check_pooling(name: str) -> str:
    if name not in POOLINGS and name not in poolings():
        raise ValueError(f"there is no pooling {quoted(name)}")
    return name


class HeadEntry(CardEntry):
    """About the file of a pooling that learns, head.safetensors."""

    heads: int | None = Field(
        default=None, description="heads of attention, of a pooling that has some"
    )
    # In the name of a file, and in keys whose parts are told apart by spaces.
    fingerprint: Annotated[str, Field(pattern=r"^\w*$")] = Field(
        default="", description="hash of the weights as stored, and of heads"
    )


class ClipFraming(CardEntry):
    """How the frames of a model that takes whole clips differ from squares."""

    width: int = Field(default=0, description="width of a frame in pixels; 0 for as wide as high")
    resize_mode: str = Field(
        default=SHORTEST, description="shortest crops, longest pads, squash distorts"
    )


class ClipSection(CardEntry):
    """A model of another library that takes whole clips."""

    loader: str = Field(description="library that loads it: sentence-transformers or transformers")
    instruction: str = Field(default="", description="instruction that precedes every query")
    revision: str = Field(
        default="", description="revision of the repository that it came from; empty for a folder"
    )
    # Not converted: 2 and 2.0 would be two keys of embeddings.
    fps: int | float = Field(
        default=0.0, description="frames per second; 0 for the same number of every clip"
    )
    least: int = Field(default=1, description="least number of frames of a short clip")
    framing: ClipFraming | None = Field(
        default=None, description="how its frames differ from squares"
    )
    dimensions: int = Field(
        default=0, description="length of its embeddings; 0 for the model's own"
    )


class DifferenceSection(CardEntry):
    """A checkpoint that holds only what differs from another model, in difference.safetensors."""

    model: str = Field(default="", description="name of the whole model that has the other tensors")
    fingerprint: str = Field(default="", description="of that model's weights: `Card.as_base`")


class VisualSection(CardSection):
    """The visual tower, and what is read instead of frames: the name of an extension's input, under its kind."""

    model_config = ConfigDict(extra="allow")

    __pydantic_extra__: dict[str, str]
    fingerprint: str = Field(
        default="", alias="visual_fingerprint", description="hash of the visual tower's weights"
    )
    settings: str = Field(
        default="",
        alias="visual_settings",
        description="derived: hash of what else changes the embedding of a frame",
    )

    @property
    def input(self) -> VideoInputName | None:
        """The extension's input that is read instead of frames; None for frames."""
        for kind, name in self.__pydantic_extra__.items():
            if name:
                return VideoInputName(kind, name)
        return None


class FramingSection(CardSection):
    """The frames that a model sees of a video."""

    frames: Annotated[int, Field(gt=0)] = Field(
        default=DEFAULT_FRAMES, description="frames per video"
    )
    image_size: int = Field(
        default=DEFAULT_SIZE,
        description="height of a frame in pixels; stored, so that frames can be decoded before torch is imported",
    )
    positions: Literal["centres", "ends"] = Field(
        default="centres",
        description="centres of equal segments of a video, or evenly spaced with both ends",
    )
    resize_mode: str = Field(
        default=SHORTEST, description="derived: shortest crops, longest pads, squash distorts"
    )
    interpolation: str = Field(default=BICUBIC, description="derived: how pixels are interpolated")
    fill_color: int = Field(default=0, description="derived: grey level of the padding")


class PoolingSection(CardSection):
    """How frame embeddings become a video's embedding."""

    name: Annotated[str, AfterValidator(_check_pooling)] = Field(
        default=MEAN,
        alias="pooling",
        description="mean, raw_mean, query_scored, or one that learns",
    )
    head: OrNothing[HeadEntry] = Field(
        default=None, description="about the file of a pooling that learns"
    )

    @property
    def normalises_frames(self) -> bool:
        """True if frames are pooled as unit vectors, rather than as the tower returns them."""
        of_extension = poolings().get(self.name)
        if of_extension is not None:
            return of_extension.normalises_frames
        return self.name not in OF_RAW


class TextSideEntry(NamedTuple):
    """About the file of a text side that an extension adds."""

    # As in `Extension.text_sides`.
    name: str
    # In nt2vr.json, under that name.
    stored: Mapping[str, str]

    @property
    def fingerprint(self) -> str:
        """Hash of the weights as stored, and of what else it is made from."""
        return self.stored.get("fingerprint", "")


class TextSection(CardSection):
    """The text side: an open_clip model's tower, or one of an extension, whose entry is under its name."""

    model_config = ConfigDict(extra="allow")

    __pydantic_extra__: dict[str, OrNothing[dict[str, str]]]
    fingerprint: str = Field(
        default="",
        alias="text_fingerprint",
        description="hash of the text tower's weights, and of a tokenizer of its own",
    )
    queries: int = Field(
        default=0,
        description="number of texts that a file of embeddings knows; 0 for a model that reads any",
    )
    settings: str = Field(
        default="",
        alias="text_settings",
        description="derived: hash of what else changes the embedding of a text",
    )

    @property
    def side(self) -> TextSideEntry | None:
        """About the extension's text side that replaces the tower; None for the tower."""
        for name, stored in self.__pydantic_extra__.items():
            if stored is not None:
                return TextSideEntry(name, stored)
        return None


class ComposersSection(CardSection):
    """The composers of extensions, each of which has its entry under its name."""

    model_config = ConfigDict(extra="allow")

    __pydantic_extra__: dict[str, OrNothing[JsonObject]]

    @property
    def entries(self) -> dict[str, Mapping[str, Any]]:
        """About the files of the composers that the model has, by name."""
        return {name: entry for name, entry in self.__pydantic_extra__.items() if entry is not None}


class TrainingSection(CardSection):
    """What a model was trained on, and how."""

    objective: str = Field(default="", description="names of the losses, in words")
    losses: Mapping[str, Mapping[str, Any]] = Field(
        default_factory=dict, description="loss name to weight and hyperparameters"
    )
    data: str = Field(default="", description="what it was trained on")
    epoch: int = Field(default=0, description="epochs of the run so far")
    shifts: Mapping[str, FiniteFloat] = Field(
        default_factory=dict,
        description="numbers that an input of the losses records about the texts of the training, "
        "by name",
    )
    changes: tuple[Mapping[str, FiniteFloat | int], ...] = Field(
        default=(),
        description="of a run whose loss became non-finite: from which epoch and step on it was resumed at which "
        "lower learning_rate",
    )
