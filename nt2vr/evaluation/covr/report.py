"""Reports of composed retrieval: the figures by kind of change, and every query with its ranks; one JSON file each."""

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any

from nt2vr.errors import ConfigError, quoted
from nt2vr.evaluation.covr.protocol import CovrBenchmark, EmbeddedQueries, outcomes_of, summarise, table_lines
from nt2vr.files import with_schema, without_schema, write_json
from nt2vr.models.encoder import Encoder

LOADED = 10  # reports in memory
Table = Mapping[str, Mapping[str, float]]  # kind, label or "all kinds" -> measure -> value


@dataclass(frozen=True)
class CovrRow:
    """One query.

    Attributes:
        kind: of change.
        text: what the person types.
        reference: its `scene` in the built-in world, or the `path` of its file.
        ranks: system to the rank of the best right clip.
    """

    kind: str
    text: str
    reference: Mapping[str, Any]
    ranks: Mapping[str, int]


@dataclass(frozen=True)
class CovrReport:
    """Composed retrieval by one model.

    Attributes:
        name: of the benchmark.
        model: of the card.
        source: where the benchmark comes from.
        systems: composition, control or ceiling to its table.
        rows: the queries.
        clips: number of clips ranked.
        created: date and time in UTC.
    """

    name: str
    model: str
    source: Mapping[str, Any]
    systems: Mapping[str, Table]
    rows: Sequence[CovrRow] = field(repr=False)
    clips: int
    created: str

    @classmethod
    def of(cls, benchmark: CovrBenchmark, asked: EmbeddedQueries, encoder: Encoder) -> "CovrReport":
        """Measure a model on a benchmark's queries as it was asked them."""
        outcomes = outcomes_of(asked, encoder)
        rows = [
            CovrRow(
                query.kind,
                query.text,
                benchmark.references[query.reference] if benchmark.references else {},
                {system: int(outcome.ranks[place]) for system, outcome in outcomes.items()},
            )
            for place, query in enumerate(asked.queries)
        ]
        systems = {system: summarise(asked.queries, outcome) for system, outcome in outcomes.items()}
        created = datetime.now(UTC).isoformat(timespec="seconds")
        return cls(benchmark.name, encoder.card.name, benchmark.source, systems, rows, len(asked.clips), created)

    @property
    def table(self) -> list[str]:
        """Markdown table, one row per kind and system."""
        return table_lines(self.systems)

    @property
    def report_id(self) -> str:
        """Name of its file: equal for the same model on the same benchmark."""
        key = blake2b(json.dumps([self.name, self.model, dict(self.source)]).encode(), digest_size=6).hexdigest()
        name = re.sub(r"[^a-z0-9]+", "-", f"{self.name} {self.model}".lower()).strip("-")[:40]
        return f"{name}-{key}"


class CovrArchive:
    """The stored reports.

    Args:
        folder: one file each.
    """

    def __init__(self, folder: Path) -> None:
        """Read nothing yet."""
        self.folder = folder
        self._loaded: dict[tuple[str, int], CovrReport] = {}

    def add(self, report: CovrReport) -> str:
        """Store a report in the place of an older one of the same model and benchmark; return its id."""
        self.folder.mkdir(parents=True, exist_ok=True)
        write_json(self.folder / f"{report.report_id}.json", with_schema(asdict(report)))
        return report.report_id

    def ids(self) -> list[str]:
        """List the reports, the newest first."""
        files = sorted(self.folder.glob("*.json"), key=lambda path: -path.stat().st_mtime)
        return [path.stem for path in files]

    def newest(self, count: int) -> dict[str, CovrReport]:
        """Return the newest reports that can be read, by id."""
        found: dict[str, CovrReport] = {}
        for report_id in self.ids():
            with suppress(ConfigError):
                found[report_id] = self.load(report_id)
            if len(found) == count:
                break
        return found

    def load(self, report_id: str) -> CovrReport:
        """Open a report.

        Raises:
            ConfigError: if there is none of this id, or it cannot be read.
        """
        path = self._known(report_id)
        key = report_id, path.stat().st_mtime_ns
        if key not in self._loaded:
            self._loaded = dict([*self._loaded.items(), (key, _read(path))][-LOADED:])
        return self._loaded[key]

    def delete(self, report_id: str) -> None:
        """Delete a report.

        Raises:
            ConfigError: if there is none of this id.
        """
        self._known(report_id).unlink(missing_ok=True)

    def _known(self, report_id: str) -> Path:
        """Return a report's file; only ids of stored reports ever become part of a path."""
        if report_id not in self.ids():
            raise ConfigError(f"There is no report {quoted(report_id)}. Choose one from the list, or evaluate again.")
        return self.folder / f"{report_id}.json"


def _read(path: Path) -> CovrReport:
    try:
        data = without_schema(json.loads(path.read_text(encoding="utf-8")), path)
        return CovrReport(**{**data, "rows": [CovrRow(**row) for row in data["rows"]]})
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigError(f"{path} cannot be read. Delete it, or evaluate again.") from error
