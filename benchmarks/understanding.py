"""Time to understand one sentence: `python -m benchmarks.understanding SENTENCES [--old TREE] [--rounds 3]`.

SENTENCES is a file with a sentence per line, or JSON lines with a "query" each. A round starts one process per tree,
this checkout and, for comparison, another one at TREE, in turns, so that both meet the same state of the machine. A
process understands every sentence once: each word is new at its first occurrence. Times are of the process's CPU.
"""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import arguments, write_head, write_row

HERE = Path(__file__).parents[1]
CHILD = """
import json, sys, time
from nt2vr.negation.parse.query import understand
from nt2vr.negation.parse.tagger import Tagger
tagger, times = Tagger(), []
understand("a dog and not a cat", tagger)
for sentence in json.load(sys.stdin):
    start_s = time.process_time()
    understand(sentence, tagger)
    times.append(1000 * (time.process_time() - start_s))
json.dump(times, sys.stdout)
"""


def read_sentences(path: Path) -> list[str]:
    """Read a sentence per line."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["query"] if line.startswith("{") else line for line in lines if line.strip()]


def times_ms(tree: Path, sentences: Sequence[str]) -> NDArray[np.float64]:
    """Return the CPU time per sentence, in a fresh process that imports `nt2vr` from `tree`: (S,)."""
    environment = {**os.environ, "PYTHONPATH": str(tree)}
    done = subprocess.run(
        [sys.executable, "-c", CHILD],
        cwd=tree,
        env=environment,
        input=json.dumps(sentences),
        capture_output=True,
        text=True,
        check=True,
    )
    return np.array(json.loads(done.stdout))


def main() -> None:
    """Print one table row per tree."""
    parser = arguments("understanding", __doc__)
    parser.add_argument("sentences", type=Path)
    parser.add_argument("--old", type=Path, help="checkout of another version")
    parser.add_argument("--rounds", type=int, default=3)
    flags = parser.parse_args()
    sentences = read_sentences(flags.sentences)
    trees = {"this": HERE, **({"old": flags.old.resolve()} if flags.old else {})}
    times: dict[str, list[NDArray[np.float64]]] = {name: [] for name in trees}
    for _ in range(flags.rounds):
        for name, tree in trees.items():
            times[name].append(times_ms(tree, sentences))
    write_head(f"{len(sentences):,} sentences", "median", "p99")
    for name, rounds in times.items():
        median, p99 = np.median([np.percentile(round_, (50, 99)) for round_ in rounds], axis=0)
        write_row(name, f"{median:.2f} ms", f"{p99:.2f} ms")


if __name__ == "__main__":
    main()
