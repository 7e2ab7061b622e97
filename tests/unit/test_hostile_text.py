"""Outside text of any length takes time proportional to its length, and is not remembered for good."""

import ast
import re
import time
from collections.abc import Callable

import pytest

from nt2vr.evaluation.benchmark import CUE
from nt2vr.language.foreign import notice_of
from nt2vr.language.query import Query
from nt2vr.language.tokens import word_spans
from nt2vr.models.foreign_file import TOWER
from nt2vr.models.open_clip_encoder import WORD
from nt2vr.search.reading import with_words
from nt2vr.search.systems import _NUMBER, _split
from nt2vr.ui.library.media import FRAME
from nt2vr.world.lexicon import _WORD
from tests.paths import ROOT
from trainer.layers import LAYER

LENGTHS = 10_000, 40_000
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
    "GLOBAL ",
)
READERS: dict[str, Callable[[str], object]] = {
    "a system's name": _split,
    "a number": _NUMBER.fullmatch,
    "a cue of negation": CUE.search,
    "the words of a query": WORD.findall,
    "the words of a query to be read differently": lambda text: with_words(Query(text), {"w": "a"}),
    "the words of a claim": _WORD.findall,
    "a tower in a checkpoint": lambda text: list(TOWER.finditer(text)),
    "a layer": LAYER.fullmatch,
    "a frame of a clip": FRAME.fullmatch,
    "an article": lambda text: re.sub(r"\ban? (?=\w)(?=([aeiou])?)", "an ", text),
    "a name for a folder": lambda text: re.sub(r"[^a-z0-9]+", "-", text),
    "a folder of a model": lambda text: re.sub(r"[^\w.-]+", "-", text),
    "a class in a pickle": lambda text: re.search(r"GLOBAL ([\w.]+)", text),
}


def _seconds(read: Callable[[str], object], text: str) -> float:
    times = []
    for _ in range(3):
        began = time.process_time()
        read(text)
        times.append(time.process_time() - began)
    return min(times)


@pytest.mark.parametrize("what", READERS)
@pytest.mark.parametrize("start", ["", "CLIP boolean", "CLIP anchored λ", "no", "visual"])
@pytest.mark.parametrize("unit", UNITS)
def test_four_times_the_text_takes_no_more_than_about_four_times_as_long(what: str, start: str, unit: str) -> None:
    short, long = (_seconds(READERS[what], start + unit * (length // len(unit)) + "!") for length in LENGTHS)
    assert long < max(0.05, 8 * short), f"{short:.4f} s, {long:.4f} s"  # quadratic: 16 times


@pytest.mark.parametrize("read", [word_spans, notice_of])
@pytest.mark.parametrize("unit", ["n't", ' -"a', "-free", "1. ", "''", "-", "aé"])
def test_a_query_too(read: Callable[[str], object], unit: str) -> None:
    short, long = (_seconds(read, unit * (length // len(unit)) + "!") for length in LENGTHS)
    assert long < max(0.05, 8 * short), f"{short:.4f} s, {long:.4f} s"


REMEMBERED = {  # functions whose arguments are few, whatever is sent
    "_deeds": "places of the built-in world",
    "_drawing": "its pictures",
    "actor_svg": "its actors",
    "_warn": "files of the data folder that cannot be used",
}


def test_only_arguments_that_are_few_are_remembered_without_a_limit() -> None:
    found = {
        function.name
        for path in (ROOT / "nt2vr").rglob("*.py")
        for function in ast.walk(ast.parse(path.read_text()))
        if isinstance(function, ast.FunctionDef) and function.args.args
        for decorator in map(ast.unparse, function.decorator_list)
        if re.fullmatch(r"(functools\.)?(cache|lru_cache\((maxsize=)?None.*\))", decorator)
    }
    assert found == REMEMBERED.keys()
