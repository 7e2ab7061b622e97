"""Columns of models that learn as template data: a frame per epoch, and what the epochs have changed so far.

Independent of Gradio and of the trainer: a run is what the catalog lists, or a recording.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import groupby
from typing import Any

from nt2vr.errors import ConfigError, quoted
from nt2vr.progress import duration_text
from nt2vr.search.answers import Answer, Ranking
from nt2vr.search.epochs import Entries, KeptRankings, Question, Recording, RunEpochs, epoch_of
from nt2vr.search.systems import System
from nt2vr.ui.search.column_view import how_text, short_name

LATEST = 4  # counts told besides the first
ViewOf = Callable[[Answer], Mapping[str, Any]]  # what `columns_view` returns


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


def story(rankings: Mapping[int, Ranking], epoch: int, answer: Answer, newest: int) -> dict[str, Any]:
    """Tell how many of the first clips show the unwanted part, up to an epoch, and in words if it lost the wanted one.

    Nothing without a negation and complete verdicts.

    Args:
        rankings: by epoch; 0 is the base.
        newest: the last epoch so far: what an earlier one misses is missed "for now".
    """
    told = [rankings[number] for number in sorted(rankings) if number <= epoch and rankings[number].hits]
    hits = [hit for each in told for hit in each.hits]
    if not (answer.query.unwanted and told) or any(hit.verdict is None for hit in hits):
        return {}
    counts = [each.counts["violation"] for each in told]
    first, *later = [count for count, _ in groupby(counts)]
    now, total = told[-1].counts, len(told[-1].hits)
    is_lost = answer.query.wanted and now["miss"] > now["right"]
    lost = f"{now['miss']} of {total} miss “{' '.join(answer.query.wanted)}”{' for now' if epoch < newest else ''}"
    return {
        "first": f"{first} of {len(told[0].hits)} show “{' or '.join(answer.query.unwanted)}”",
        "gap": len(later) > LATEST,
        "later": later[-LATEST:],
        "kind": "good" if counts[-1] < first else "",
        "words": lost if is_lost else "",
    }


@dataclass(frozen=True)
class Learner:
    """A model that learns, with its results for one query."""

    id: str  # of the run
    title: str
    epochs: Sequence[int]  # those offered, oldest first
    rankings: Mapping[int, Ranking]  # by epoch, as far as they are known; 0 is the base
    more: Mapping[str, Any]  # further values of its `run` in the template

    def column(self, column: Mapping[str, Any], epoch: int, answer: Answer, view_of: ViewOf) -> dict[str, Any]:
        """Return a column with a frame for each epoch that is known, of which it shows one."""
        known = [number for number in self.epochs if number in self.rankings and self.rankings[number].hits]
        found = replace(answer, rankings=(answer.rankings[0], *(self.rankings[number] for number in known)))
        frames = {
            number: self._frame(number, frame, answer)
            for number, frame in zip(known, view_of(found)["columns"][1:], strict=True)
        }
        place = self.epochs.index(epoch) if epoch in self.epochs else len(self.epochs) - 1
        run = {
            "id": self.id,
            "epochs": ",".join(map(str, self.epochs)),
            "place": place,
            "last": len(self.epochs) - 1,
            "newest": self.epochs[-1],
            "frames": [frames.get(number) for number in self.epochs],
            **self.more,
        }
        meaning = f"{short_name(self.id)}: {column['meaning']}" if column.get("meaning") else ""
        return {**column, "name": self.title, "meaning": meaning, **frames.get(epoch, {}), "run": run}

    def _frame(self, epoch: int, frame: Mapping[str, Any], answer: Answer) -> dict[str, Any]:
        told = story(self.rankings, epoch, answer, self.epochs[-1])
        badge = {**frame["badge"], "more": ""} if told else dict(frame["badge"])
        for each in (badge, line := dict(frame["line"])):
            if told and each.get("kind") == "bad":  # it is still learning: no verdict yet
                each["kind"] = "neutral"
        system = self.rankings[epoch].system
        how = f"· {how_text(system, epoch)}"
        return {"epoch": epoch, "how": how, "badge": badge, "line": line, "story": told} | {
            name: frame[name] for name in ("note", "hits")
        }


@dataclass(frozen=True)
class RunColumns:
    """The columns of runs in an answer."""

    answer: Answer
    key: str  # identifies the query, with everything but its systems; see `key_of`
    entries: Entries
    base_of: Callable[[str], str]  # returns the name of a run's base, whose ranking is epoch 0
    kept: KeptRankings  # rankings of earlier searches
    view_of: ViewOf

    def view(self, view: Mapping[str, Any], question: Question) -> dict[str, Any]:
        """Add to a run's columns of `columns_view` its epochs; those missing are searched in the background."""
        runs = {name for name, entry in self.entries.items() if entry.kind == "run"}
        self.kept.keep_to(runs)
        owns = [RunEpochs.of(ranking.system.model, self.entries) for ranking in self.answer.rankings]
        titles = [f"{self.base_of(own.run) or short_name(own.run)}, learning" if own else "" for own in owns]
        columns = []
        for column, ranking, own, title in zip(view["columns"], self.answer.rankings, owns, titles, strict=True):
            if own and titles.count(title) > 1:  # of two runs from one base
                title = short_name(own.run)
            columns.append(self._of_run(column, ranking, own, title, question) if own else column)
        return {**view, "columns": columns}

    def _of_run(
        self, column: Mapping[str, Any], ranking: Ranking, own: RunEpochs, title: str, question: Question
    ) -> dict[str, Any]:
        epoch, base, system = epoch_of(ranking), self.base_of(own.run), ranking.system
        key = own.run, key_of(self.key, system.strategy, system.strength)
        bases = [other for other in self.answer.rankings if other.system == replace(system, model=base)]
        found = dict(zip((0,), bases, strict=False)) | {epoch: ranking}
        rankings = self.kept.add(key, found)
        if missing := question.missing(own, base, rankings):
            self.kept.complete(key, missing, lambda number: question.ask_epoch(own, number, base, system))
        learner = Learner(own.run, title, own.epochs, rankings, {"waits": bool(missing)})
        return learner.column(column, epoch, self.answer, self.view_of)


def replayed(recording: Recording, rankings: Mapping[int, Ranking], answer: Answer, view_of: ViewOf) -> dict[str, Any]:
    """Return the column of a recorded run, which plays from its base to its last epoch."""
    last, minutes = len(rankings) - 1, duration_text(recording.seconds[-1])
    note = f"{last} epochs of the preset “{recording.preset}” took {minutes}. Nothing is trained now."
    more = {"recorded": recording.date, "note": note, "plays": True, "curve": curve(recording.hard_pairs)}
    learner = Learner("recorded", f"{recording.base}, learning", range(last + 1), rankings, more)
    return learner.column({"system": f"{recording.base}, recorded"}, last, answer, view_of)


def curve(shares: Sequence[float]) -> dict[str, Any]:
    """Draw percentages from left to right in a box of 100 by 100: the line, and each point with its value in words."""
    points = [
        {"x": f"{100 * place / max(1, len(shares) - 1):.1f}", "y": f"{100 - share:.1f}", "text": f"{share:.0f} %"}
        for place, share in enumerate(shares)
    ]
    return {"path": "M" + "L".join(f"{point['x']} {point['y']}" for point in points), "points": points}
