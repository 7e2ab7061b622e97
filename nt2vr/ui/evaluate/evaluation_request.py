"""What the form of a new evaluation is to hold, as another tab asks for it."""

import json
from dataclasses import asdict, dataclass

from pydantic import StrictStr, TypeAdapter, ValidationError

from nt2vr.errors import ConfigError


@dataclass(frozen=True)
class EvaluationRequest:
    """An evaluation that is to be started: data, its split, and the systems to measure."""

    data: StrictStr
    split: StrictStr
    systems: list[StrictStr]

    @classmethod
    def read(cls, text: str) -> "EvaluationRequest":
        """Read what `write` wrote; a ConfigError if a browser sends something else."""
        try:
            return _REQUEST.validate_json(text)
        except ValidationError:
            raise ConfigError("The request was refused: it is not of the page's form.") from None

    def write(self) -> str:
        return json.dumps(asdict(self))


_REQUEST = TypeAdapter(EvaluationRequest)
