"""Columns of training runs as template data: epochs, and wrong clips per epoch.

Independent of Gradio and of the trainer: a run is what the catalog lists.
"""

import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

from nt2vr.errors import ConfigError, quoted
from nt2vr.models.catalog import EPOCH, CatalogEntry
from nt2vr.search.answers import Answer, Ranking, Verdict
from nt2vr.search.systems import System
from nt2vr.ui.search.column_view import how_text, short_name

MAX_QUERIES = 256  # whose counts are remembered
NEAR = 6  # counts shown besides the first, those nearest to the epoch's
OF_RUN = re.compile(r" · (?:epoch (\d+)|best)$")
Entries = Mapping[str, CatalogEntry]


@dataclass(frozen=True)
class RunEpochs:
    """A run, by its name in the catalog, and the epochs whose checkpoints remain, oldest first."""

    run: str
    epochs: tuple[int, ...]

    @classmethod
    def of(cls, model: str, entries: Entries) -> "RunEpochs | None":
        """Return those of the run whose newest, best or single epoch a model is; None if it is none of a run."""
        entry = entries.get(model)
        if entry is None or entry.kind not in ("run", "epoch"):
            return None
        shorter = OF_RUN.sub("", model)
        run = shorter if shorter in entries else model
        found = (EPOCH.fullmatch(folder.name) for folder in entries[run].folders)
        return cls(run, tuple(sorted(int(match[1]) for match in found if match)))

    def system(self, epoch: int, like: System) -> System:
        """Return the system of an epoch with the strategy of another; the newest epoch is the run, which goes on."""
        if epoch not in self.epochs:
            raise ConfigError(f"{quoted(self.run)} has no such epoch. Choose one from {self.epochs[0]} on.")
        model = self.run if epoch == self.epochs[-1] else f"{self.run} · epoch {epoch}"
        return System(model, like.strategy, like.strength)


def epoch_of(ranking: Ranking) -> int:
    """Return the epoch that answered; 0 if the model's name does not say."""
    named = OF_RUN.search(ranking.system.model)
    return ranking.epoch or (int(named[1]) if named and named[1] else 0)


def with_epoch(systems: Sequence[str], run: str, epoch: int, entries: Entries) -> list[str]:
    """Return the systems with a run's replaced by those of one of its epochs."""
    wanted = RunEpochs.of(run, entries)
    if wanted is None or wanted.run != run:
        raise ConfigError(f"There is no run {quoted(run)}.")
    found: list[str] = []
    for name in systems:
        system = System.named(name, list(entries))
        own = RunEpochs.of(system.model, entries)
        found.append(wanted.system(epoch, system).name if own == wanted else name)
    return list(dict.fromkeys(found))


def with_run(systems: Sequence[str], run: str, most: int) -> list[str]:
    """Return at most `most` systems with a run as the second, next to the baseline."""
    return list(systems) if run in systems else [*systems[:1], run, *systems[1:]][:most]


def key_of(*values: object) -> str:
    """Identify a query by the values that its columns depend on, in 32 characters however long these are."""
    return blake2b(repr(values).encode(), digest_size=16).hexdigest()


class VerdictCounts:
    """How often a verdict is among the first clips, by query and epoch, of the latest queries of all pages."""

    def __init__(self) -> None:
        self._counts: OrderedDict[Hashable, dict[int, int]] = OrderedDict()
        self._changing = threading.Lock()

    def add(self, key: Hashable, counts: Mapping[int, int]) -> dict[int, int]:
        """Add counts of a query; return all of it, by epoch."""
        with self._changing:
            known = self._counts[key] = {**self._counts.pop(key, {}), **counts}
            while len(self._counts) > MAX_QUERIES:
                self._counts.popitem(last=False)
            return dict(known)


def counts_view(counts: Mapping[int, int], epoch: int, good: Callable[[int], bool]) -> list[dict[str, Any]]:
    """List the counts by epoch, repeated ones once, of many those near `epoch`, whose own is marked."""
    steps: list[dict[str, Any]] = []
    for number in sorted(counts):
        if not steps or steps[-1]["count"] != counts[number]:
            steps.append({"count": counts[number], "now": False, "kind": "good" if good(counts[number]) else "bad"})
        steps[-1]["now"] |= number == epoch
    if len(steps) <= NEAR + 1:
        return steps
    at = next((place for place, step in enumerate(steps) if step["now"]), len(steps))
    start = min(max(1, at - NEAR // 2), len(steps) - NEAR)
    return [steps[0], {**steps[start], "gap": start > 1}, *steps[start + 1 : start + NEAR]]


@dataclass(frozen=True)
class RunColumns:
    """The columns of runs in an answer.

    Attributes:
        key: identifies the query, with everything but its systems; see `key_of`.
        base_of: returns the name of a run's base, whose own column is epoch 0.
        counts: of earlier searches.
    """

    answer: Answer
    key: str
    entries: Entries
    base_of: Callable[[str], str]
    counts: VerdictCounts

    def view(self, view: Mapping[str, Any]) -> dict[str, Any]:
        """Add to a run's columns of `columns_view` its epochs, and how many of the first clips violate at each."""
        columns = []
        for column, ranking in zip(view["columns"], self.answer.rankings, strict=True):
            own = RunEpochs.of(ranking.system.model, self.entries)
            columns.append({**column, **self._of_run(own, ranking)} if own else column)
        return {**view, "columns": columns, "key": self.key}

    def _of_run(self, own: RunEpochs, ranking: Ranking) -> dict[str, Any]:
        epoch = epoch_of(ranking)
        is_kept = epoch in own.epochs
        half = len(ranking.hits) / 2
        run = {
            "id": own.run,
            "epochs": ",".join(map(str, own.epochs)),
            "place": own.epochs.index(epoch) if is_kept else len(own.epochs) - 1,
            "last": len(own.epochs) - 1,
            "epoch": epoch,
            "newest": own.epochs[-1],
            "violations": counts_view(self._known("violation", own, ranking), epoch, lambda count: not count),
            "right": counts_view(self._known("right", own, ranking), epoch, lambda count: count >= half),
        }
        return {"run": run, "name": short_name(own.run), "how": how_text(ranking.system, epoch)}

    def _known(self, verdict: Verdict, own: RunEpochs, ranking: Ranking) -> Mapping[int, int]:
        """Return a verdict's counts by the epochs searched so far; none without a negation and complete verdicts."""
        if not (self.answer.query.unwanted and ranking.hits and all(hit.verdict for hit in ranking.hits)):
            return {}
        base = replace(ranking.system, model=self.base_of(own.run))
        found = {epoch_of(ranking): ranking.counts[verdict]}
        for other in self.answer.rankings:
            if other.system == base and other.hits:
                found[0] = other.counts[verdict]
        return self.counts.add((self.key, verdict, own.run, ranking.system.strategy, ranking.system.strength), found)
