"""The app as a Gradio Space: its files, and their upload."""

import re
from collections.abc import Iterator
from pathlib import Path

from nt2vr.errors import ConfigError
from nt2vr.hub.client import check_repository, first_answer, hub_errors, open_hub
from nt2vr.settings import ASSETS

FILES = ("README.md", "LICENSE", "app.py", "pyproject.toml", "requirements.txt")
FOLDERS = ("nt2vr", "trainer", "assets")
KEPT = (".gitattributes",)  # made by the Hub
PYTHON = "3.12"  # of ZeroGPU; the docs of the Hub that were at hand name 3.10 only, which is too old for nT2VR
HARDWARE = "zero-a10g"
# torch as ZeroGPU offers it (the Hub's docs list 2.1 to 2.8), with the torchvision of the same release
ZERO_GPU_PINS = {"torch": "torch==2.8.0", "torchvision": "torchvision==0.23.0"}
ZERO_GPU_EXTRA = "spaces>=0.51"


def space_files(zero_gpu: bool = False, root: Path = ASSETS.parent) -> dict[str, Path | bytes]:
    """Return the files of the Space by their names: paths, or contents where they differ from the checkout's."""
    if not all((root / file).is_file() for file in FILES):
        raise ConfigError("A Space is published from a checkout of the repository. Run the command in one.")
    files: dict[str, Path | bytes] = {file: root / file for file in FILES}
    for folder in FOLDERS:
        files |= {path.relative_to(root).as_posix(): path for path in _files_in(root / folder)}
    if zero_gpu:
        files["README.md"] = _with_zero_gpu((root / "README.md").read_text(encoding="utf-8")).encode()
        files["requirements.txt"] = _pinned((root / "requirements.txt").read_text(encoding="utf-8")).encode()
    return files


def _files_in(folder: Path) -> Iterator[Path]:
    """Yield the files of a folder that belong to the project: no caches, nothing hidden, no links."""
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or path.name == "__pycache__" or path.is_symlink():
            continue
        if path.is_dir():
            yield from _files_in(path)
        elif path.suffix != ".pyc":
            yield path


def _with_zero_gpu(readme: str) -> str:
    """Change the front matter's hardware and Python."""
    _, front_matter, text = readme.split("---\n", 2)
    for key, value in (("suggested_hardware", HARDWARE), ("python_version", f'"{PYTHON}"')):
        front_matter = re.sub(rf"^{key}:.*$", f"{key}: {value}", front_matter, flags=re.MULTILINE)
    return f"---\n{front_matter}---\n{text}"


def _pinned(requirements: str) -> str:
    """Replace torch's requirements with ZeroGPU's, and add its own package."""
    lines = [line for line in requirements.splitlines() if not line.startswith("#")]
    pinned = [ZERO_GPU_PINS.get(re.split(r"\W", line, maxsplit=1)[0], line) for line in lines]
    return "\n".join([*pinned, ZERO_GPU_EXTRA]) + "\n"


def publish(repository: str, files: dict[str, Path | bytes], private: bool = True) -> str:
    """Upload the files as a Gradio Space, and delete others that are there; return its address."""
    check_repository(repository)
    hub = open_hub(write=True)
    with hub_errors(repository):
        from huggingface_hub import CommitOperationAdd, CommitOperationDelete  # noqa: PLC0415  see `open_hub`

        first_answer(hub.whoami)
        address = hub.create_repo(repository, repo_type="space", space_sdk="gradio", private=private, exist_ok=True)
        there = hub.list_repo_files(repository, repo_type="space")
        operations: list[CommitOperationAdd | CommitOperationDelete] = [
            CommitOperationDelete(name) for name in there if name not in files and name not in KEPT
        ]
        operations += [CommitOperationAdd(name, file) for name, file in files.items()]
        hub.create_commit(repository, operations, commit_message="Publish nT2VR", repo_type="space")
    return str(address)
