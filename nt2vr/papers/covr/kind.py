"""The benchmark of pictures plus texts as the app sees it: its data, its reports, and those of 0.2.0."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from nt2vr.errors import ConfigError, reason_of
from nt2vr.evaluation.benchmark_kinds import BenchmarkKind
from nt2vr.evaluation.queries import JudgedQuery, cue_of, row_array
from nt2vr.evaluation.report import Report
from nt2vr.evaluation.stored_reports import UNREADABLE
from nt2vr.files import read_with_schema
from nt2vr.papers.covr.presentation import COVR, PICTURE_PLUS_TEXT, covr_result
from nt2vr.world import WORLD

if TYPE_CHECKING:
    from nt2vr.papers.covr.data import CovrData


class CovrKind(BenchmarkKind):
    """Retrieval by a picture plus a text."""

    path_help = "pictures plus texts: WebVid-CoVR, CIRR, FashionIQ, CIRCO"
    choices: ClassVar[Mapping[str, str]] = {
        WORLD: "Picture plus text: edits of the built-in world's held-out scenes"
    }
    sized = (WORLD,)
    presentation = COVR

    def select(self, name: str, split: str, per_kind: int = 0) -> "CovrData":
        from nt2vr.papers.covr.data import CovrData  # noqa: PLC0415  the Evaluate tab is built without it

        return CovrData(name, split, per_kind if name == WORLD else 0)

    def old_reports(self, folder: Path) -> Mapping[Path, Callable[[Path], Report]]:
        return dict.fromkeys((folder / "composed").glob("[!.]*.json"), read_single_file)


def read_single_file(path: Path) -> Report:
    """Read a report of pictures plus texts as 0.2.0 wrote it: one JSON file, without relevant clips or digest."""
    try:
        data = read_with_schema(path)
        queries = []
        for row in data["rows"]:
            queries.append(
                JudgedQuery(
                    kind=row["kind"],
                    text=row["text"],
                    relevant=row_array(()),
                    cue=cue_of(row["text"]),
                    picture=row["reference"],
                )
            )
        results = []
        for system, table in data["systems"].items():
            ranks = [row["ranks"][system] for row in data["rows"]]
            results.append(
                covr_result(data["model"], system=system, ranks=ranks, table=table, spec={})
            )
        return Report(
            name=f"{data['name']}, {PICTURE_PLUS_TEXT}",
            digest="",
            source=data["source"],
            references={},
            video_ids=tuple(map(str, range(data["clips"]))),
            texts=(),
            queries=tuple(queries),
            results=tuple(results),
            presentation=COVR,
            created=data["created"],
            versions={},
        )
    except UNREADABLE as error:
        raise ConfigError(
            f"The report {path.stem} cannot be read ({reason_of(error)}). Evaluate again."
        ) from error


KIND = CovrKind()
