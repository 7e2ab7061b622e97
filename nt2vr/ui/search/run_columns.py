"""Columns of training runs: their epochs, each with its results for the query, and what has changed so far."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import groupby
from typing import Any

from nt2vr.errors import ConfigError, quoted
from nt2vr.negation.parse.query import Query
from nt2vr.progress import duration_text
from nt2vr.search.answers import Answer, Ranking
from nt2vr.search.epochs import (
    Entries,
    KeptRankings,
    Recording,
    RunEpochs,
    epoch_of,
    judged_by_parts,
)
from nt2vr.search.searcher import Searcher, SearchPlan
from nt2vr.search.strategies import System
from nt2vr.ui.search.columns import how_text
from nt2vr.ui.search.formats import short_name

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


def key_of(*values: object) -> str:
    """Identify a query by the values that its columns depend on, in 32 characters however long these are."""
    return blake2b(repr(values).encode(), digest_size=16).hexdigest()


def story(
    rankings: Mapping[int, Ranking], epoch: int, answer: Answer, newest: int
) -> dict[str, Any]:
    """Tell how many of the first clips show the unwanted part, up to an epoch, and in words if it lost the wanted one.

    Nothing without a negation and complete verdicts, or such as captions or parts give, which is
    said. Of the `rankings` by epoch, 0 is the base; what an epoch before the `newest` so far misses
    is missed "for now".
    """
    told = [
        rankings[number] for number in sorted(rankings) if number <= epoch and rankings[number].hits
    ]
    verdicts = [hit.verdict for each in told for hit in each.hits]
    if not (answer.query.unwanted and any(verdicts) and (answer.judged_by or all(verdicts))):
        return {}
    by = f" by {answer.judged_by}" if answer.judged_by else ""
    counts = [each.counts["violation"] for each in told]
    first, *later = [count for count, _ in groupby(counts)]
    return {
        "first": f"{first} of {len(told[0].hits)} show “{' or '.join(answer.query.unwanted)}”{by}",
        "gap": len(later) > LATEST,
        "later": later[-LATEST:],
        "kind": "good"
        if counts[-1] < first and 4 * told[-1].counts["right"] >= 3 * len(told[-1].hits)
        else "",
        "words": _lost(told[-1], answer.query, epoch < newest),
    }


def _lost(now: Ranking, query: Query, goes_on: bool) -> str:
    """Say that more of the clips lack what is wanted than are right; empty if they do not."""
    misses = now.counts["miss"]
    if not query.wanted or misses <= now.counts["right"]:
        return ""
    return f"{misses} of {len(now.hits)} miss “{' '.join(query.wanted)}”{' for now' if goes_on else ''}"


@dataclass(frozen=True)
class Learner:
    """A model that learns, with its results for one query."""

    id: str  # of the run
    title: str
    epochs: Sequence[int]  # those offered, oldest first
    rankings: Mapping[int, Ranking]  # by epoch, as far as they are known; 0 is the base
    more: Mapping[str, Any]  # further values of its `run` in the template
    by_parts: Mapping[int, Ranking] = field(
        default_factory=dict
    )  # the rankings with verdicts, where they have none

    def column(
        self, column: Mapping[str, Any], epoch: int, answer: Answer, view_of: ViewOf
    ) -> dict[str, Any]:
        """Return a column with a frame for each epoch that is known, of which it shows one."""
        known = [
            number
            for number in self.epochs
            if number in self.rankings and self.rankings[number].hits
        ]
        found = replace(
            answer, rankings=(answer.rankings[0], *(self.rankings[number] for number in known))
        )
        columns = zip(known, view_of(found)["columns"][1:], strict=True)
        frames = {number: self._frame(number, frame, answer) for number, frame in columns}
        last = len(self.epochs) - 1
        run = {
            "id": self.id,
            "epochs": ",".join(map(str, self.epochs)),
            "place": self.epochs.index(epoch) if epoch in self.epochs else last,
            "last": last,
            "newest": self.epochs[-1],
            "frames": [frames.get(number) for number in self.epochs],
            **self.more,
        }
        meaning = f"{short_name(self.id)}: {column['meaning']}" if column.get("meaning") else ""
        return {
            **column,
            "name": self.title,
            "meaning": meaning,
            **frames.get(epoch, {}),
            "run": run,
        }

    def _frame(self, epoch: int, frame: Mapping[str, Any], answer: Answer) -> dict[str, Any]:
        asked = replace(answer, judged_by="the parts") if self.by_parts else answer
        told = story(self.by_parts or self.rankings, epoch, asked, self.epochs[-1])
        if told and self.by_parts:
            told["why"] = (
                f"As the parts say: without captions, {self.rankings[0].system.model} judges each part alone."
            )
        badge = {**frame["badge"], "more": ""} if told else dict(frame["badge"])
        for each in (badge, line := dict(frame["line"])):
            if told and each.get("kind") == "bad":  # it is still learning: no verdict yet
                each["kind"] = "neutral"
        system = self.rankings[epoch].system
        how = f"· {found}" if (found := how_text(system, epoch)) else ""
        kept = {name: frame[name] for name in ("note", "told", "hits")}
        return {"epoch": epoch, "how": how, "badge": badge, "line": line, "story": told, **kept}


def run_columns(
    view: Mapping[str, Any],
    answer: Answer,
    key: str,  # identifies the query, with everything but its systems; see `key_of`
    entries: Entries,
    base_of: Callable[[str], str],  # returns the name of a run's base, whose ranking is epoch 0
    kept: KeptRankings,  # rankings of earlier searches
    view_of: ViewOf,
    searcher: Searcher,
    panel: SearchPlan | None,  # what the answer was asked with; None if it has no columns
) -> list[Mapping[str, Any]]:
    """Add to a run's columns of `columns_view` its epochs; those missing are searched in the background."""
    kept.keep_to({name for name, entry in entries.items() if entry.kind == "run"})
    owns = [RunEpochs.of(ranking.system.model, entries) for ranking in answer.rankings]

    def of_run(column: Mapping[str, Any], ranking: Ranking, own: RunEpochs) -> dict[str, Any]:
        epoch, base, system = epoch_of(ranking), base_of(own.run), ranking.system
        of_query = own.run, key_of(key, system.strategy, system.strength)
        bases = [other for other in answer.rankings if other.system == replace(system, model=base)]
        rankings = kept.add(of_query, dict(zip((0,), bases, strict=False)) | {epoch: ranking})
        missing = own.missing(searcher.models, base, rankings) if panel else []
        if panel and missing:
            query = answer.query
            kept.complete(
                of_query,
                missing,
                lambda epoch: own.rank(searcher, query, panel, epoch, base, system),
            )
        waits = {"waits": bool(missing)}
        learner = Learner(own.run, short_name(own.run), own.epochs, rankings, waits)
        is_known = not answer.judged_by or any(
            hit.verdict for each in rankings.values() for hit in each.hits
        )
        if (
            panel
            and answer.query.unwanted
            and not is_known
            and base in entries
            and 0 in rankings
            and rankings[0].hits
        ):
            learner = replace(
                learner, by_parts=judged_by_parts(rankings, base, answer.query, searcher, panel)
            )
        return learner.column(column, epoch, answer, view_of)

    columns = zip(view["columns"], answer.rankings, owns, strict=True)
    return [of_run(column, ranking, own) if own else column for column, ranking, own in columns]


def replayed(
    recording: Recording, rankings: Mapping[int, Ranking], answer: Answer, view_of: ViewOf
) -> dict[str, Any]:
    """Return the column of a recorded run, which plays from its base to its last epoch."""
    last, minutes = len(rankings) - 1, duration_text(recording.seconds[-1])
    note = (
        f"{last} epochs of the preset “{recording.preset}” took {minutes}. Nothing is trained now."
    )
    shares = [f"{share:.0f} %" for share in recording.hard_pairs]
    more = {"recorded": recording.date, "note": note, "plays": True, "shares": shares}
    learner = Learner("recorded", f"{recording.base}, learning", range(last + 1), rankings, more)
    return learner.column({"system": f"{recording.base}, recorded"}, last, answer, view_of)
