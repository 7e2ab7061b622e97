"""The file tree of docs/architecture.md, generated from the first docstring line of every module.

python -m tests.file_tree --write
"""

import argparse
import ast
import re
import sys
import textwrap
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.paths import ROOT

PAGE = ROOT / "docs" / "architecture.md"
BLOCK = re.compile(r"(?<=^```\n)app\.py .*?(?=^```$)", re.MULTILINE | re.DOTALL)
NAMES = 26  # columns for the names
WIDTH = 110
OTHERS = {
    "assets/": "gallery/, models/, world/ (embeddings of training clips), ui/ (templates, style), wordings/",
    "benchmarks/": "measures the figures in docs/",
    "tests/": "unit/, commands/, hub/, package/, app/, browser/",
}


@cache
def parsed(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


def summary(file: Path) -> str:
    """The first sentence of a module's docstring, from its first line."""
    line = (ast.get_docstring(parsed(file)) or "").partition("\n")[0]
    return re.split(r"\. (?=[A-Z])|; ", line)[0].rstrip(".")


def row(depth: int, name: str, text: str) -> str:
    return f"{'  ' * depth + name:{NAMES}}{textwrap.shorten(text, WIDTH - NAMES, placeholder=' …')}".rstrip()


def folder_rows(folder: Path, depth: int = 0) -> Iterator[str]:
    """A package, its modules, then its subpackages."""
    yield row(depth, f"{folder.name}/", summary(folder / "__init__.py"))
    for file in sorted(folder.glob("*.py")):
        if file.name != "__init__.py":
            yield row(depth + 1, file.name, summary(file))
    for package in sorted(folder.glob("*/__init__.py")):
        yield from folder_rows(package.parent, depth + 1)


def file_tree() -> str:
    rows = [row(0, "app.py", summary(ROOT / "app.py"))]
    for folder in ("nt2vr", "trainer"):
        rows += folder_rows(ROOT / folder)
    return "\n".join([*rows, *(row(0, name, text) for name, text in OTHERS.items())]) + "\n"


def tree_in_docs() -> str:
    block = BLOCK.search(PAGE.read_text(encoding="utf-8"))
    return block.group() if block else ""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.file_tree", description=__doc__)
    parser.add_argument("--write", action="store_true", help="put the tree into docs/architecture.md")
    if parser.parse_args().write:
        page = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(BLOCK.sub(lambda _: file_tree(), page), encoding="utf-8")
    else:
        sys.stdout.write(file_tree())


if __name__ == "__main__":
    main()
