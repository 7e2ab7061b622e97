"""The wheel: what it holds, and that its commands work from an empty folder, installed, without a network."""

import json
import shutil
import subprocess
import sys
import tomllib
from email.message import Message
from email.parser import Parser
from functools import cache
from importlib.metadata import PathDistribution
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement

from nt2vr.models.space import space_files
from tests.support.paths import ROOT

SOURCES = (
    "pyproject.toml",
    "requirements.txt",
    "README.md",
    "LICENSE",
    "nt2vr",
    "trainer",
    "assets",
    "docs",
)
PIP = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "--no-input"]
# Before a command: without a network but this machine's own.
OFFLINE = ["unshare", "--map-root-user", "--net", "sh", "-c", 'ip link set lo up; exec "$@"', "sh"]
RUN = {
    "name": "Wheel",
    "base": "assets/models/clip",
    "train": "text",
    "epochs": 1,
    "num_clips": 8,
    "batch_size": 4,
    "num_frames": 1,
    "pool_clips": 0,
    "validation_clips": 8,
    "losses": {"contrastive": {"weight": 1.0}},
}


def files_in(folder: str) -> set[str]:
    """List the files of a folder of the project, by their relative paths."""
    paths = set()
    for path in (ROOT / folder).rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            paths.add(path.relative_to(ROOT).as_posix())
    return paths


def test_pyproject_names_every_package() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    stated_packages = set(settings["tool"]["setuptools"]["packages"])
    packages = {"nt2vr.assets", "nt2vr.docs"}
    for path in files_in("nt2vr") | files_in("trainer"):
        folder, _, file = path.rpartition("/")
        if file == "__init__.py":
            packages.add(folder.replace("/", "."))
    assert stated_packages == packages


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from a copy, since setuptools leaves a build folder beside what it builds."""
    copy = tmp_path_factory.mktemp("checkout")
    out = tmp_path_factory.mktemp("wheel")
    ignored = shutil.ignore_patterns("__pycache__")
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, copy / name, ignore=ignored)
        else:
            shutil.copy(ROOT / name, copy)
    command = [*PIP, "wheel", "--no-deps", "--no-build-isolation", "-w", str(out), str(copy)]
    subprocess.run(command, check=True)
    (built,) = out.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which the wheel is installed."""
    site = tmp_path_factory.mktemp("site")
    command = [*PIP, "install", "--no-deps", "--no-compile", "--target", str(site), str(wheel)]
    subprocess.run(command, check=True)
    return site


@pytest.fixture(scope="module")
def distribution(installed: Path) -> PathDistribution:
    (folder,) = installed.glob("nt2vr-*.dist-info")
    return PathDistribution(folder)


@pytest.fixture(scope="module")
def metadata(distribution: PathDistribution) -> Message:
    """What the wheel says of itself."""
    text = distribution.read_text("METADATA")
    assert text is not None
    return Parser().parsestr(text)


def project() -> dict[str, Any]:
    """Return the section of pyproject.toml that describes the project."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    section: dict[str, Any] = tomllib.loads(text)["project"]
    return section


@pytest.mark.slow
def test_the_wheel_holds_every_module_and_asset_and_nothing_else(wheel: Path) -> None:
    expected = files_in("trainer/configs") | files_in("nt2vr/papers")
    for path in files_in("nt2vr") | files_in("trainer"):
        if path.endswith((".py", "/py.typed")):
            expected.add(path)
    for path in files_in("assets") | files_in("docs"):
        expected.add(f"nt2vr/{path}")
    assert {"nt2vr/py.typed", "trainer/py.typed", "nt2vr/assets/models/clip/nt2vr.json"} <= expected

    with ZipFile(wheel) as archive:
        names = archive.namelist()
    assert {name for name in names if ".dist-info/" not in name} == expected


@pytest.mark.slow
def test_the_wheel_states_the_version_of_its_one_source(metadata: Message) -> None:
    assert metadata["Version"] == project()["version"]


@pytest.mark.slow
def test_the_wheel_states_the_dependencies_of_their_one_source(metadata: Message) -> None:
    expected = []
    for line in (ROOT / "requirements.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            expected.append(Requirement(line))
    for extra, names in project()["optional-dependencies"].items():
        for name in names:
            expected.append(Requirement(f'{name}; extra == "{extra}"'))

    stated = metadata.get_all("Requires-Dist", [])
    assert [Requirement(line) for line in stated] == expected


@pytest.mark.slow
def test_the_wheel_installs_the_command(distribution: PathDistribution) -> None:
    (script,) = distribution.entry_points.select(group="console_scripts")
    assert script.name == "nt2vr"
    assert script.value == "nt2vr.cli:main"


@pytest.fixture
def empty(
    tmp_path: Path, installed: Path, gallery_data: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """An empty working folder, from which only the installed package can be imported."""
    monkeypatch.setenv("PYTHONPATH", str(installed))
    monkeypatch.setenv("NT2VR_DATA", str(gallery_data))
    folder = tmp_path / "empty"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def run(*arguments: str) -> str:
    """Run a command, with no network where the system allows that; return what it prints."""
    command = [sys.executable, "-m", "nt2vr", *arguments]
    if can_run_offline():
        command = [*OFFLINE, *command]
    process = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert process.returncode == 0, process.stderr
    return process.stdout


@cache
def can_run_offline() -> bool:
    """Say whether this machine can run a command without a network."""
    if shutil.which("unshare") is None:
        return False
    attempt = subprocess.run([*OFFLINE, "true"], capture_output=True)
    return attempt.returncode == 0


def run_code(code: str) -> None:
    """Run Python code, which checks something itself."""
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert process.returncode == 0, process.stderr


@pytest.mark.slow
def test_the_installed_commands_work_from_an_empty_folder(empty: Path) -> None:
    assert run("--version").startswith("nT2VR ")

    search = run("search", "a dog and not a cat", "--systems", "CLIP, CLIP-neg", "--k", "2")
    assert "CLIP-neg" in search

    parts = json.loads(run("queries", "split", "a dog, no cat"))
    assert parts["unwanted"] == ["cat"]

    table = run("evaluate", "--data", "gallery", "--systems", "CLIP", "--out", "report")
    assert "| CLIP drop (control) |" in table
    report = json.loads((empty / "report" / "report.json").read_text())
    assert report["versions"]["nt2vr"]

    (empty / "config.json").write_text(json.dumps(RUN))
    run("train", "run", "--config", "config.json")
    assert (empty / "run" / "checkpoints" / "epoch_001" / "nt2vr.json").is_file()

    assert "Usage: nt2vr import" in run("import", "--help")


# In place of a model's difference, as a Space has whole models.
EXPORTED = ("open_clip_model.safetensors", "tokenizer.json", "tokenizer_config.json")


def expected_in_space() -> set[str]:
    """Return the paths of the Space that a checkout writes."""
    paths = {".gitattributes"}
    for name in space_files():
        folder, _, file = name.rpartition("/")
        if file == "difference.safetensors":
            paths |= {f"{folder}/{exported}" for exported in EXPORTED}
        else:
            paths.add(name)
    return paths


@pytest.mark.slow
def test_an_installed_package_writes_the_space_of_a_checkout(empty: Path) -> None:
    assert any(name.endswith("/difference.safetensors") for name in space_files())

    run("publish", "space", "--folder", "space")

    space = empty / "space"
    written = set()
    for path in space.rglob("*"):
        if path.is_file():
            written.add(path.relative_to(space).as_posix())
    assert written == expected_in_space()
    for name in ("README.md", "LICENSE"):
        assert (space / name).read_text() == (ROOT / name).read_text()

    command = [sys.executable, "app.py", "--help"]
    process = subprocess.run(command, cwd=space, capture_output=True, text=True)
    assert "--port" in process.stdout, process.stderr


TINY_RUN = (
    "base=assets/models/clip",
    "data=world",
    "epochs=1",
    "num_clips=8",
    "num_captions=0",
    "batch_size=4",
    "num_frames=1",
    "frames_per_step=1",
    "pool_clips=0",
    "validation_clips=8",
)


@pytest.mark.slow
@pytest.mark.parametrize("preset", ["paper-bnl", "con-clip", "sea"])
def test_an_installed_papers_preset_trains(empty: Path, preset: str) -> None:
    changes = []
    for change in TINY_RUN:
        changes += ["--set", change]

    run("train", preset, "--config", preset, *changes)

    assert (empty / preset / "checkpoints" / "epoch_001" / "nt2vr.json").is_file()


@pytest.mark.slow
def test_an_installed_paper_changes_verbs(empty: Path) -> None:
    captions = empty / "captions.txt"
    captions.write_text("v1#enc#0 a man opens a door\n")

    files = ("--captions", "captions.txt", "--out", "verbs.jsonl")
    run("queries", "verbs", *files, "--rule", "antonym")

    (line,) = (empty / "verbs.jsonl").read_text().splitlines()
    assert "closes" in line


@pytest.mark.slow
def test_an_installed_paper_evaluates_pictures_with_texts(empty: Path) -> None:
    table = run("covr", "--queries", "1")
    assert "| sum " in table


@pytest.mark.slow
def test_the_installed_app_opens_with_every_tab(empty: Path) -> None:
    code = """
import gradio as gr
from nt2vr.cli import main
from nt2vr.settings import ASSETS
import nt2vr, trainer

def look(page, **options):
    tabs = [block.label for block in page.blocks.values() if isinstance(block, gr.Tab)]
    assert tabs == ["Search", "Library", "Evaluate", "Train"], tabs
    raise KeyboardInterrupt

assert ASSETS.parent.samefile(nt2vr.__path__[0]), ASSETS
gr.Blocks.launch = look
assert main([]) == 130
"""
    run_code(code)


@pytest.mark.slow
def test_shipped_presets_and_models_are_found_from_an_empty_folder(empty: Path) -> None:
    code = """
from nt2vr.settings import ASSETS
from nt2vr.presets import PRESETS
from trainer.config import load_config
from nt2vr.ui.train.form import bases
from nt2vr.ui.train.presets import presets

config = load_config(PRESETS / "clip-neg.json")
assert (config.encoder.base_folder / "nt2vr.json").is_file(), config.encoder.base_folder
assert config.encoder.base in bases([ASSETS / "models"]).values()
assert presets()["CLIP-neg"]["base"] == config.encoder.base
"""
    run_code(code)
