"""The app as a Gradio Space: its files, from a checkout or an installed package, and their upload."""

import re
from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path, PurePosixPath

from nt2vr.errors import ConfigError
from nt2vr.files import check_writable
from nt2vr.models.hub import check_repository, first_answer, hub_errors, open_hub
from nt2vr.settings import ASSETS, DOCS, PACKAGE, project_version

APP = '''"""Start the app from a checkout: `python app.py` is `nt2vr serve`."""

import sys

from nt2vr.cli import main

if __name__ == "__main__":
    sys.exit(main(["serve", *sys.argv[1:]]))
'''
FILES = ("README.md", "LICENSE", "app.py", "pyproject.toml", "requirements.txt")
FOLDERS = ("nt2vr", "trainer", "assets", "docs")
ATTRIBUTES = ".gitattributes"  # in a Space, where the Hub wants binary files as LFS; not in the project's repository
PYTHON = "3.12"  # of ZeroGPU; the docs of the Hub that were at hand name 3.10 only, which is too old for nT2VR
HARDWARE = "zero-a10g"
# torch as ZeroGPU offers it (the Hub's docs list 2.1 to 2.8), with the torchvision of the same release
ZERO_GPU_PINS = {"torch": "torch==2.8.0", "torchvision": "torchvision==0.23.0"}
ZERO_GPU_EXTRA = "spaces>=0.51"
TEXT = {"", *".css .html .ipynb .js .json .jsonl .md .py .svg .toml .tsv .txt .typed".split()}  # suffixes


def space_files(zero_gpu: bool = False) -> dict[str, Path | bytes]:
    """Return the files of the Space by their names: paths, or contents where there is no such file."""
    files = _installed() if ASSETS.parent == PACKAGE else checked_out(ASSETS.parent)
    if zero_gpu:
        files["README.md"] = _with_zero_gpu(_text(files["README.md"])).encode()
        files["requirements.txt"] = _pinned(_text(files["requirements.txt"])).encode()
    return files


def checked_out(root: Path) -> dict[str, Path | bytes]:
    """Return the files of a checkout."""
    if missing := [file for file in FILES if not (root / file).is_file()]:
        raise ConfigError(f"{root} has no {missing[0]}. Run the command in a checkout, or install nT2VR.")
    files: dict[str, Path | bytes] = {file: root / file for file in FILES}
    return files | {f"{folder}/{name}": path for folder in FOLDERS for name, path in _files_in(root / folder)}


def _installed() -> dict[str, Path | bytes]:
    """Lay the installed package out as in a checkout; what a wheel has as metadata becomes files again."""
    about = metadata.metadata("nt2vr")
    licence = next(each for each in metadata.files("nt2vr") or () if each.name == "LICENSE")
    needed = [line for line in metadata.requires("nt2vr") or () if "extra ==" not in line]
    files: dict[str, Path | bytes] = {
        "README.md": about["Description"].encode(),
        "LICENSE": Path(str(licence.locate())),
        "app.py": APP.encode(),
        "pyproject.toml": f'[project]\nname = "nt2vr"\nversion = "{project_version()}"\n'.encode(),
        "requirements.txt": "".join(f"{line}\n" for line in needed).encode(),
    }
    places = {"nt2vr": PACKAGE, "trainer": PACKAGE.parent / "trainer", "assets": ASSETS, "docs": DOCS}
    for folder, place in places.items():
        inner = {ASSETS, DOCS} - {place}
        files |= {f"{folder}/{name}": path for name, path in _files_in(place) if inner.isdisjoint(path.parents)}
    return files


def _files_in(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the files of a folder that belong to the project: no caches, nothing hidden, no links."""
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or path.name == "__pycache__" or path.is_symlink():
            continue
        if path.is_dir():
            yield from ((f"{path.name}/{name}", each) for name, each in _files_in(path))
        elif path.suffix != ".pyc":
            yield path.name, path


def _text(file: Path | bytes) -> str:
    return file.decode() if isinstance(file, bytes) else file.read_text(encoding="utf-8")


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


def attributes(names: Mapping[str, object]) -> str:
    """Write the .gitattributes that makes LFS files of all binary ones."""
    suffixes = sorted({PurePosixPath(name).suffix for name in names} - TEXT)
    return "".join(f"*{suffix} filter=lfs diff=lfs merge=lfs -text\n" for suffix in suffixes)


def write_space(folder: Path, files: Mapping[str, Path | bytes]) -> None:
    """Write the Space's tree into a new folder, or into a clone of the Space, where files of earlier versions go.

    A ConfigError refuses a folder that has other contents, or cannot be written to.
    """
    check_writable(folder)
    if folder.is_dir() and any(folder.iterdir()) and not (folder / ".git").exists():
        raise ConfigError(
            f"{folder} is neither empty nor a git repository. Name a new folder, or a clone of the Space."
        )
    for old in (path for name in FOLDERS for path in (folder / name).rglob("*")):
        if old.is_symlink() or (old.is_file() and old.relative_to(folder).as_posix() not in files):
            old.unlink()
    for name, file in {**files, ATTRIBUTES: attributes(files).encode()}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(file if isinstance(file, bytes) else file.read_bytes())


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
            CommitOperationDelete(name)
            for name in there
            if name not in files and name != ATTRIBUTES  # made by the Hub
        ]
        operations += [CommitOperationAdd(name, file) for name, file in files.items()]
        hub.create_commit(repository, operations, commit_message="Publish nT2VR", repo_type="space")
    return str(address)
