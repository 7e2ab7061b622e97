"""The Space: README's front matter, the files that are uploaded, and their upload to a stand-in of the Hub."""

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
from nt2vr.models.space import PYTHON, space_files, write_space
from tests.support.hub_server import Repository, serve_hub, use_hub
from tests.support.paths import ROOT

COLOURS = {"red", "yellow", "green", "blue", "indigo", "purple", "pink", "gray"}
HARDWARE = {"cpu-basic", "cpu-upgrade", "zero-a10g"}

# Of httpx, in huggingface_hub.
pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")


def content(file: Path | bytes) -> bytes:
    return file.read_bytes() if isinstance(file, Path) else file


def front_matter(readme: bytes) -> dict[str, Any]:
    start, fields, _ = readme.decode().split("---\n", 2)
    assert start == ""
    parsed = yaml.safe_load(fields)
    assert isinstance(parsed, dict)
    return parsed


def requirements(text: bytes) -> dict[str, Requirement]:
    lines = [line for line in text.decode().splitlines() if line and not line.startswith("#")]
    return {requirement.name: requirement for requirement in map(Requirement, lines)}


@pytest.mark.parametrize("zero_gpu", [False, True], ids=["CPU", "ZeroGPU"])
def test_the_front_matter_agrees_with_requirements_and_project(zero_gpu: bool) -> None:
    files = space_files(zero_gpu)
    fields = front_matter(content(files["README.md"]))
    needed = requirements(content(files["requirements.txt"]))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert (fields["sdk"], fields["title"]) == ("gradio", "nT2VR")
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
    plain = space_files()
    zero = space_files(zero_gpu=True)
    assert {name for name in plain if content(plain[name]) != content(zero[name])} == {
        "README.md",
        "requirements.txt",
    }
    before, after = (front_matter(content(files["README.md"])) for files in (plain, zero))
    assert {key for key in before if before[key] != after[key]} == {
        "suggested_hardware",
        "python_version",
    }
    assert (after["suggested_hardware"], after["python_version"]) == ("zero-a10g", PYTHON)
    old, new = (requirements(content(files["requirements.txt"])) for files in (plain, zero))
    assert {name for name in new if new[name] != old.get(name)} == {
        "torch",
        "torchvision",
        "spaces",
    }
    assert old.keys() <= new.keys()
    assert str(new["torch"].specifier).startswith("==")


def test_the_space_has_what_the_app_needs_and_nothing_private() -> None:
    files = space_files()
    needed = "app.py nt2vr/ui/page.py trainer/runs/manager.py assets/gallery/gallery.jsonl pyproject.toml"
    assert set(needed.split()) <= set(files)
    assert not [
        name
        for name in files
        if "__pycache__" in name or any(part[0] == "." for part in name.split("/"))
    ]
    assert not [name for name in files if name.startswith(("tests/", "runs/", "data/"))]


@pytest.mark.slow
def test_exactly_the_binary_files_are_stored_in_lfs(tmp_path: Path) -> None:
    folder = tmp_path / "space"
    assert main(["publish", "space", "--folder", str(folder)]) == 0
    files = space_files()
    written = {
        path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()
    }
    models = {name for name in written if name.startswith("assets/models/")}
    assert written.keys() - models == {
        name for name in files if not name.startswith("assets/models/")
    } | {".gitattributes"}
    assert all(
        written[name].read_bytes() == content(files[name])
        for name in written.keys() & files.keys() - models
    )
    for model in (folder / "assets" / "models").iterdir():
        # It reads the whole model without code of ours.
        open_clip.create_model_and_transforms(f"local-dir:{model}")
    git = ["git", "-C", str(folder)]
    subprocess.run([*git, "init", "--quiet"], check=True)
    command = [*git, "check-attr", "--stdin", "-z", "filter"]
    answer = subprocess.run(
        command, input="\0".join(written), capture_output=True, text=True, check=True
    ).stdout
    fields = answer.split("\0")
    in_lfs = {
        name for name, value in zip(fields[0::3], fields[2::3], strict=False) if value == "lfs"
    }
    assert in_lfs == {name for name, path in written.items() if b"\0" in path.read_bytes()}
    # A clone of the project works without LFS.
    assert not (ROOT / ".gitattributes").exists()

    (folder / "nt2vr" / "gone.py").write_text("of an older version")
    (folder / "notes.txt").write_text("mine")
    # This stands for a clone of the Space.
    write_space(folder, files)
    assert not (folder / "nt2vr" / "gone.py").exists() and (folder / "notes.txt").exists()


KILLED = """
import os, signal, sys
from pathlib import Path
from nt2vr.models import space

space.export_checkpoint = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
space.write_space(Path(sys.argv[1]), space.space_files())
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_a_killed_writing_leaves_no_space(
    tmp_path: Path,
) -> None:
    clone = tmp_path / "clone"
    new = tmp_path / "new"
    (clone / ".git").mkdir(parents=True)
    (clone / "nt2vr").mkdir()
    (clone / "nt2vr" / "cli.py").write_text("of an older version")
    for folder in (clone, new):
        killed = subprocess.run([sys.executable, "-c", KILLED, str(folder)], cwd=ROOT, check=False)
        assert killed.returncode == -signal.SIGKILL
    assert not new.exists()
    assert [path.name for path in clone.iterdir() if not path.name.startswith(".")] == ["nt2vr"]
    assert (clone / "nt2vr" / "cli.py").read_text() == "of an older version"

    files = {"nt2vr/cli.py": b"new", "app.py": b"new"}
    for folder in (clone, new):
        write_space(folder, files)
        assert (folder / "nt2vr" / "cli.py").read_text() == "new"
    assert sorted(path.name for path in clone.iterdir()) == [
        ".git",
        ".gitattributes",
        "app.py",
        "nt2vr",
    ]


def test_a_space_is_not_written_over_other_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine").write_text("")
    assert main(["publish", "space", "--folder", str(tmp_path)]) == 1
    assert "is neither empty nor a git repository" in capsys.readouterr().err
    for both in ([], ["a/b", "--folder", str(tmp_path / "new")]):
        assert main(["publish", "space", *both]) == 1
        assert "one of the two" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


@pytest.mark.slow
def test_a_space_is_published_and_published_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with serve_hub() as hub:
        use_hub(monkeypatch, hub.endpoint)
        assert main(["publish", "space", "tester/nt2vr", "--dry-run"]) == 0
        assert "assets/models/clip/open_clip_model.safetensors" in capsys.readouterr().out
        assert hub.requests == []
        assert main(["publish", "space", "tester/nt2vr"]) == 0
        assert capsys.readouterr().out == f"{hub.endpoint}/spaces/tester/nt2vr\n"
        space = hub.repositories["spaces/tester/nt2vr"]
        assert space.private
        sent = space.files
        expected = {name: content(file) for name, file in space_files().items()}
        differing = {name for name in sent.keys() ^ expected.keys() if name != ".gitattributes"}
        assert all(name.startswith("assets/models/") for name in differing)
        assert all(
            sent[name] == expected[name]
            for name in sent.keys() & expected.keys()
            if name[-10:] != "nt2vr.json"
        )

        space.files["nt2vr/gone.py"] = b"of an older version"
        assert main(["publish", "space", "tester/nt2vr", "--zero-gpu"]) == 0
        assert "nt2vr/gone.py" not in space.files
        assert b"spaces>=" in space.files["requirements.txt"]
        # What was uploaded starts.
        for name, data in space.files.items():
            (tmp_path / "space" / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "space" / name).write_bytes(data)
        command = [sys.executable, "app.py", "--help"]
        started = subprocess.run(
            command, cwd=tmp_path / "space", capture_output=True, text=True, check=False
        )
        assert (started.returncode, "--port" in started.stdout) == (0, True), started.stderr


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
