"""Make the report that comes with the app: `python -m benchmarks.ready_report REPORT`.

REPORT is a folder that
`nt2vr evaluate --data gallery --systems "clip,clip-bnl,clip-neg" --out REPORT` has written.
"""

import io
import json
import tarfile
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.harness import arguments
from nt2vr.evaluation.ready_report import READY
from nt2vr.evaluation.report import ARRAYS, QUERIES, REPORT, Report
from nt2vr.evaluation.stored_reports import load_report

NAME = "The built-in gallery"
NOTE = "This report comes with the app. README's table rests on 2,000 other scenes, the “Built-in world” of the menu."
# Of a query's line: the arrays have them, too.
REPEATED = ("relevant", "ranks")


def pack(report: Report, path: Path = READY) -> None:
    """Write a report in a form that takes little space."""
    notes = tuple(note for note in report.notes if note != NOTE)
    with TemporaryDirectory() as name:
        folder = Path(name)
        replace(report, name=NAME, notes=(NOTE, *notes)).save(folder)
        # Numbers that are compressed once take less space than those that are compressed twice.
        with np.load(folder / ARRAYS, allow_pickle=False) as arrays:
            stored = dict(arrays)
        np.savez(folder / ARRAYS, **stored)
        _drop_repeated(folder / QUERIES)
        with tarfile.open(path, "w:xz", preset=9) as archive:
            for file in (REPORT, QUERIES, ARRAYS):
                _append(archive, folder / file)


def _drop_repeated(path: Path) -> None:
    lines = []
    for text in path.read_text(encoding="utf-8").splitlines():
        line = json.loads(text)
        for field in REPEATED:
            del line[field]
        lines.append(json.dumps(line) + "\n")
    path.write_text("".join(lines), encoding="utf-8")


def _append(archive: tarfile.TarFile, path: Path) -> None:
    """Append a file without its owner and time, so that equal reports make equal archives."""
    content = path.read_bytes()
    entry = tarfile.TarInfo(path.name)
    entry.size = len(content)
    archive.addfile(entry, io.BytesIO(content))


def main() -> None:
    parser = arguments("ready_report", __doc__)
    parser.add_argument("report", type=Path, help="folder of the report")
    pack(load_report(parser.parse_args().report))


if __name__ == "__main__":
    main()
