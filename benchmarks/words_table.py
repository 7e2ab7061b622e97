"""Mean and standard deviation over seeds of `benchmarks.teach_words`: `python -m benchmarks.words_table FOLDER…`."""

import json
import re
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from benchmarks.harness import arguments, write_head, write_row

COLUMNS = {  # heading: measure and digits
    "original MIR": ("original/MIR", 3),
    "composed MIR": ("composed/MIR", 3),
    "hard pairs “A and not B”": ("composed/hard_pairs", 1),
    "violations@10": ("composed/violations@10", 1),
    "hard pairs “A without N”": ("without/hard_pairs", 1),
    "AUC “not B”": ("not/auc", 3),
    "ΔMIR": ("negated/delta_MIR", 3),
    "of 50 concepts": ("held_out/hard_pairs yes", 1),
    "of others": ("held_out/hard_pairs no", 1),
    **{
        f"{name}{of}": (f"new/{name}{of}", digits)
        for name in ("phrase denied", "phrase", "a word", "all words")
        for of, digits in (("", 1), (", drop", 1), (", queries", 0))
    },
    "text/kept": ("text/kept", 3),
    "text/idioms": ("text/idioms", 3),
}


def main() -> None:
    """Print a table per half: a row per setting, and per baseline."""
    parser = arguments("words_table", __doc__)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    lines = [
        json.loads(line)
        for folder in parser.parse_args().folders
        for line in (folder / "results.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    for half in dict.fromkeys(line["half"] for line in lines):
        rows: dict[str, list[Mapping[str, float]]] = defaultdict(list)
        for line in lines:
            if line["half"] == half:
                rows[setting_of(line)].append({**line["metrics"], **line})
        sys.stdout.write(f"\n{half}\n\n")
        write_head("", "seeds", *COLUMNS)
        for name, seeds in rows.items():
            cells = (
                with_spread([seed[key] for seed in seeds if key in seed], digits) for key, digits in COLUMNS.values()
            )
            write_row(name, len(seeds), *cells)


def setting_of(line: Mapping[str, Any]) -> str:
    """Name a baseline, or a run without its seed."""
    if line["run"] == "base":
        return str(line["system"])
    return re.sub(r",?seed=\d+", "", line["run"])


def with_spread(values: Sequence[float], digits: int) -> str:
    """Format the mean, with the standard deviation of several; a dash for none."""
    if not values:
        return "–"
    spread = f" ± {stdev(values):.{digits}f}" if len(values) > 1 else ""
    return f"{mean(values):.{digits}f}{spread}"


if __name__ == "__main__":
    main()
