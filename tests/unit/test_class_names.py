"""One class name has one meaning."""

import re
from collections import defaultdict

from tests.support.paths import ROOT

# Names that two classes may share, and why.
SHARED = {
    "Video": "Losses name `trainer.inputs.Video`, and so do people's own.",
}
# Parsing all files instead would take 1.5 s.
CLASS = re.compile(r"^ *class (\w+)[(:\[]", re.MULTILINE)


def test_a_class_name_is_defined_once() -> None:
    files_of = defaultdict(list)
    for package in ("nt2vr", "trainer"):
        for path in sorted((ROOT / package).rglob("*.py")):
            for name in CLASS.findall(path.read_text(encoding="utf-8")):
                files_of[name].append(path.relative_to(ROOT).as_posix())

    shared = {name: files for name, files in files_of.items() if len(files) > 1}
    assert shared.keys() == SHARED.keys(), shared
