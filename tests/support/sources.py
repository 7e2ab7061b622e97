"""The product's source files, each parsed once, for tests of who uses what."""

import ast
from functools import cache
from pathlib import Path

from tests.support.paths import ROOT

FILES = [
    ROOT / "app.py",
    *sorted((ROOT / "nt2vr").rglob("*.py")),
    *sorted((ROOT / "trainer").rglob("*.py")),
]


def name_of(file: Path) -> str:
    return file.relative_to(ROOT).as_posix()


@cache
def nodes_of(file: Path) -> tuple[ast.AST, ...]:
    """Return all nodes of a file's syntax tree. Parsing all files takes longer than most tests of them."""
    return tuple(ast.walk(ast.parse(file.read_text(encoding="utf-8"))))
