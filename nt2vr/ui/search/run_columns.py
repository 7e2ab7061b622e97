"""Columns of training runs: their epochs, each with its results for the query, and what has changed so far."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby

from nt2vr.errors import ConfigError, quoted
from nt2vr.files import hash_text
from nt2vr.negation.parse.query import Query
from nt2vr.search.answers import Answer, Ranking
from nt2vr.search.epochs import (
    Entries,
    RankingCache,
    RunEpochs,
    epoch_of,
    judged_by_parts,
)
from nt2vr.search.plan import SearchPlan
from nt2vr.search.searcher import Searcher
from nt2vr.search.strategies import System
from nt2vr.ui.search.columns import strategy_text
from nt2vr.ui.search.formats import short_name
from nt2vr.ui.search.tally import grade, hits_of, source_text
from nt2vr.ui.view import View, Views

# Counts of a column's story, besides the first one.
LATEST = 4
# Of one run and query; 0 is the base.
RankingsByEpoch = Mapping[int, Ranking]
# Returns what `columns_view` does.
ViewOf = Callable[[Answer], View]


def with_epoch(systems: Sequence[str], run: str, epoch: int, entries: Entries) -> list[str]:
    """Return the systems with a run's replaced by those of one of its epochs."""
    epochs = RunEpochs.of(run, entries)
    if epochs is None or epochs.run != run:
        raise ConfigError(f"There is no run {quoted(run)}.")
    names = []
    for name in systems:
        system = System.named(name, list(entries))
        if RunEpochs.of(system.model, entries) == epochs:
            name = epochs.system(epoch, system).name
        names.append(name)
    return list(dict.fromkeys(names))


def key_of(*values: object) -> str:
    """Identify a query by the values that its columns depend on: 32 characters."""
    return hash_text(repr(values), 16)


def _violations_view(violations: Sequence[int], total: int, answer: Answer) -> View:
    """Tell how many of the first clips show the unwanted part, from epoch to epoch."""
    # Epochs in a row with the same count are told once.
    first, *later = [count for count, _ in groupby(violations)]
    unwanted = " or ".join(answer.query.unwanted)
    return {
        "first": f"{first} of {total} show “{unwanted}”{source_text(answer)}",
        "gap": len(later) > LATEST,
        "later": later[-LATEST:],
    }


def _is_judged(rankings: Sequence[Ranking], answer: Answer) -> bool:
    """Return True if all clips have verdicts; for those of captions or parts, if any has one."""
    verdicts = [hit.verdict for hit in hits_of(rankings)]
    if answer.judged_by:
        return any(verdicts)
    return bool(verdicts) and all(verdicts)


def _lost(ranking: Ranking, query: Query, goes_on: bool) -> str:
    """Say that more of the clips lack what is wanted than are right; empty if they do not."""
    misses = ranking.counts["miss"]
    if not query.wanted or misses <= ranking.counts["right"]:
        return ""
    wanted = " ".join(query.wanted)
    for_now = " for now" if goes_on else ""
    return f"{misses} of {len(ranking.hits)} miss “{wanted}”{for_now}"


@dataclass(frozen=True)
class RunColumn:
    """The column of a model that learns, with its results for one query.

    Attributes:
        id: of the run.
        epochs: those that a person can choose, oldest first.
        rankings: by epoch, as far as they are known; 0 is the base.
        extra: further values of `run` in the template.
        by_parts: the same rankings with verdicts by the parts, if they have no other verdicts.
    """

    id: str
    title: str
    epochs: Sequence[int]
    rankings: RankingsByEpoch
    extra: View
    by_parts: RankingsByEpoch = field(default_factory=dict)

    def view(self, column: View, epoch: int, answer: Answer, view_of: ViewOf) -> View:
        """Return a column with a frame for each epoch that is known, of which it shows one."""
        epochs = self.epochs
        frames = self._frames(answer, view_of)
        last = len(epochs) - 1
        run = {
            "id": self.id,
            "epochs": ",".join(map(str, epochs)),
            "position": epochs.index(epoch) if epoch in epochs else last,
            "last_position": last,
            "newest_epoch": epochs[-1],
            "frames": [frames.get(number) for number in epochs],
            **self.extra,
        }
        meaning = column.get("meaning")
        return {
            **column,
            "name": self.title,
            "meaning": f"{short_name(self.id)}: {meaning}" if meaning else "",
            **frames.get(epoch, {}),
            "run": run,
        }

    def _frames(self, answer: Answer, view_of: ViewOf) -> dict[int, View]:
        rankings = {}
        for epoch, ranking in self.rankings.items():
            if epoch in self.epochs and ranking.hits:
                rankings[epoch] = ranking
        # Movements are counted against the first column, which is not an epoch.
        compared = (answer.rankings[0], *rankings.values())
        columns = view_of(replace(answer, rankings=compared))["columns"][1:]
        by_epoch = zip(rankings, columns, strict=True)
        return {epoch: self._frame(epoch, column, answer) for epoch, column in by_epoch}

    def _frame(self, epoch: int, column: View, answer: Answer) -> View:
        """Return what changes in the column when it shows an epoch."""
        epoch_story = self.story(epoch, answer)
        badge = dict(column["badge"])
        summary = dict(column["stage_summary"])
        if epoch_story:
            badge["violations"] = ""
            # It is still learning, so nothing is bad yet.
            for view in (badge, summary):
                if view.get("kind") == "bad":
                    view["kind"] = "neutral"
        strategy = strategy_text(self.rankings[epoch].system, epoch)
        return {
            "epoch": epoch,
            "strategy": f"· {strategy}" if strategy else "",
            "badge": badge,
            "stage_summary": summary,
            "story": epoch_story,
            "note": column["note"],
            "outcome": column["outcome"],
            "hits": column["hits"],
        }

    def story(self, epoch: int, answer: Answer) -> View:
        """Tell how many first clips show the unwanted part, up to an epoch, and whether the wanted one got lost.

        It is empty without a negation, and unless all clips have verdicts. Of verdicts by captions
        or parts, one is enough, and the text says so.
        """
        if self.by_parts:
            answer = replace(answer, judged_by="the parts")
        rankings = self.by_parts or self.rankings
        so_far = [rankings[number] for number in sorted(rankings) if number <= epoch]
        so_far = [ranking for ranking in so_far if ranking.hits]
        if not answer.query.unwanted or not _is_judged(so_far, answer):
            return {}

        violations = [ranking.counts["violation"] for ranking in so_far]
        latest = so_far[-1]
        is_good = grade(latest.counts["right"], len(latest.hits)) == "good"
        has_improved = violations[-1] < violations[0]
        view = {
            **_violations_view(violations, len(so_far[0].hits), answer),
            "kind": "good" if is_good and has_improved else "",
            # What an earlier epoch misses is missed for now.
            "misses": _lost(latest, answer.query, goes_on=epoch < self.epochs[-1]),
        }
        if self.by_parts:
            base = self.rankings[0].system.model
            view["explanation"] = (
                f"As the parts say: without captions, {base} judges each part alone."
            )
        return view


@dataclass(frozen=True)
class RunColumns:
    """Adds epochs to the columns of runs; missing ones are searched in the background.

    Attributes:
        key: identifies the query, with everything but its systems; see `key_of`.
        cache: rankings of earlier searches.
        plan: of the answer's search.
    """

    answer: Answer
    key: str
    entries: Entries
    cache: RankingCache
    view_of: ViewOf
    searcher: Searcher
    plan: SearchPlan

    def with_epochs(self, columns: Sequence[View]) -> Views:
        """Return the columns of `columns_view`, those of runs with their epochs."""
        runs = {name for name, entry in self.entries.items() if entry.kind == "run"}
        self.cache.keep_only(runs)
        views = []
        for column, ranking in zip(columns, self.answer.rankings, strict=True):
            epochs = RunEpochs.of(ranking.system.model, self.entries)
            if epochs is not None:
                column = self._with_epochs(column, ranking, epochs)
            views.append(column)
        return views

    def _with_epochs(self, column: View, ranking: Ranking, epochs: RunEpochs) -> View:
        # Its ranking is epoch 0.
        models = self.searcher.models
        base = models.card(epochs.run, self.entries).base
        system = ranking.system
        epoch = epoch_of(ranking)
        base_system = replace(system, model=base)
        new_rankings = {}
        for other in self.answer.rankings:
            if other.system == base_system:
                new_rankings[0] = other
        new_rankings[epoch] = ranking
        cache_key = (epochs.run, key_of(self.key, system.strategy, system.strength))
        rankings = self.cache.add(cache_key, new_rankings)
        missing = epochs.missing(models, base, rankings)
        if missing:
            rank = partial(
                epochs.rank, self.searcher, self.answer.query, self.plan, base=base, like=system
            )
            self.cache.complete(cache_key, missing, rank)
        run_column = RunColumn(
            epochs.run,
            short_name(epochs.run),
            epochs.epochs,
            rankings,
            extra={"is_incomplete": bool(missing)},
            by_parts=self._judge_by_parts(rankings, base),
        )
        return run_column.view(column, epoch, self.answer, self.view_of)

    def _judge_by_parts(self, rankings: RankingsByEpoch, base: str) -> dict[int, Ranking]:
        """Return the rankings with verdicts by the parts, where captions say nothing; otherwise none."""
        has_verdict = any(hit.verdict for hit in hits_of(rankings.values()))
        if has_verdict or not self.answer.judged_by:
            return {}
        query = self.answer.query
        has_base = base in self.entries and 0 in rankings and rankings[0].hits
        if not query.unwanted or not has_base:
            return {}
        return judged_by_parts(rankings, base, query, self.searcher, self.plan)
