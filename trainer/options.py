"""Settings: dataclass fields with a default and a help text, whose types also say their ranges. Imports no torch."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Annotated, Any, Literal, TypeVar, get_type_hints

from pydantic import Field, TypeAdapter, ValidationError

from nt2vr.errors import ConfigError, quoted

T = TypeVar("T")
MUST = {  # by pydantic's type of error
    "int_type": "be a whole number",
    "float_type": "be a number",
    "finite_number": "be a finite number",
    "bool_type": "be true or false",
    "string_type": "be text",
    "dict_type": 'be a mapping such as {{"weight": 1.0}}',
    "literal_error": "be {expected}",
    "greater_than": "be above {gt:g}",
    "greater_than_equal": "be at least {ge:g}",
    "less_than_equal": "be at most {le:g}",
}
Count = Annotated[int, Field(ge=1)]
Whole = Annotated[int, Field(ge=0)]
AnySize = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
PositiveOrInfinite = Annotated[float, Field(gt=0)]
Share = Annotated[float, Field(gt=0, le=1)]
ShareOrNone = Annotated[float, Field(ge=0, le=1)]


def option(default: T, text: str) -> T:
    """Declare a dataclass field with its default and help text; instances share a default mapping."""
    if isinstance(default, Mapping):
        return dataclasses.field(default_factory=lambda: default, metadata={"help": text})
    return dataclasses.field(default=default, metadata={"help": text})


def help_of(kind: type) -> dict[str, str]:
    """Return the help text of every field of a dataclass; fields of a loss of one's own may have none."""
    return {one.name: one.metadata.get("help", "") for one in fields(kind)}


@cache
def _adapters(kind: type) -> dict[str, TypeAdapter[Any]]:
    hints = get_type_hints(kind, include_extras=True)
    return {one.name: TypeAdapter(hints[one.name]) for one in fields(kind)}


def check_values(kind: type, values: Mapping[str, Any], of: str = "") -> None:
    """Raise a ConfigError for a value that is no field of a dataclass, or not of its type or range."""
    adapters = _adapters(kind)
    for name, value in values.items():
        if name not in adapters:
            known = ", ".join(sorted(adapters))
            raise ConfigError(f"There is no setting {quoted(name)}{of}. Choose among: {known}.")
        try:
            adapters[name].validate_python(value, strict=True)
        except ValidationError as error:
            problem = error.errors()[0]
            key = ".".join([name, *(str(part) for part in problem["loc"] if part != "[key]")])
            otherwise = problem["msg"].removeprefix("Input should ")
            must = MUST.get(problem["type"], otherwise).format(**problem.get("ctx", {}))
            raise ConfigError(f"{key}{of} must {must}, not {quoted(problem['input'])}.") from None


def read_settings(kind: type[T], values: Mapping[str, Any], of: str = "") -> T:
    """Build a dataclass of settings; `of` says in errors whose they are: " of the loss bnl"."""
    check_values(kind, values, of)
    return kind(**values)


@dataclass(frozen=True)
class WordSettings:
    """Settings of a text side that reads words, as in W2VV++ and SEA; the defaults are the papers'."""

    spaces: Literal["one", "each"] = option("one", "one space for all three encoders (W2VV++), or one for each (SEA)")
    size: Count = option(2048, "length of an embedding in a space")
    states: Count = option(1024, "width of the GRU")
    least: Count = option(5, "how often captions must have a word for the bag of words and the GRU to know it")
    vectors: str = option(
        "", "a BigFile folder, or a word2vec file (.bin or text); empty for PPMI of the captions by SVD"
    )
    vector_size: Count = option(500, "length of word vectors made of the captions")

    @property
    def number(self) -> int:
        return 1 if self.spaces == "one" else 3


@dataclass(frozen=True)
class FusionSettings:
    """Settings of a fusion's training in addition to those of every run."""

    hidden: Whole = option(0, "units of a hidden layer; 0 for a linear fusion")
    blocks: Whole = option(
        0, "blocks of cross-attention over the text's tokens and the reference's frames; 0 for none"
    )
    iterate: Literal["families", "targets", "triplets"] = option(
        "targets",
        "what a step draws: families of the built-in world, of which it asks all queries; or triplets, all of them in "
        "turn, or only one for each of distinct targets, as CoVR does",
    )
    random_clips: Whole = option(1_000, "further candidates per step, of other families")
    temperature: Positive = option(0.02, "divides cosines")
    loss: Literal["info_nce", "hn_nce"] = option("info_nce", "loss")
    hn_nce: Literal["as_published", "as_code"] = option(
        "as_published", "form of hn_nce: of CoVR's paper, though with fixed alpha and temperature, or of its code"
    )
    weigh_frames: bool = option(
        False, "weigh the frames of targets by their similarity to the wanted part, as in CoVR; of the world only"
    )

    def __post_init__(self) -> None:
        if self.hn_nce != "as_published" and self.loss != "hn_nce":
            raise ConfigError(f"The loss is {self.loss}, which has no form {self.hn_nce!r}. Choose the loss hn_nce.")

    def fits(self, is_world: bool) -> bool:
        """Whether the built-in world, or a dataset, can be drawn from in this way."""
        return (self.iterate == "families") == is_world and (is_world or not self.weigh_frames)
