"""The report that comes with the app: of the gallery, whose clips Search shows, by the systems of README's table.

The file has what was measured. Queries and their truth are drawn again, so it fits only the gallery it was made of.
To make it anew: `nt2vr evaluate --data gallery --systems "clip,clip-bnl,clip-neg" --out REPORT`, then
`python -m nt2vr.evaluation.ready REPORT`.
"""

import io
import json
import lzma
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from nt2vr.errors import ConfigError
from nt2vr.evaluation.benchmark import Benchmark
from nt2vr.evaluation.measures import Measured
from nt2vr.evaluation.report import Report, Result, load_report
from nt2vr.settings import ASSETS

READY = ASSETS / "report.npz.xz"
TITLE = "The gallery, measured before"
NOTE = "This report comes with the app. README's table rests on 2,000 other scenes, the “Built-in world” of the menu."
FIELDS = ("digest", "created", "versions", "notes")


def pack(report: Report, path: Path = READY) -> None:
    """Write what cannot be computed from the benchmark; whole numbers of 16 bits compress better."""
    said = {name: getattr(report, name) for name in FIELDS}
    said["systems"] = [{"system": result.system, **result.spec} for result in report.results]
    arrays = {name: np.stack([getattr(each.measured, name) for each in report.results]) for name in _measured()}
    small: dict[str, Any] = {}
    for name, each in arrays.items():
        small[name] = each.astype(np.int16) if each.dtype == np.int32 else each
    file = io.BytesIO()
    np.savez(file, **small, said=np.array(json.dumps(said)))
    path.write_bytes(lzma.compress(file.getvalue(), preset=9 | lzma.PRESET_EXTREME))


def unpack(benchmark: Benchmark, path: Path = READY) -> Report:
    """Return the report; a ConfigError refuses another benchmark than the one it was made of."""
    with np.load(io.BytesIO(lzma.decompress(path.read_bytes())), allow_pickle=False) as found:
        said, arrays = json.loads(str(found["said"])), {name: found[name] for name in _measured()}
    if said["digest"] != benchmark.digest:
        raise ConfigError("The report that comes with the app is of another gallery. Evaluate the gallery again.")
    whole = {name: each.astype(np.int32) if each.dtype == np.int16 else each for name, each in arrays.items()}
    results = [
        Result(spec.pop("system"), spec, Measured(**{name: each[place] for name, each in whole.items()}))
        for place, spec in enumerate(said["systems"])
    ]
    report = Report.of(benchmark, results, (NOTE, *said["notes"]))
    return replace(report, name=TITLE, created=said["created"], versions=said["versions"])


def _measured() -> tuple[str, ...]:
    return tuple(Measured.__dataclass_fields__)


if __name__ == "__main__":
    pack(load_report(Path(sys.argv[1])))
