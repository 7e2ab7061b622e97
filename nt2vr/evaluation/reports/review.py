"""Review of a report: a tag and a note per query. Reports without the file have none."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from nt2vr.errors import ConfigError
from nt2vr.files import parse_json, with_schema, without_schema, write_json

REVIEW = "review.json"
MAX_TAG, MAX_NOTE = 40, 2_000  # characters


@dataclass(frozen=True)
class Remark:
    """What a person says of one query; empty texts say nothing."""

    tag: str = ""
    note: str = ""

    def __post_init__(self) -> None:
        for name, text, longest in (("tag", self.tag, MAX_TAG), ("note", self.note, MAX_NOTE)):
            if len(text) > longest:
                raise ConfigError(
                    f"The {name} has {len(text):,} characters; shorten it to at most {longest:,}. It is not saved."
                )
            if any("\ud800" <= character <= "\udfff" for character in text):
                raise ConfigError(f"The {name} has a character that is not valid Unicode. It is not saved.")


Remarks = Mapping[int, Remark]  # by the query's position in the report


def read_remarks(folder: Path) -> dict[int, Remark]:
    path = folder / REVIEW
    if not path.exists():
        return {}
    try:
        queries = without_schema(parse_json(path.read_text(encoding="utf-8")), path)["queries"]
        return {int(place): Remark(str(said["tag"]), str(said["note"])) for place, said in queries.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigError(f"{path} cannot be read ({error}). Move it away to write new notes.") from error


def write_remarks(folder: Path, remarks: Remarks, texts: Mapping[int, str]) -> None:
    """Write the remarks of a report atomically, with the texts of their queries for people who read the file."""
    queries = {str(place): {"text": texts[place], **asdict(said)} for place, said in sorted(remarks.items())}
    try:
        write_json(folder / REVIEW, with_schema({"queries": queries}), indent=1)
    except OSError as error:
        raise ConfigError(f"The note cannot be saved ({error.strerror}). Free some space.") from error
