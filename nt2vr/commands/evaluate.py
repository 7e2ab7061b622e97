"""`python -m nt2vr.evaluate --data world --systems clip,clip-bnl --out DIR`: the paper's table, without the page."""

import argparse
import logging
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

from tqdm import tqdm

from nt2vr.datasets import Split
from nt2vr.errors import Nt2vrError
from nt2vr.evaluation.benchmark import Progress
from nt2vr.evaluation.protocol import evaluate, never, with_controls
from nt2vr.evaluation.result_store import Kept
from nt2vr.evaluation.sources import Data, load_benchmark
from nt2vr.evaluation.tables import markdown, write_tables
from nt2vr.media.cache import Cache
from nt2vr.media.decode import Decoder
from nt2vr.models.catalog import Catalog
from nt2vr.search.systems import System
from nt2vr.settings import Settings, prepare_environment


def main(arguments: Sequence[str] | None = None) -> int:
    """Evaluate, write the report and its tables, and show the table; returns the exit status: 0 done, 2 not."""
    prepare_environment()
    settings = Settings.read([])
    flags = _parser(settings).parse_args(arguments)
    folder = flags.data_dir.expanduser()
    logging.basicConfig(level=logging.WARNING)
    data = Data(flags.data, flags.clips, flags.seed, flags.split, flags.queries)
    try:
        models = Catalog([settings.assets / "models", folder / "models"], flags.device, folder / "runs")
        names = models.names()
        systems = with_controls([System.named(name, names) for name in flags.systems.split(",")], models)
        with Decoder() as decoder, Cache(folder / "cache") as cache, tqdm(disable=None) as bar:
            progress = _shown_on(bar)
            benchmark = load_benchmark(data, folder / "evaluation", decoder, cache, progress, never, settings.assets)
            report = evaluate(benchmark, systems, models, Kept(folder / "evaluation"), progress)
        report.save(flags.out)
        write_tables(report, flags.out)
    except Nt2vrError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sys.stderr.writelines(f"{line}\n" for line in (*report.source.get("remarks", ()), *report.notes))
    sys.stdout.write(markdown(report))
    return 0


def _parser(settings: Settings) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m nt2vr.evaluate", description="Make the paper's table.")
    data, default = Data(), "(default: %(default)s)"
    parser.add_argument(
        "--data",
        default=data.name,
        help="world, the built-in one; gallery, the shipped one; a CSV file of NegBench, CC-Neg or classes (see "
        f"nt2vr/evaluation/tasks.py); or a dataset's folder {default}",
    )
    parser.add_argument("--systems", required=True, help="names with commas between: 'clip,clip boolean α 0.5'")
    parser.add_argument("--out", type=Path, required=True, help="folder for the report")
    parser.add_argument("--clips", type=int, default=data.clips, help=f"clips of the built-in world {default}")
    parser.add_argument("--seed", type=int, default=data.seed, help=f"of clips and of drawn queries {default}")
    parser.add_argument("--split", choices=get_args(Split), default=data.split, help=f"of a dataset {default}")
    parser.add_argument(
        "--queries",
        type=Path,
        help="folder of a dataset's original.txt, negated.txt and composed.jsonl, as `python -m nt2vr.queries build` "
        "makes them (default: make them of the split's captions)",
    )
    parser.add_argument("--data-dir", type=Path, default=settings.data_dir, help="caches and downloaded models")
    parser.add_argument("--device", default=settings.device, help=f"cpu or cuda {default}")
    return parser


def _shown_on(bar: tqdm) -> Progress:
    """Return what shows progress on a bar."""

    def show(done: int, total: int, what: str) -> None:
        bar.set_description(what, refresh=False)
        bar.total, bar.n = total, done
        bar.refresh()

    return show


if __name__ == "__main__":
    sys.exit(main())
