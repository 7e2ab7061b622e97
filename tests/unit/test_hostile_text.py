"""Outside text of any length takes time proportional to its length, and is not remembered for good."""

import ast
import re
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import pytest

from nt2vr.errors import Nt2vrError
from nt2vr.evaluation.benchmark import cue_of
from nt2vr.evaluation.reports.archive import id_of
from nt2vr.language.foreign import notice_of
from nt2vr.language.query import Query
from nt2vr.language.tokens import word_spans
from nt2vr.models.catalog import Catalog
from nt2vr.models.foreign import checked_name
from nt2vr.models.foreign_file import TOWER
from nt2vr.models.open_clip_encoder import WORD
from nt2vr.search.reading import with_words
from nt2vr.search.systems import System
from nt2vr.ui.library.media import FRAME
from nt2vr.world.lexicon import tokens_of
from tests.file_tree import parsed
from tests.paths import ROOT
from tests.unit.evaluation.words import SYSTEMS, report_of
from trainer.layers import LAYER

LENGTHS = 10_000, 40_000
STARTS = "", "CLIP boolean ", "CLIP anchored λ", "no", "visual"
UNITS = (
    " ",
    "a",
    "1",
    ".",
    "'",
    "-",
    "a'",
    "a b ",
    "1.",
    "no ",
    "n't",
    "visual.",
    "transformer.resblocks.1",
)
REPORT = report_of(*SYSTEMS)


READERS: dict[str, Callable[[str], object]] = {
    "a system's name": lambda text: System.named(text, ["CLIP"]),
    "a cue of negation": cue_of,
    "the words of a query": WORD.findall,
    "the words of a query to be read differently": lambda text: with_words(Query(text), {"w": "a"}),
    "the words of a claim": tokens_of,
    "a tower in a checkpoint": lambda text: list(TOWER.finditer(text)),
    "a layer": LAYER.fullmatch,
    "a frame of a clip": FRAME.fullmatch,
    "the folder of a report": lambda text: id_of(replace(REPORT, name=text)),
    "a new model's name": lambda text: checked_name(text, Catalog([])),
}


def _seconds(read: Callable[[str], object], text: str) -> float:
    began = time.process_time()
    with suppress(Nt2vrError):
        read(text)
    return time.process_time() - began


def _check_time(read: Callable[[str], object], start: str, unit: str) -> None:
    """Assert that four times the text takes no more than about four times as long; quadratic would be 16 times."""
    short, long = (start + unit * (length // len(unit)) + "!" for length in LENGTHS)
    if _seconds(read, long) < 0.05:  # quadratic time would be seconds
        return
    times = [min(_seconds(read, text) for _ in range(3)) for text in (short, long)]
    assert times[1] < max(0.05, 8 * times[0]), f"{start + unit!r}: {times[0]:.4f} s, {times[1]:.4f} s"


@pytest.mark.parametrize("what", READERS)
def test_four_times_the_text_takes_no_more_than_about_four_times_as_long(what: str) -> None:
    for start in STARTS:
        for unit in UNITS:
            _check_time(READERS[what], start, unit)


@pytest.mark.parametrize("read", [word_spans, notice_of])
def test_a_query_too(read: Callable[[str], object]) -> None:
    for unit in ("n't", ' -"a', "-free", "1. ", "''", "-", "aé"):
        _check_time(read, "", unit)


REMEMBERED = {  # functions whose arguments are few, whatever is sent
    "_warn": "files of the data folder that cannot be used",
    "_tables": "files of published figures",
    "_report_taken": "models of plug-ins",
    "gflops_per_second": "devices",
    **dict.fromkeys(("groups_in", "wordings_in"), "files of wordings"),
    "listed_runs": "lists of words.toml",
    **dict.fromkeys(("_steps", "_part"), "rewritings of typed text"),
    **dict.fromkeys(("deeds_at", "_backdrop", "props_at", "_choices"), "places of the world and what is there"),
    **dict.fromkeys(
        ("those", "cast_at", "_ordered", "_rarity", "_uses", "_words", "forms"), "words of its data files"
    ),
    **dict.fromkeys(("_flat", "picture", "_squashed", "drawing", "ink", "look", "with_body"), "its pictures"),
    **dict.fromkeys(("_split", "with_mood", "grip_of", "body_of", "seat", "poses"), "its figures"),
    "read_toml": "names of its data files",
    **dict.fromkeys(("spots", "headings"), "its motions, each with 8 steps"),
}


def test_only_arguments_that_are_few_are_remembered_without_a_limit() -> None:
    found = {
        function.name
        for path in (ROOT / "nt2vr").rglob("*.py")
        for function in ast.walk(parsed(path))
        if isinstance(function, ast.FunctionDef) and function.args.args
        for decorator in map(ast.unparse, function.decorator_list)
        if re.fullmatch(r"(functools\.)?(cache|lru_cache\((maxsize=)?None.*\))", decorator)
    }
    assert found == REMEMBERED.keys()
