"""`nt2vr models list | get NAME | remove NAME`: installed and downloadable models."""

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from nt2vr.models.catalog import Catalog
from nt2vr.models.downloads import available
from nt2vr.models.recommended import RECOMMENDED
from nt2vr.progress import progress_bar
from nt2vr.services import Services
from nt2vr.settings import Settings, add_flags


def add_arguments(parser: ArgumentParser) -> None:
    """Add the actions and their arguments."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    find = actions.add_parser("list", help="list the models here, and those that can be downloaded")
    find.add_argument("words", nargs="*", help="list all models of open_clip with these words in their names")
    get = actions.add_parser("get", help="download a model of open_clip's")
    get.add_argument("name", help='as listed: "ViT-B-32/openai"')
    remove = actions.add_parser("remove", help="delete a downloaded, imported or pulled model")
    remove.add_argument("name", help="as listed")
    for action in (find, get, remove):
        add_flags(action)


def run(options: Namespace) -> int:
    """Do one of the actions."""
    catalog = Services(Settings.read(options.data_dir, options.device)).models
    if options.action == "list":
        sys.stdout.write("\n".join([*_here(catalog, options.words), "", *_elsewhere(catalog, options.words)]) + "\n")
    elif options.action == "get":
        with progress_bar() as progress:
            name = catalog.download(options.name, progress, announce=_announce)
        sys.stdout.write(f"{name} is in {catalog.home}.\n")
    else:
        catalog.remove(options.name)
        sys.stdout.write(f"{options.name} is removed.\n")
    return 0


def _announce(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _here(catalog: Catalog, words: list[str]) -> list[str]:
    """List the models on this machine with their sizes; of a run, only the newest epoch."""
    listed = {name: entry for name, entry in catalog.entries().items() if entry.folders and entry.kind != "epoch"}
    entries = {name: entry for name, entry in listed.items() if _has(name, words)}
    kinds = {name: "training run" if entry.kind == "run" else "added" for name, entry in entries.items()}
    rows = [
        f"  {name:50} {_megabytes(entry.folders[0]):>9,} MB  "
        + ("shipped" if kinds[name] == "added" and entry.folders[0].parent != catalog.home else kinds[name])
        for name, entry in entries.items()
    ]
    return ["Here:", *(rows or ["  none"])]


def _megabytes(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.iterdir() if file.is_file()) >> 20


def _elsewhere(catalog: Catalog, words: list[str]) -> list[str]:
    """List what can be downloaded: the recommended models, or all of open_clip's with the words in their names."""
    here = {name.replace(" ", "") for name in catalog.names()}
    known = {model.name: model for model in RECOMMENDED}
    names = [name for name in (available() if words else known) if name not in here and _has(name, words)]
    rows = [f"  {name:50} {_described(name)}".rstrip() for name in names]
    return ["To download with: nt2vr models get NAME", *(rows or ["  none"])]


def _described(name: str) -> str:
    model = next((model for model in RECOMMENDED if model.name == name), None)
    if model is None:
        return ""
    figure = f"; zero-shot R@1 on MSR-VTT {model.msrvtt} by its authors" if model.msrvtt else ""
    return f"{model.size_mb:>9,} MB  {model.speed:6}  {model.remark}{figure}".rstrip()


def _has(name: str, words: list[str]) -> bool:
    return all(word.casefold() in name.casefold() for word in words)
