"""The Space: README's front matter, the files that are uploaded, and their upload to a stand-in of the Hub."""

import os
import shutil
import signal
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import open_clip
import pytest
import yaml  # type: ignore[import-untyped]
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from nt2vr.cli import main
from nt2vr.models.space import PYTHON, Files, space_files, write_space
from tests.support.hub_server import Repository, serve_hub, use_hub
from tests.support.paths import ROOT

COLOURS = {"red", "yellow", "green", "blue", "indigo", "purple", "pink", "gray"}
# Files of a model that differ once it is exported whole: its weights, its tokenizer and its card.
REWRITTEN = {
    "difference.safetensors",
    "open_clip_model.safetensors",
    "tokenizer.json",
    "tokenizer_config.json",
    "nt2vr.json",
}
HARDWARE = {"cpu-basic", "cpu-upgrade", "zero-a10g"}

# Of httpx, in huggingface_hub.
pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")


def expected_files(zero_gpu: bool = False) -> dict[str, bytes]:
    """Return the content of each file of the Space."""
    contents = {}
    for name, file in space_files(zero_gpu).items():
        contents[name] = file.read_bytes() if isinstance(file, Path) else file
    return contents


def files_in(folder: Path) -> dict[str, bytes]:
    """Return the content of each file below a folder, by its relative path."""
    contents = {}
    for path in folder.rglob("*"):
        if path.is_file():
            contents[path.relative_to(folder).as_posix()] = path.read_bytes()
    return contents


def difference_folders() -> set[str]:
    """Return the folders of models that are shipped as a difference, and written whole into a Space."""
    folders = set()
    for name in space_files():
        folder, _, file = name.rpartition("/")
        if file == "difference.safetensors":
            folders.add(folder)
    return folders


def unchanged(files: dict[str, bytes]) -> dict[str, bytes]:
    """Leave out what differs in a Space: the files of models that are written whole, and what git and the Hub add."""
    rewritten_folders = difference_folders()
    unchanged_files = {}
    for name, content in files.items():
        folder, _, file = name.rpartition("/")
        is_rewritten = folder in rewritten_folders and file in REWRITTEN
        is_of_git = name.startswith(".git")
        if not is_rewritten and not is_of_git:
            unchanged_files[name] = content
    return unchanged_files


def changed_keys(before: dict[str, Any], after: dict[str, Any]) -> set[str]:
    keys = before.keys() | after.keys()
    return {key for key in keys if before.get(key) != after.get(key)}


def front_matter(readme: bytes) -> dict[str, Any]:
    """Return the fields of a README's YAML header."""
    start, fields, _ = readme.decode().split("---\n", 2)
    assert start == ""
    parsed = yaml.safe_load(fields)
    assert isinstance(parsed, dict)
    return parsed


def requirements(text: bytes) -> dict[str, Requirement]:
    by_name = {}
    for line in text.decode().splitlines():
        if line and not line.startswith("#"):
            requirement = Requirement(line)
            by_name[requirement.name] = requirement
    return by_name


@pytest.mark.parametrize("zero_gpu", [False, True], ids=["CPU", "ZeroGPU"])
def test_the_front_matter_agrees_with_requirements_and_project(zero_gpu: bool) -> None:
    files = expected_files(zero_gpu)
    fields = front_matter(files["README.md"])
    needed = requirements(files["requirements.txt"])
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert fields["sdk"] == "gradio"
    assert fields["title"] == "nT2VR"
    assert fields["license"] == "mit"
    assert "MIT" in project["license"]
    assert fields["sdk_version"] in needed["gradio"].specifier
    assert fields["python_version"] in SpecifierSet(project["requires-python"])
    # A number 3.10 would be read as 3.1.
    assert isinstance(fields["python_version"], str)
    assert fields["app_file"] in files
    assert fields["hf_oauth"] is True
    assert {fields["colorFrom"], fields["colorTo"]} <= COLOURS
    assert len(fields["short_description"]) <= 60
    assert fields["suggested_hardware"] in HARDWARE
    assert fields["emoji"] == "🎬"


def test_zero_gpu_changes_only_hardware_python_and_torch() -> None:
    plain = expected_files()
    zero = expected_files(zero_gpu=True)
    assert changed_keys(plain, zero) == {"README.md", "requirements.txt"}

    before = front_matter(plain["README.md"])
    after = front_matter(zero["README.md"])
    assert changed_keys(before, after) == {"suggested_hardware", "python_version"}
    assert after["suggested_hardware"] == "zero-a10g"
    assert after["python_version"] == PYTHON

    old = requirements(plain["requirements.txt"])
    new = requirements(zero["requirements.txt"])
    assert changed_keys(old, new) == {"torch", "torchvision", "spaces"}
    assert old.keys() <= new.keys()
    assert str(new["torch"].specifier).startswith("==")


@pytest.mark.parametrize(
    "name",
    [
        "app.py",
        "nt2vr/ui/page.py",
        "trainer/runs/manager.py",
        "assets/gallery/gallery.jsonl",
        "pyproject.toml",
    ],
)
def test_the_space_has_what_the_app_needs(name: str) -> None:
    assert name in space_files()


def test_the_space_has_nothing_private() -> None:
    for name in space_files():
        folders = name.split("/")
        assert folders[0] not in ("tests", "runs", "data"), name
        assert "__pycache__" not in folders, name
        assert not any(folder.startswith(".") for folder in folders), name


@pytest.fixture(scope="module")
def space(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the Space."""
    folder = tmp_path_factory.mktemp("published") / "space"
    assert main(["publish", "space", "--folder", str(folder)]) == 0
    return folder


@pytest.mark.slow
def test_a_written_space_holds_the_project_and_whole_models(space: Path) -> None:
    assert unchanged(files_in(space)) == unchanged(expected_files())
    for model in (space / "assets" / "models").iterdir():
        # It reads the whole model without code of ours.
        open_clip.create_model_and_transforms(f"local-dir:{model}")


def paths_in_lfs(git: list[str], paths: list[str]) -> set[str]:
    """Ask git which paths it would store in LFS."""
    command = [*git, "check-attr", "--stdin", "-z", "filter"]
    answer = subprocess.run(
        command, input="\0".join(paths), capture_output=True, text=True, check=True
    )
    # Each path is followed by "filter" and the filter's name.
    fields = answer.stdout.split("\0")
    filters = zip(fields[0::3], fields[2::3], strict=False)
    return {path for path, filter_name in filters if filter_name == "lfs"}


@pytest.mark.slow
def test_exactly_the_binary_files_are_stored_in_lfs(space: Path) -> None:
    written = files_in(space)
    git = ["git", "-C", str(space)]
    subprocess.run([*git, "init", "--quiet"], check=True)

    binary_files = {name for name, content in written.items() if b"\0" in content}
    assert paths_in_lfs(git, list(written)) == binary_files
    # A clone of the project works without LFS.
    assert not (ROOT / ".gitattributes").exists()


@pytest.mark.slow
def test_writing_again_removes_only_old_files_of_the_project(space: Path, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    shutil.copytree(space, clone, copy_function=os.link)
    old = clone / "nt2vr" / "gone.py"
    old.write_text("of an older version")
    notes = clone / "notes.txt"
    notes.write_text("mine")
    # A folder with a repository stands for a clone of the Space.
    (clone / ".git").mkdir(exist_ok=True)

    write_space(clone, space_files())

    assert not old.exists()
    assert notes.exists()


KILLED = """
import os, signal, sys
from pathlib import Path
from nt2vr.models import space

space.export_checkpoint = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
space.write_space(Path(sys.argv[1]), space.space_files())
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_a_killed_writing_leaves_no_space(tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    new = tmp_path / "new"
    (clone / ".git").mkdir(parents=True)
    (clone / "nt2vr").mkdir()
    program = clone / "nt2vr" / "cli.py"
    program.write_text("of an older version")

    for folder in (clone, new):
        command = [sys.executable, "-c", KILLED, str(folder)]
        process = subprocess.run(command, cwd=ROOT, check=False)
        assert process.returncode == -signal.SIGKILL

    assert not new.exists()
    assert [path.name for path in clone.glob("[!.]*")] == ["nt2vr"]
    assert program.read_text() == "of an older version"

    # Written anew, both hold the new files and nothing else.
    files: Files = {"nt2vr/cli.py": b"new", "app.py": b"new"}
    for folder in (clone, new):
        write_space(folder, files)
        assert (folder / "nt2vr" / "cli.py").read_text() == "new"
    assert {path.name for path in clone.iterdir()} == {".git", ".gitattributes", "app.py", "nt2vr"}


def test_a_space_is_not_written_over_other_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine").write_text("")

    assert main(["publish", "space", "--folder", str(tmp_path)]) == 1

    assert "is neither empty nor a git repository" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_a_space_has_exactly_one_destination(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for destinations in ([], ["a/b", "--folder", str(tmp_path / "new")]):
        assert main(["publish", "space", *destinations]) == 1
        assert "one of the two" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def check_it_starts(files: dict[str, bytes], folder: Path) -> None:
    """Write a Space's files, and check that the app shows its help."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    command = [sys.executable, "app.py", "--help"]
    process = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stderr
    assert "--port" in process.stdout


@pytest.mark.slow
def test_a_space_is_published_and_published_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    publish = ["publish", "space", "tester/nt2vr"]
    with serve_hub() as hub:
        use_hub(monkeypatch, hub.endpoint)
        assert main([*publish, "--dry-run"]) == 0
        assert "assets/models/clip/open_clip_model.safetensors" in capsys.readouterr().out
        assert hub.requests == []

        assert main(publish) == 0
        assert capsys.readouterr().out == f"{hub.endpoint}/spaces/tester/nt2vr\n"
        space = hub.repositories["spaces/tester/nt2vr"]
        assert space.private
        assert unchanged(space.files) == unchanged(expected_files())

        space.files["nt2vr/gone.py"] = b"of an older version"
        assert main([*publish, "--zero-gpu"]) == 0
        assert "nt2vr/gone.py" not in space.files
        assert b"spaces>=" in space.files["requirements.txt"]

    check_it_starts(space.files, tmp_path)


def test_a_space_of_somebody_else_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with serve_hub() as hub:
        use_hub(monkeypatch, hub.endpoint)
        hub.repositories["spaces/other/nt2vr"] = Repository(private=True)
        assert main(["publish", "space", "../x"]) == 1
        assert main(["publish", "space", "elsewhere/nt2vr"]) == 1
    assert capsys.readouterr().err.splitlines() == [
        "'../x' is not a repository on the Hub. Write OWNER/NAME.",
        "The Hub answered 403 Forbidden for elsewhere/nt2vr. Check its name, and that HF_TOKEN may use it.",
    ]
