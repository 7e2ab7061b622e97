"""Time to load a captions file of 100,000 rows, compared with pandas reading it: `python -m benchmarks.captions`.

The file has two captions per video, in each form that is read. Videos are empty files, since
loading opens none.
"""

import csv
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd

from benchmarks.harness import arguments, in_turns, ranged, write_head, write_row
from nt2vr.datasets.load import load_dataset

CAPTIONS_PER_VIDEO = 2
ROUNDS = 5
Row = dict[str, str]


def write_videos(folder: Path, count: int) -> list[Row]:
    """Create empty videos, and return the rows of their captions."""
    (folder / "videos").mkdir()
    rows = []
    for number in range(count):
        name = f"videos/v{number:06d}.mp4"
        (folder / name).touch()
        for caption in range(CAPTIONS_PER_VIDEO):
            rows.append(
                {
                    "path": name,
                    "caption": f"a man sings song {number}, verse {caption}",
                    "split": "train",
                }
            )
    return rows


def write_table(path: Path, rows: list[Row]) -> None:
    """Write the rows as CSV."""
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        table.writerows(rows)


def write_lines(path: Path, rows: list[Row]) -> None:
    """Write the rows as JSON lines."""
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")


def write_array(path: Path, rows: list[Row]) -> None:
    """Write the rows as a JSON array."""
    path.write_text(json.dumps(rows), encoding="utf-8")


FORMS: dict[str, tuple[Callable[[Path, list[Row]], None], Callable[[Path], object]]] = {
    "captions.csv": (write_table, pd.read_csv),
    "captions.jsonl": (write_lines, partial(pd.read_json, lines=True)),
    "captions.json": (write_array, pd.read_json),
}


def measure(num_rows: int) -> None:
    """Print a row per form."""
    write_head(f"{num_rows:,} rows", "loaded, s", "read by pandas, s", "ratio")
    with TemporaryDirectory() as folder:
        rows = write_videos(Path(folder), num_rows // CAPTIONS_PER_VIDEO)
        for name, (write, read) in FORMS.items():
            path = Path(folder, name)
            write(path, rows)
            works: dict[str, Callable[[], object]] = {
                "load": partial(load_dataset, path, "train"),
                "pandas": partial(read, path),
            }
            times_s = in_turns(works, ROUNDS)
            ratios = times_s["load"] / times_s["pandas"]
            write_row(
                name, ranged([*times_s["load"]]), ranged([*times_s["pandas"]]), ranged([*ratios])
            )


if __name__ == "__main__":
    parser = arguments("captions", __doc__)
    parser.add_argument("num_rows", nargs="?", type=int, default=100_000)
    measure(parser.parse_args().num_rows)
