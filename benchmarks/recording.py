"""Make the recorded training that the page replays, assets/recording.json: `python -m benchmarks.recording`.

It trains the preset `stage` in an empty data folder, or takes a finished run (`--run FOLDER`). With
its base and each of its epochs, it searches the built-in gallery for the page's first query and its
examples, and stores the first eight clips of each. Run it again whenever the gallery, CLIP, the
preset or one of these queries changes.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.harness import app_searcher, arguments, write_head, write_row
from benchmarks.watch import watch
from nt2vr.evaluation.metric_names import COMPOSED_HARD_PAIRS
from nt2vr.files import write_json
from nt2vr.models.card import read_card
from nt2vr.presets import PRESETS
from nt2vr.search.epochs import RecordedHits, Recording
from nt2vr.search.searcher import Searcher
from nt2vr.settings import ASSETS, prepare_environment
from nt2vr.ui.search.examples import EXAMPLES
from nt2vr.ui.search.state import DEFAULT_QUERY
from trainer.config import load_config
from trainer.runs.manager import RunManager
from trainer.runs.run_folder import RunFolder

PRESET = "stage"
K = 8
QUERIES = (DEFAULT_QUERY, *EXAMPLES)
MEASURE = COMPOSED_HARD_PAIRS


@contextmanager
def trained(folder: Path | None) -> Iterator[RunFolder]:
    """Yield a finished run: the given one, or a new one that is deleted after the block."""
    if folder is not None:
        yield RunFolder(folder)
        return
    with TemporaryDirectory() as data:
        yield watch(RunManager(Path(data) / "runs"), load_config(PRESETS / f"{PRESET}.json", {}))


def recorded(run: RunFolder) -> Recording:
    """Search with all epochs of a finished run; the models come from its checkpoints."""
    rows = RunManager(run.path.parent).metrics(run.path.name)
    measured = {int(row["epoch"]): row[MEASURE] for row in rows if MEASURE in row}
    of_base = next(row[f"base/{MEASURE}"] for row in rows if f"base/{MEASURE}" in row)
    epochs = sorted(measured)
    cards = [read_card(run.checkpoint(epoch)) for epoch in epochs]
    started_s = run.config.stat().st_mtime
    seconds = [0]
    hard_pairs = [round(of_base, 1)]
    for epoch, card in zip(epochs, cards, strict=True):
        seconds.append(round(datetime.fromisoformat(card.created).timestamp() - started_s))
        hard_pairs.append(round(measured[epoch], 1))

    names = [cards[0].base, *(f"{run.path.name} · epoch {epoch}" for epoch in epochs)]
    return Recording(
        cards[0].base,
        PRESET,
        cards[-1].created[:10],
        seconds,
        hard_pairs,
        hits_of_queries(run, names),
    )


def hits_of_queries(run: RunFolder, names: Sequence[str]) -> dict[str, list[RecordedHits]]:
    """Return the hits of each query, one list per model."""
    hits_of: dict[str, list[RecordedHits]] = {text: [] for text in QUERIES}
    with app_searcher(run.path.parent) as searcher:
        # In this order, each model is loaded once.
        for name, text in product(names, QUERIES):
            hits_of[text].append(_hits(searcher, text, name))
    return hits_of


def _hits(searcher: Searcher, text: str, system: str) -> RecordedHits:
    (ranking,) = searcher.search(text, [system], K).rankings
    return [(hit.video_id, round(hit.score, 3)) for hit in ranking.hits]


def main() -> None:
    """Write the recording, and print its curve."""
    parser = arguments("recording", __doc__)
    parser.add_argument(
        "--run",
        type=Path,
        metavar="FOLDER",
        help="a finished run of the preset, with all its epochs",
    )
    parser.add_argument("--out", type=Path, default=ASSETS / "recording.json", metavar="FILE")
    flags = parser.parse_args()
    prepare_environment()
    with trained(flags.run) as run:
        recording = recorded(run)
    write_json(flags.out, asdict(recording))
    write_head("epoch", "s", MEASURE)
    curve = zip(recording.seconds, recording.hard_pairs, strict=True)
    for epoch, (seconds, value) in enumerate(curve):
        write_row(epoch, seconds, value)


if __name__ == "__main__":
    main()
