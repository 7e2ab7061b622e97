"""A finished evaluation, with its tables for notebooks, files and pandas."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nt2vr.evaluation.report import Report
from nt2vr.evaluation.tables import markdown, tables_of, write_tables
from nt2vr.files import expanded
from nt2vr.notebook import data_frame, joined, table


@dataclass(frozen=True, eq=False)
class Evaluation:
    """A finished evaluation; notebooks display its tables."""

    report: Report

    @property
    def metrics(self) -> dict[str, dict[str, float]]:
        """Measures by system and name: `metrics["CLIP"]["original/R@1"]`."""
        return self.report.metrics

    @property
    def remarks(self) -> list[str]:
        """What is to be known of the data: videos left out, the split that was taken."""
        return list(self.report.source.get("remarks", []))

    @property
    def table(self) -> str:
        """The paper's table and the further measures, as Markdown."""
        return markdown(self.report)

    def to_pandas(self) -> Any:
        """Return a `pandas.DataFrame` with one row per system and measure: system, measure, value."""
        rows = [(system, name, value) for system, found in self.metrics.items() for name, value in found.items()]
        return data_frame(rows, ("system", "measure", "value"))

    def save(self, folder: str | Path) -> None:
        """Write the report folder, with the tables as Markdown, CSV and LaTeX."""
        self.report.save(expanded(folder))
        write_tables(self.report, expanded(folder))

    def _repr_html_(self) -> str:
        tables = (each.texts() for each in tables_of(self.report))
        parts = [table(heads, rows) for heads, *rows in tables]
        return joined([table((), (), self.report.name), *parts, *(table((), (), each) for each in self.remarks)])
