"""Lists of words in `assets/language/words.toml`: the code names those that are there, and no others."""

import ast
import tomllib

import pytest

from nt2vr.negation.parse.wordlists import listed, text_of
from tests.paths import ROOT

TABLE = tomllib.loads(text_of("language/words.toml"))
FUNCTIONS = {"listed": "lists", "listed_runs": "runs"}


def named(function: str) -> set[str]:
    """Return the names of lists with which the code calls a function of `nt2vr.negation.parse.wordlists`."""
    found = set()
    for path in (path for folder in ("nt2vr", "trainer", "benchmarks") for path in (ROOT / folder).rglob("*.py")):
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        imports = (node for node in nodes if isinstance(node, ast.ImportFrom) and node.module == listed.__module__)
        if function in {alias.name for node in imports for alias in node.names}:
            calls = (node for node in nodes if isinstance(node, ast.Call) and ast.unparse(node.func) == function)
            found |= {ast.literal_eval(name) for call in calls for name in call.args}
    return found


@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_code_names_exactly_the_lists_that_there_are(function: str) -> None:
    assert named(function) == TABLE[FUNCTIONS[function]].keys()
