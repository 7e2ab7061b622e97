"""Sections of settings, which refuse an unknown name or a wrong value in one sentence that names it."""

from collections.abc import Collection, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    field_validator,
)

from nt2vr.errors import ConfigError, quoted
from nt2vr.settings import resolve_path

# By pydantic's type of error.
MUST = {
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


class Section(BaseModel):
    """Settings of one subject, frozen; every field has a default and a description, its help text.

    Types are exact: "3" and 3.0 are no whole numbers. Validators raise a ConfigError for values
    that cannot go together.
    """

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    @field_validator("*", mode="wrap")
    @classmethod
    def _keep_as_written(cls, value: Any, check: ValidatorFunctionWrapHandler) -> Any:
        """Check a value, but do not convert it: folders of sweeps are named by a hash of configs as written."""
        check(value)
        return value

    @property
    def names_files(self) -> bool:
        """True if a value is the path of a file, which visitors of a public server may not name."""
        return False

    def absolute_paths(self) -> dict[str, Any]:
        """Return the values that are paths, made absolute, so that a run finds its files from anywhere."""
        return {}

    def check_files(self) -> None:
        """Raise a ConfigError if a file that is named is missing, or cannot be used."""

    def check_config(self, config: Any) -> None:
        """Raise a ConfigError if values cannot go together with those of other sections of a `TrainConfig`."""

    def as_dict(self) -> dict[str, Any]:
        """Return the values by name, as written; changing them does not change the settings."""
        return {name: deepcopy(getattr(self, name)) for name in type(self).model_fields}


def absolute(path: str) -> str:
    """Make a path absolute; "" and shipped "assets/…", which are found from anywhere, stay."""
    if not path or resolve_path(path).is_absolute():
        return path
    return str(Path(path).absolute())


AnySection = TypeVar("AnySection", bound=Section)


def read_settings(kind: type[AnySection], values: Mapping[str, Any], of: str = "") -> AnySection:
    """Build a section; `of` says in errors whose settings they are: " of the loss bnl"."""
    check_names(values, kind.model_fields, of)
    try:
        return kind(**values)
    except ValidationError as error:
        raise refusal(error, of) from None


def check_names(names: Collection[str], existing: Collection[str], of: str = "") -> None:
    """Raise a ConfigError that names the first unknown setting, and those that there are."""
    for name in names:
        if name not in existing:
            choices = ", ".join(sorted(existing))
            raise ConfigError(f"There is no setting {quoted(name)}{of}. Choose among: {choices}.")


def refusal(error: ValidationError, of: str = "", prefix: str = "") -> ConfigError:
    """Say which value is wrong and what it must be, of the first problem; `prefix` comes before its key."""
    problem = error.errors()[0]
    parts = [prefix] if prefix else []
    parts += [str(part) for part in problem["loc"] if part != "[key]"]
    key = ".".join(parts)
    must = MUST.get(problem["type"], problem["msg"].removeprefix("Input should "))
    must = must.format(**problem.get("ctx", {}))
    return ConfigError(f"{key}{of} must {must}, not {quoted(problem['input'])}.")
