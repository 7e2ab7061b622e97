"""The app as a Gradio Space: its files, from a checkout or an installed package, and their upload."""

import re
import shutil
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from nt2vr.errors import ConfigError
from nt2vr.files import atomic_folder, check_writable
from nt2vr.models.card import DIFFERENCE
from nt2vr.models.difference import export_checkpoint
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
# In a Space, where the Hub wants binary files as LFS; not in the project's repository.
ATTRIBUTES = ".gitattributes"
# Name of a tree that is being written into a folder that is there already.
HALF = ".nt2vr-space.partial"
# Of ZeroGPU; the docs of the Hub that were at hand name 3.10 only, which is too old for nT2VR.
PYTHON = "3.12"
HARDWARE = "zero-a10g"
# torch as ZeroGPU offers it (the Hub's docs list 2.1 to 2.8), with the torchvision of the same
# release.
ZERO_GPU_PINS = {"torch": "torch==2.8.0", "torchvision": "torchvision==0.23.0"}
ZERO_GPU_EXTRA = "spaces>=0.51"
# Suffixes of files that are text.
TEXT = {"", *".css .html .ipynb .js .json .jsonl .md .py .svg .toml .tsv .txt .typed".split()}
Files = dict[str, Path | bytes]


def space_files(zero_gpu: bool = False) -> Files:
    """Return the files of the Space by their names: paths, or contents where there is no such file."""
    if ASSETS.parent == PACKAGE:
        # The installed package is laid out as in a checkout.
        files = {**_metadata_files(), **_package_files()}
    else:
        files = checked_out(ASSETS.parent)
    if zero_gpu:
        readme = _content(files["README.md"]).decode()
        files["README.md"] = _readme_for_zero_gpu(readme).encode()
        requirements = _content(files["requirements.txt"]).decode()
        files["requirements.txt"] = _requirements_for_zero_gpu(requirements).encode()
    return files


def _readme_for_zero_gpu(readme: str) -> str:
    _, front_matter, text = readme.split("---\n", 2)
    values = {"suggested_hardware": HARDWARE, "python_version": f'"{PYTHON}"'}
    for key, value in values.items():
        front_matter = re.sub(rf"^{key}:.*$", f"{key}: {value}", front_matter, flags=re.MULTILINE)
    return f"---\n{front_matter}---\n{text}"


def _requirements_for_zero_gpu(requirements: str) -> str:
    pinned = []
    for line in requirements.splitlines():
        if not line.startswith("#"):
            package = re.split(r"\W", line, maxsplit=1)[0]
            pinned.append(ZERO_GPU_PINS.get(package, line))
    return "\n".join([*pinned, ZERO_GPU_EXTRA, ""])


def checked_out(root: Path) -> Files:
    files: Files = {}
    for name in FILES:
        files[name] = root / name
        if not (root / name).is_file():
            raise ConfigError(
                f"{root} has no {name}. Run the command in a checkout, or install nT2VR."
            )
    for folder in FOLDERS:
        files |= {f"{folder}/{name}": path for name, path in _files_in(root / folder)}
    return files


def _metadata_files() -> Files:
    """Make files again of what a wheel has as metadata."""
    distribution = metadata.distribution("nt2vr")
    licence = next(file for file in distribution.files or () if file.name == "LICENSE")
    requirements = [line for line in distribution.requires or () if "extra ==" not in line]
    return {
        "README.md": distribution.metadata["Description"].encode(),
        "LICENSE": Path(str(licence.locate())),
        "app.py": APP.encode(),
        "pyproject.toml": f'[project]\nname = "nt2vr"\nversion = "{project_version()}"\n'.encode(),
        "requirements.txt": "".join(f"{line}\n" for line in requirements).encode(),
    }


def _package_files() -> Files:
    places = {
        "assets": ASSETS,
        "docs": DOCS,
        "trainer": PACKAGE.parent / "trainer",
        "nt2vr": PACKAGE,
    }
    names: dict[Path, str] = {}
    for folder, place in places.items():
        for name, path in _files_in(place):
            # Assets and docs lie in the package, too, but come from the places above.
            names.setdefault(path, f"{folder}/{name}")
    return {name: path for path, name in names.items()}


def _files_in(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the files of a folder that belong to the project: no caches, nothing hidden, no links."""
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        is_hidden = any(part.startswith(".") for part in name.parts)
        if path.is_file() and not path.is_symlink() and not is_hidden and path.suffix != ".pyc":
            yield name.as_posix(), path


def _content(file: Path | bytes) -> bytes:
    return file if isinstance(file, bytes) else file.read_bytes()


def write_space(folder: Path, files: Files) -> None:
    """Write the Space's tree, its models whole, into a new folder, or into a clone of the Space in place of the old.

    The tree is written to a hidden folder first, so that one that is killed leaves nothing that
    looks like a Space. A ConfigError refuses a folder that has other contents, or cannot be written
    to.
    """
    check_writable(folder)
    if not folder.is_dir():
        with atomic_folder(folder) as partial:
            _write_tree(partial, files)
        return

    hidden = folder / HALF
    # One that was killed may have left it.
    _remove(hidden)
    if any(folder.iterdir()) and not (folder / ".git").exists():
        raise ConfigError(
            f"{folder} is neither empty nor a git repository. Name a new folder, or a clone of the Space."
        )
    try:
        hidden.mkdir()
        _write_tree(hidden, files)
        for written in sorted(hidden.iterdir()):
            _remove(folder / written.name)
            written.replace(folder / written.name)
    finally:
        _remove(hidden)


def _write_tree(folder: Path, files: Files) -> None:
    """Write the files of a Space into a folder that has none of them."""
    suffixes = sorted({PurePosixPath(name).suffix for name in files} - TEXT)
    attributes = "".join(f"*{suffix} filter=lfs diff=lfs merge=lfs -text\n" for suffix in suffixes)
    for name, file in {**files, ATTRIBUTES: attributes.encode()}.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(_content(file))

    # A list first, since the folders are replaced meanwhile.
    differences = list((folder / "assets").rglob(DIFFERENCE))
    for difference in differences:
        model = difference.parent
        whole_model = model.with_name(f"{model.name}-whole")
        export_checkpoint(model, whole_model)
        shutil.rmtree(model)
        whole_model.rename(model)


def _remove(folder: Path) -> None:
    """Remove a folder, or the link to one, if it is there; files stay, to be replaced."""
    if folder.is_symlink():
        folder.unlink()
    shutil.rmtree(folder, ignore_errors=True)


def publish(repository: str, files: Files, private: bool = True) -> str:
    """Upload the files as a Gradio Space, and delete others that are there; return its address."""
    check_repository(repository)
    hub = open_hub(write=True)
    with hub_errors(repository), TemporaryDirectory() as folder:
        first_answer(hub.whoami)
        space = {"repo_id": repository, "repo_type": "space"}
        address = hub.create_repo(**space, space_sdk="gradio", private=private, exist_ok=True)
        write_space(Path(folder), files)
        hub.upload_folder(
            **space, folder_path=folder, delete_patterns="*", commit_message="Publish nT2VR"
        )
    return str(address)
