"""Who may import whom."""

import ast
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from tests.support.paths import ROOT
from tests.support.sources import FILES, name_of, nodes_of

# What may be imported -> the rooms that may.
ONLY_IN = {
    "torch": ("nt2vr/models/", "nt2vr/papers/", "trainer/"),
    "open_clip": ("nt2vr/models/", "trainer/"),
    "gradio": ("app.py", "nt2vr/ui/"),
    "starlette": ("nt2vr/ui/",),
    "fastapi": ("nt2vr/ui/",),
    "faiss": ("nt2vr/search/index/",),
    "cv2": ("nt2vr/media/", "nt2vr/world/drawn/"),
    "av": ("nt2vr/media/",),
    "app": (),
    "tests": (),
    "benchmarks": (),
    # `nt2vr.extension` loads them by name.
    "nt2vr.papers": ("nt2vr/papers/",),
}
# They use the machine that a command is given.
COMMANDS_OF_PAPERS = ("nt2vr/papers/covr/commands.py",)
API_OF_PAPERS = ("nt2vr/papers/covr/api.py",)
# A layer imports those after it, never one before it.
LAYERS = (
    (
        "app.py",
        "nt2vr/__init__.py",
        "nt2vr/__main__.py",
        "nt2vr/cli.py",
        "trainer/__main__.py",
        *COMMANDS_OF_PAPERS,
    ),
    ("nt2vr/api.py", "nt2vr/training.py", *API_OF_PAPERS),
    ("nt2vr/ui/",),
    ("nt2vr/papers/",),
    ("trainer/",),
    ("nt2vr/services.py",),
    ("nt2vr/evaluation/",),
    ("nt2vr/world/", "nt2vr/library/"),
    ("nt2vr/search/", "nt2vr/datasets/"),
    ("nt2vr/media/",),
    ("nt2vr/models/",),
    ("nt2vr/negation/",),
    tuple(
        f"nt2vr/{name}.py"
        for name in (
            "notebook",
            "console",
            "presets",
            "sections",
            "registry",
            "extension",
            "settings",
            "errors",
            "files",
            "progress",
        )
    ),
)


@cache
def imports_of(file: Path) -> tuple[str, ...]:
    """List everything a file imports, at its top or inside functions: "nt2vr.ui" for `from nt2vr import ui` too."""
    imported: list[str] = []
    for node in nodes_of(file):
        if isinstance(node, ast.Import):
            imported += (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name_of(file)} has a relative import"
            imported += (f"{node.module}.{alias.name}" for alias in node.names)
    return tuple(imported)


def is_in(name: str, rooms: tuple[str, ...]) -> bool:
    return any(name == room or (room.endswith("/") and name.startswith(room)) for room in rooms)


@pytest.mark.parametrize("package", ONLY_IN)
def test_a_package_is_imported_only_in_its_room(package: str) -> None:
    strays = []
    for file in FILES:
        is_importer = any(f"{module}.".startswith(f"{package}.") for module in imports_of(file))
        if is_importer and not is_in(name_of(file), ONLY_IN[package]):
            strays.append(name_of(file))
    assert strays == []


def layer_of(name: str) -> int:
    """Where a file stands in LAYERS: in the one that names it most closely."""
    layer = 0
    closest_room = ""
    for number, rooms in enumerate(LAYERS):
        for room in rooms:
            if is_in(name, (room,)) and len(room) > len(closest_room):
                layer = number
                closest_room = room
    return layer


def own_imports() -> dict[str, set[str]]:
    """Each of the project's files -> those of them that it imports: at its top, in functions, under TYPE_CHECKING."""
    modules = {
        name_of(file).removesuffix(".py").removesuffix("/__init__").replace("/", "."): file
        for file in FILES
    }
    edges: dict[str, set[str]] = {}
    for file in FILES:
        modules_named = (
            name if name in modules else name.rpartition(".")[0] for name in imports_of(file)
        )
        edges[name_of(file)] = {
            name_of(modules[name]) for name in modules_named if name in modules
        } - {name_of(file)}
    return edges


def test_imports_run_one_way_through_the_layers() -> None:
    upward = []
    for name, imported in own_imports().items():
        for target in imported:
            if layer_of(target) < layer_of(name):
                upward.append(f"{name} imports {target}")
    assert upward == []


def test_trainers_go_over_the_inputs_and_name_none() -> None:
    """What a loss needs in a batch is known where it is made and read; what is measured on texts, by the validator."""
    with_losses = ("trainer/losses/", "trainer/inputs/", "nt2vr/papers/")
    naming = set()
    for name, imported in own_imports().items():
        inputs = imported - {"trainer/inputs/base.py"}
        names_an_input = any(is_in(target, ("trainer/inputs/",)) for target in inputs)
        if names_an_input and not is_in(name, with_losses):
            naming.add(name)
    assert naming == {
        "trainer/checks.py",
        "trainer/text_measures.py",
        "trainer/validator.py",
    }


def test_no_import_cycle() -> None:
    edges = own_imports()
    done: set[str] = set()

    def visit(name: str, path: tuple[str, ...]) -> None:
        assert name not in path, " -> ".join((*path[path.index(name) :], name))
        if name not in done:
            for imported in sorted(edges[name]):
                visit(imported, (*path, name))
            done.add(name)

    for name in edges:
        visit(name, ())


@pytest.mark.slow
def test_nothing_large_is_imported_before_it_is_needed() -> None:
    """The page must be up before torch is, and the decoder's children must start quickly."""
    code = """
import sys
import nt2vr
assert not {"torch", "gradio", "numpy"} & sys.modules.keys()
import nt2vr.media.decode
large = {"torch", "open_clip", "gradio", "faiss", "nltk", "HanTa", "diskcache"}
assert not large & sys.modules.keys(), large & sys.modules.keys()
nt2vr.understand
import nt2vr.search.searcher, nt2vr.ui.train.form, nt2vr.ui.train.presets, nt2vr.ui.train.view, trainer.runs.manager
import nt2vr.models.catalog, nt2vr.models.open_clip_encoder
assert not {"torch", "open_clip", "gradio"} & sys.modules.keys()
import nt2vr.ui.page
unused = {"torch", "open_clip", "faiss", "av", "cv2"}  # 46 MB but for torch
assert not unused & sys.modules.keys(), unused & sys.modules.keys()
"""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    result = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
