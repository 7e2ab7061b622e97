"""One class name has one meaning."""

import ast
from collections import defaultdict

from tests.support.paths import ROOT

# Names that two classes may share, and why.
SHARED = {
    "Video": "Losses name `trainer.inputs.Video`, and so do people's own.",
}


def test_a_class_name_is_defined_once() -> None:
    files_of = defaultdict(list)
    for package in ("nt2vr", "trainer"):
        for path in sorted((ROOT / package).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ClassDef):
                    files_of[node.name].append(path.relative_to(ROOT).as_posix())

    shared = {name: files for name, files in files_of.items() if len(files) > 1}
    assert shared.keys() == SHARED.keys(), shared
