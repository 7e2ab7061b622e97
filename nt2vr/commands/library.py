"""`nt2vr library add | list | check | update | skipped | remove`: your own videos."""

import json
import sys
from argparse import ArgumentParser, Namespace
from contextlib import AbstractContextManager, closing, nullcontext
from functools import partial
from typing import TYPE_CHECKING

from nt2vr.datasets.base import SPLITS
from nt2vr.errors import ConfigError
from nt2vr.library.info import KINDS, MAX_WINDOW_S, MIN_WINDOW_S, WINDOW_S, Changes, LibraryInfo
from nt2vr.models.recommended import OFFERED
from nt2vr.progress import progress_bar
from nt2vr.settings import Settings, add_flags, add_index_flag

if TYPE_CHECKING:
    from nt2vr.library.update import Shard
    from nt2vr.models.encoder import Encoder
    from nt2vr.search.embed_clips import Encode
    from nt2vr.services import Services

MODEL = "CLIP-neg"
LISTED = 20  # names per line of `check`
ROW = "{:30} {:>8} {:>8} {:>8}  {}"


def add_arguments(parser: ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    add = actions.add_parser("add", help="add a folder, manifest or dataset, and index it")
    add.add_argument("path", help="folder of videos and pictures; a manifest or a dataset with --kind")
    add.add_argument("--name", required=True, help="name of the library")
    kinds = [kind for kind in KINDS if kind != "uploads"]
    add.add_argument("--kind", choices=kinds, default="folder", help="what the path is (default: %(default)s)")
    splits = sorted({"all", *SPLITS.values()})
    add.add_argument("--split", choices=splits, default="all", help="part of a dataset (default: %(default)s)")
    add.add_argument(
        "--window",
        type=float,
        metavar="SECONDS",
        help=f"length of the windows of long videos, {MIN_WINDOW_S:g} to {MAX_WINDOW_S:g}; 0 keeps videos whole "
        f"(default: {WINDOW_S:g} for folders, otherwise 0)",
    )
    add.add_argument(
        "--shard",
        metavar="I/N",
        help="embed one of N shares, as 2/8, while other processes or machines with the same data folder embed the "
        "others; `update` then completes the library",
    )
    update = actions.add_parser("update", help="index what is new or changed")
    for action in (add, update):
        default = f"one here that knows more than drawings, else {MODEL}"
        action.add_argument("--model", help=f"model to index with (default: {default})")
        action.add_argument("--no-previews", action="store_true", help="make no posters and previews now")
        action.add_argument(
            "--ray", metavar="ADDRESS", help="embed on a Ray cluster: auto for this machine's, or ray://HOST:10001"
        )
    update.add_argument("--retry", action="store_true", help="read skipped files again")
    actions.add_parser("list", help="list the libraries").add_argument("--json", action="store_true", help="as JSON")
    actions.add_parser("check", help="say what changed since the last update, without indexing")
    actions.add_parser("skipped", help="list what is not searched, and why")
    remove = actions.add_parser(
        "remove", aliases=["rm"], help="delete a library with its index; files of your folders stay"
    )
    remove.set_defaults(action="remove")
    for name, action in actions.choices.items():
        if name not in ("add", "list", "rm"):
            action.add_argument("name", help="name of the library")
        if name != "rm":
            add_flags(action)
        if name in ("add", "update", "remove"):
            add_index_flag(action)


def run(options: Namespace) -> None:
    from nt2vr.services import Services

    services = Services(Settings.read(options.data_dir, options.device, index=getattr(options, "index", None)))
    libraries = services.libraries
    if options.action == "list":
        _write(*_listed(libraries.infos(), options.json))
    elif options.action == "check":
        recalls = libraries.find(options.name).recalls.items()
        found = (f"{model}: the index finds {100 * recall:.1f} % of the ten best clips." for model, recall in recalls)
        _write(*_changes(libraries.check(options.name)), *found)
    elif options.action == "skipped":
        _write(*(f"{each.id}\t{each.reason}" for each in libraries.skipped(options.name)))
    elif options.action == "remove":
        libraries.remove(options.name)
        _write(f"{options.name} is removed.")
    else:
        with closing(services):
            _update(services, options)


def _update(services: "Services", options: Namespace) -> None:
    """Add the library if it is new, and index it; an unknown model is refused first."""
    from nt2vr.library.update import Shard, update_library

    options.model = options.model or next(iter(services.models.real_models()), MODEL)
    shard = Shard.named(options.shard) if options.action == "add" and options.shard else None
    if shard is not None and options.ray is not None:
        raise ConfigError("--shard and --ray both share the work out. Choose one of them.")
    libraries, encoder = services.libraries, services.models.load(options.model)
    options.model = services.models.named(options.model)
    if services.models.knows_only_drawings(options.model):
        again = f"nt2vr library update NAME --model {OFFERED.catalog_name!r}"
        _write(f"{options.model} knows only drawings. For real videos: nt2vr models get {OFFERED.name}, then {again}")
    if shard is not None:
        _update_shard(services, options, encoder, shard)
        return
    with _encoding(services.settings, options, encoder) as encode, progress_bar() as progress:
        if options.action == "add":
            libraries.add(options.name, options.kind, options.path, options.split, options.window)
        elif options.retry:
            libraries.retry(options.name)
        updated = update_library(
            libraries,
            options.name,
            encoder,
            services.decoder,
            services.cache,
            progress,
            previews=not options.no_previews,
            milvus=services.milvus,
            encode=encode,
        )
    _write(
        *_changes(updated.changes),
        f"{updated.num_embedded:,} of {updated.num_clips:,} clips are indexed by {options.model}.",
    )
    if updated.notice:
        _write(updated.notice)
    if updated.num_skipped:
        _write(f"{updated.num_skipped:,} are skipped: nt2vr library skipped {options.name!r} says why.")


def _encoding(settings: Settings, options: Namespace, encoder: "Encoder") -> "AbstractContextManager[Encode | None]":
    """Return what encodes on the Ray cluster that was named, if one was."""
    if options.ray is None:
        return nullcontext()
    from nt2vr.library.ray_workers import load_like, ray_workers

    known = settings.data_dir.absolute(), settings.device, options.model, encoder.card.precision
    return ray_workers(options.ray, partial(load_like, *known), encoder)


def _update_shard(services: "Services", options: Namespace, encoder: "Encoder", shard: "Shard") -> None:
    """Embed a share of the library, which the first of the processes adds."""
    from nt2vr.library.update import shared_library, update_shard

    source = options.kind, options.path, options.split, options.window
    library = shared_library(services.libraries, options.name, *source)
    with progress_bar() as progress:
        done = update_shard(services.libraries, library, shard, encoder, services.decoder, services.cache, progress)
    _write(f"{done.num_embedded:,} of the {done.num_clips:,} clips of this share are indexed by {options.model}.")
    _write(f"When all shares are done: nt2vr library update {options.name!r}")


def _listed(infos: list[LibraryInfo], as_json: bool) -> list[str]:
    if as_json:
        return [json.dumps([info.as_dict() for info in infos], ensure_ascii=False, indent=2)]
    rows = [
        ROW.format(
            info.name,
            f"{info.num_files:,}",
            f"{info.num_clips:,}",
            f"{info.num_skipped:,}",
            str(info.source.path) + ("" if info.available else "  (not there now)"),
        )
        for info in infos
    ]
    return [ROW.format("library", "files", "clips", "skipped", "source"), *rows] if rows else ["No libraries yet."]


def _changes(changes: Changes) -> list[str]:
    return [f"{len(names):,} {what}: {_some(names)}" for what, names in changes.by_kind.items()] or [
        "Nothing changed."
    ]


def _some(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - LISTED:,} more" if len(names) > LISTED else ""
    return ", ".join(names[:LISTED]) + more


def _write(*lines: str) -> None:
    sys.stdout.writelines(f"{line}\n" for line in lines)
