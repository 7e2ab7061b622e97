"""`nt2vr models list | get NAME | remove NAME`: installed and downloadable models."""

import json
import sys
from argparse import ArgumentParser, Namespace
from typing import Any

from nt2vr.models.catalog import Catalog
from nt2vr.models.downloads import available
from nt2vr.models.recommended import RECOMMENDED
from nt2vr.progress import progress_bar
from nt2vr.settings import Settings, add_flags


def add_arguments(parser: ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    find = actions.add_parser("list", help="list the models here, and those that can be downloaded")
    find.add_argument("words", nargs="*", help="list all models of open_clip with these words in their names")
    find.add_argument("--json", action="store_true", help="as JSON")
    get = actions.add_parser("get", help="download a model of open_clip's")
    get.add_argument("name", help='as listed: "ViT-B-32/openai"')
    remove = actions.add_parser("remove", aliases=["rm"], help="delete a downloaded, imported or pulled model")
    remove.set_defaults(action="remove")
    remove.add_argument("name", help="as listed")
    for action in (find, get, remove):
        add_flags(action)


def run(options: Namespace) -> None:
    catalog = Catalog.of(Settings.read(options.data_dir, options.device))
    if options.action == "list":
        here, elsewhere = _here(catalog, options.words), _elsewhere(catalog, options.words)
        as_json = {"here": here, "to_download": elsewhere}
        sys.stdout.write(f"{json.dumps(as_json, indent=2) if options.json else _listed(here, elsewhere)}\n")
    elif options.action == "get":
        with progress_bar() as progress:
            name = catalog.download(options.name, progress, announce=_announce)
        sys.stdout.write(f"{name} is in {catalog.home}.\n")
    else:
        catalog.remove(options.name)
        sys.stdout.write(f"{options.name} is removed.\n")


def _announce(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _here(catalog: Catalog, words: list[str]) -> list[dict[str, Any]]:
    """Describe the models on this machine with their sizes; of a run, only the newest epoch."""
    found = []
    for name, entry in catalog.entries().items():
        if entry.folders and entry.kind != "epoch" and _has(name, words):
            folder = entry.folders[0]
            kind = "training run" if entry.kind == "run" else "added" if folder.parent == catalog.home else "shipped"
            num_bytes = sum(file.stat().st_size for file in folder.iterdir() if file.is_file())
            found.append({"name": name, "kind": kind, "size_mb": num_bytes >> 20, "folder": str(folder)})
    return found


def _elsewhere(catalog: Catalog, words: list[str]) -> list[dict[str, Any]]:
    """Describe what can be downloaded: the recommended models, or all of open_clip's with the words in their names."""
    here = {name.replace(" ", "") for name in catalog.names()}
    known = {model.name: {**vars(model), "speed": model.speed} for model in RECOMMENDED}
    names = [name for name in (available() if words else known) if name not in here and _has(name, words)]
    return [known.get(name, {"name": name}) for name in names]


def _listed(here: list[dict[str, Any]], elsewhere: list[dict[str, Any]]) -> str:
    """Write both lists for people."""
    rows = [f"  {model['name']:50} {model['size_mb']:>9,} MB  {model['kind']}" for model in here]
    others = [f"  {model['name']:50} {_described(model)}".rstrip() for model in elsewhere]
    download = "To download with: nt2vr models get NAME"
    return "\n".join(["Here:", *(rows or ["  none"]), "", download, *(others or ["  none"])])


def _described(model: dict[str, Any]) -> str:
    if "size_mb" not in model:
        return ""
    figure = f"; zero-shot R@1 on MSR-VTT {model['msrvtt']} by its authors" if model["msrvtt"] else ""
    return f"{model['size_mb']:>9,} MB  {model['speed']:6}  {model['remark']}{figure}".rstrip()


def _has(name: str, words: list[str]) -> bool:
    return all(word.casefold() in name.casefold() for word in words)
