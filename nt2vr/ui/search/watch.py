"""Training on the Search tab: a column searches again at every checkpoint, or is replayed."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import groupby
from typing import Any

import gradio as gr

from nt2vr.errors import ConfigError, DeviceInUseError, quoted
from nt2vr.library.galleries import Galleries
from nt2vr.models.card import read_card
from nt2vr.models.catalog import Catalog
from nt2vr.negation.parse.query import Query
from nt2vr.presets import PRESETS
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
from nt2vr.ui.later_starts import LaterStarts
from nt2vr.ui.search.results import how_text, short_name, system_choices
from nt2vr.ui.search.state import MAX_COLUMNS, QUIET
from nt2vr.ui.theme import template
from nt2vr.ui.train.view import run_view
from nt2vr.ui.web.inputs import event_value
from nt2vr.ui.web.permissions import Permissions, Visitor, session_of
from trainer.config import TrainConfig, load_config
from trainer.runs.manager import Run, RunManager
from trainer.teaching import teaching

PRESET = PRESETS / "stage.json"
MAX_BASE = 40  # characters of the base's name in a run's
POLL_S = 1.0
REST = 10  # polls after the end of a run, within which its last checkpoint is served
LATEST = 4  # counts told besides the first
WAITING = "(waiting)"  # in place of the id of a run that has not started
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
class RunColumn:
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
        learner = RunColumn(own.run, short_name(own.run), own.epochs, rankings, waits)
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
    learner = RunColumn("recorded", f"{recording.base}, learning", range(last + 1), rankings, more)
    return learner.column({"system": f"{recording.base}, recorded"}, last, answer, view_of)


def short_run(models: Catalog, name: str) -> TrainConfig:
    """Return the config of a run from a model: by sentences, or by clips too if it knows only drawings."""
    if not models.knows_only_drawings(name):
        return teaching(models, name)
    base = models.folder(name)
    read_card(base)
    return load_config(
        PRESET, {"base": str(base.resolve()), "name": f"{name[:MAX_BASE].strip()} learns not"}
    )


@dataclass(frozen=True)
class WatchedRun:
    """What a page remembers of the run that it watches."""

    run: str = ""  # its id; "" for none
    asked: Mapping[str, int] = field(default_factory=dict)  # the epochs last searched for, by model
    polls: int = 0  # number of polls left once it has ended
    view: Mapping[str, Any] = field(default_factory=dict)  # the panel


@dataclass
class Watch:
    """Panel of the run that is training, and the columns of runs."""

    galleries: Galleries
    permissions: Permissions
    runs: RunManager
    recording: Recording | None = (
        None  # a training to replay; None if there is none of this gallery
    )
    kept: KeptRankings = field(default_factory=KeptRankings)
    panel: gr.HTML = field(
        init=False
    )  # of the run that is training; its event `replay` asks for the recorded one
    notes: gr.HTML = field(init=False)  # on the runs in the list of systems
    timer: gr.Timer = field(init=False)  # ticks while a run is under way
    _watched: gr.State = field(init=False)  # of ticks, of which one under way may overwrite it
    # id of the run whose column is to join the others with its first checkpoint, or WAITING
    _joins: gr.State = field(init=False)
    _wished: gr.State = field(
        init=False
    )  # name of the model to train that a run is in the way of; "" for none

    def build(self) -> None:
        """Lay out the panel, empty until a run is under way."""
        self.panel = template("watch", {})
        self.notes = template("run-notes", {"runs": []})
        self.timer = gr.Timer(POLL_S, active=False)
        self._watched = gr.State(WatchedRun())
        self._joins = gr.State("")
        self._wished = gr.State("")

    def wire(
        self, visits: Sequence[Any], query: Any, systems: Any, ask: Any, columns: Any, answer: Any
    ) -> None:
        """Wire columns, panel, which looks for a run on `visits`, and timer; a change of `ask` searches."""
        moved = columns.epoch(self.on_epoch, systems, systems, **QUIET)
        moved.success(None, outputs=ask, js="nt2vr.ask")
        panel = [self.panel, self.timer, self._watched]
        started = [*panel, self._joins, self._wished]
        waits = [systems, self._watched, self._wished]
        looked = [query, systems, answer, self._watched, self._joins, self._wished]
        for event in visits:
            event(self.on_visit, systems, panel, **QUIET)
        self.panel.start(self.on_start, systems, started, **QUIET)
        self.panel.instead(self.on_instead, waits, started, **QUIET)
        self.panel.afterwards(self.on_afterwards, waits, started, **QUIET)
        self.panel.dismiss(self.on_dismiss, waits, started, **QUIET)
        self.panel.withdraw(self.on_withdraw, waits, panel, **QUIET)
        self.panel.stop(self.on_stop, [systems, self._watched], panel, **QUIET)
        self.panel.join(self.on_join, [systems, self._watched], [*panel, self._joins], **QUIET)
        self.timer.tick(
            self.on_tick,
            looked,
            [*started, systems, ask],
            queue=False,
            trigger_mode="once",
            **QUIET,
        )

    def offers(self, request: gr.Request | None, text: str, gallery: str) -> dict[str, Any]:
        """Say whether to offer this visitor a training, and a recorded one; if it is of another query, of which."""
        other = self._replayed(text) if self.recording and not gallery else ""
        offered = {"replays": bool(other), "replay_of": "" if other == text else other}
        return {"trains": self.permissions.may("train", request), **offered}

    def columns(
        self,
        view: Mapping[str, Any],
        answer: Answer,
        key: str,
        searcher: Searcher,
        panel: SearchPlan | None,
        view_of: ViewOf,
        is_replayed: bool,
    ) -> dict[str, Any]:
        """Add to a view what `run_columns` does, and the recorded run if it is to be replayed."""
        entries = self._models.entries()
        of_query = (
            answer,
            key,
            entries,
            lambda run: self._models.card(run, entries).base,
            self.kept,
            view_of,
        )
        columns = run_columns(view, *of_query, searcher, panel)
        if is_replayed and self.recording is not None:
            rankings = self.recording.rankings(answer.query, searcher.judge, searcher.video)
            columns.insert(1, replayed(self.recording, rankings, answer, view_of))
        return {**view, "columns": columns, "key": key, "q": answer.sentence}

    def replay_link(self, event: gr.EventData, _: Visitor = None) -> dict[str, str]:
        """Return the link of the recorded run for the query on display, or for the first that was recorded."""
        if self.recording is None:
            raise ConfigError("There is no recorded training of this gallery.")
        query = self._replayed(event_value(event, "query", str))
        return {"q": query, "systems": self.recording.base, "k": "8", "replay": "1"}

    def _replayed(self, text: str) -> str:
        queries = self.recording.queries if self.recording else {text: ()}
        return text if text in queries else next(iter(queries))

    def replays(self, text: str, gallery: str) -> bool:
        """Whether there is a recording of a sentence in a gallery."""
        return self.recording is not None and not gallery and text in self.recording.queries

    def awake(self) -> dict[Any, Any]:
        """Keep the panel up to date if a run is under way or is to start, along with a search's answer."""
        return (
            {self.timer: gr.Timer(active=True)} if self.runs.under_way() or self._is_waiting else {}
        )

    def on_visit(self, systems: list[str], request: gr.Request) -> tuple[Any, ...]:
        """Show the run that is under way, if any, and the start that waits, whoever asked for them."""
        run = self.runs.under_way()
        if not run and not self._later.view(request):
            return gr.skip(), gr.skip(), gr.skip()
        return self._showing(WatchedRun(run), "", systems, request)

    def on_start(self, systems: list[str], request: gr.Request) -> tuple[Any, ...]:
        """Train from the model of the first column, or offer what can be done about a run that is in the way."""
        self.permissions.check("train", request)
        model = self._model_to_train(systems)
        try:
            run = self.runs.start(short_run(self._models, model), session_of(request))
        except DeviceInUseError:
            in_the_way = WatchedRun(self._later.run_in_the_way().run_id)
            return *self._showing(in_the_way, "", systems, request, wished=model), "", model
        return *self._showing(WatchedRun(run), run, systems, request), run, ""

    def on_instead(
        self, systems: list[str], watched: WatchedRun, wished: str, request: gr.Request
    ) -> tuple[Any, ...]:
        """Stop the run that is in the way, and train the model that was wished for once it has ended."""
        self._start_later(wished, stops=True, request=request)
        return *self._showing(watched, WAITING, systems, request), WAITING, ""

    def on_afterwards(
        self, systems: list[str], watched: WatchedRun, wished: str, request: gr.Request
    ) -> tuple[Any, ...]:
        """Train the model that was wished for once the run that is in the way has ended."""
        self._start_later(wished, stops=False, request=request)
        return *self._showing(watched, WAITING, systems, request), WAITING, ""

    def on_dismiss(
        self, systems: list[str], watched: WatchedRun, wished: str, request: gr.Request
    ) -> tuple[Any, ...]:
        """Train nothing after all."""
        return *self._showing(watched, "", systems, request), gr.skip(), ""

    def on_withdraw(
        self, systems: list[str], watched: WatchedRun, wished: str, request: gr.Request
    ) -> tuple[Any, ...]:
        """Take back the start that waits, or close the message that it was refused."""
        self._later.take_back(request)
        return self._showing(watched, "", systems, request, wished)

    def _start_later(self, model: str, stops: bool, request: gr.Request) -> None:
        self.permissions.check("train", request)
        config = self.runs.check_config(short_run(self._models, model))
        session = session_of(request)
        self._later.start(
            config.encoder.name, lambda: self.runs.start(config, session), stops, request
        )

    def _model_to_train(self, systems: list[str]) -> str:
        """Return the model of the first column; a ConfigError if it cannot be trained."""
        entries = self._models.entries()
        if not systems:
            raise ConfigError(
                "Choose a system first: training starts from the model of the first column."
            )
        model = System.named(systems[0], list(entries)).model
        if entries[model].kind == "embeddings":
            reason = "has embeddings from a file and cannot be trained. Put another system first."
            raise ConfigError(f"{quoted(model)} {reason}")
        return model

    def on_stop(
        self, systems: list[str], watched: WatchedRun, request: gr.Request
    ) -> tuple[Any, ...]:
        """Stop the run that is shown; its checkpoints stay."""
        self.permissions.check("train", request)
        self.permissions.check_cancel(self.runs.get(watched.run).session, request)
        self.runs.stop(watched.run)
        return self._showing(watched, "", systems, request)

    def on_join(
        self, systems: list[str], watched: WatchedRun, request: gr.Request
    ) -> tuple[Any, ...]:
        """Have the run's column join the others at the next tick, or with its first checkpoint."""
        return *self._showing(watched, watched.run, systems, request), watched.run

    def on_tick(
        self,
        text: str,
        systems: list[str],
        answer: Answer | None,
        watched: WatchedRun,
        joins: str,
        wished: str,
        request: gr.Request,
    ) -> tuple[Any, ...]:
        """Show how far the run is, add its column if that is to join, and search again for a newer checkpoint."""
        under_way = self.runs.under_way()
        watched = replace(watched, run=under_way or watched.run)
        joins = self._run_to_join(joins, request)
        wishes: Any = gr.skip()
        if not under_way:
            # Nothing is in the way any more.
            wished = ""
            wishes = ""
        if joins and joins == watched.run and (model := self._model_of(joins)):
            shown = systems or []
            joined = (
                shown if model in shown else [*shown[:1], model, *shown[1:]][:MAX_COLUMNS]
            )  # next to the baseline
            panel = self._showing(watched, "", joined, request, wished)
            return *panel, "", wishes, self._chosen(joined), f"{time.monotonic()}"
        newer = (
            self._newer(answer) if answer and answer.sentence == text else {}
        )  # not while a query is being typed
        asks = f"{time.monotonic()}" if newer and newer != watched.asked else gr.skip()
        watched = replace(watched, asked=newer or watched.asked)
        return (
            *self._showing(watched, joins, systems, request, wished),
            gr.skip(),
            wishes,
            gr.skip(),
            asks,
        )

    def run_notes(self, request: gr.Request) -> dict[str, Any]:
        """Say of each run, for the list of systems, whose it is and how far it has come."""
        notes = []
        for run in self.runs.runs():
            model = self._model_of(run.run_id)
            if model:
                notes.append({"name": short_name(model), "note": self._run_note(run, request)})
        return {"runs": notes}

    def _run_note(self, run: Run, request: gr.Request) -> str:
        is_mine = run.session == session_of(request) or self.permissions.may("train", request)
        whose = "yours" if is_mine else "a visitor's"
        state = run_view(run)["word"]
        if run.config is None or not run.status.epoch:
            return f"{whose}, {state}"
        return f"{whose}, epoch {run.status.epoch} of {run.config.batches.epochs}, {state}"

    def on_epoch(self, systems: list[str], event: gr.EventData) -> Any:
        """Replace a run's system by that of one of its epochs."""
        run, epoch = event_value(event, "run", str), event_value(event, "epoch", int)
        return self._chosen(with_epoch(systems or [], run, epoch, self._models.entries()))

    @property
    def _models(self) -> Catalog:
        return self.galleries.built_in.models

    @property
    def _later(self) -> LaterStarts:
        return LaterStarts(self.runs, self.permissions)

    @property
    def _is_waiting(self) -> bool:
        return self.runs.waiting is not None and self.runs.waiting.is_waiting

    def _run_to_join(self, joins: str, request: gr.Request) -> str:
        """Return the id of the run whose column is to join; for WAITING, of the run that this page's start led to."""
        if joins != WAITING:
            return joins
        waiting = self.runs.waiting
        return (
            waiting.run_id if waiting is not None and waiting.session == session_of(request) else ""
        )

    def _model_of(self, run: str) -> str:
        """Return the name of the model that a run has become; "" as long as it has no checkpoint."""
        entries = self._models.entries()
        names = (run, f"{run} (run)")  # as the catalog calls it where a model has its name
        return next((name for name in names if name in entries and entries[name].kind == "run"), "")

    def _chosen(self, systems: Sequence[str]) -> gr.Dropdown:
        names = self.galleries.built_in.system_names(systems)
        return gr.Dropdown(system_choices(names), value=list(systems), multiselect=True)

    def _newer(self, answer: Answer) -> dict[str, int]:
        """Return the epochs that are served by now, where others answered."""
        live = self.galleries.built_in.live
        served = {
            r.system.model: (r.epoch, live.epoch(r.system.model))
            for r in answer.rankings
            if r.epoch
        }
        return {
            model: now
            for model, (answered, now) in served.items()
            if now is not None and now != answered
        }

    def _showing(
        self,
        watched: WatchedRun,
        joins: str,
        systems: Sequence[str],
        request: gr.Request,
        wished: str = "",
    ) -> tuple[Any, ...]:
        """Return the panel, if it has changed, the timer, and what to remember."""
        try:
            run = self.runs.get(watched.run) if watched.run else None
        except ConfigError:  # deleted
            run = None
        training = run_view(run) if run else None
        is_under_way = training is not None and training["under_way"]
        polls = REST if is_under_way or self._is_waiting else watched.polls - 1
        view = self._view(training, run, joins, systems, request) if training and run else {}
        if waiting := self._later.view(request):
            view["waiting"] = waiting
        if wished and is_under_way and not self._is_waiting:
            view["wish"] = wished
        panel = gr.skip() if view == watched.view else view
        return panel, gr.Timer(active=polls > 0), replace(watched, polls=polls, view=view)

    def _view(
        self,
        training: Mapping[str, Any],
        run: Run,
        joins: str,
        systems: Sequence[str],
        request: gr.Request,
    ) -> dict[str, Any]:
        """Show a run that is under way, or why it failed; nothing of one that ended otherwise."""
        under_way = training["under_way"]
        if not under_way and not training["error"]:
            return {}
        may_join = under_way and not self._is_shown(run.run_id, systems or ())
        return {
            **training,
            "error": self.permissions.redactor(request)(training["error"]),
            "name": short_name(run.run_id),
            "joins": may_join and joins == run.run_id,
            "can_join": may_join and joins != run.run_id,
            "may_stop": self._later.may_stop(run, request),
        }

    def _is_shown(self, run: str, systems: Sequence[str]) -> bool:
        """Whether a column shows an epoch of a run."""
        entries, model = self._models.entries(), self._model_of(run)
        shown = (RunEpochs.of(System.named(name, list(entries)).model, entries) for name in systems)
        return bool(model) and any(own.run == model for own in shown if own is not None)
