"""Paths that somebody names for a library."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from nt2vr.datasets.load import DATASETS, kind_and_path
from nt2vr.errors import (
    AccessError,
    ConfigError,
    quoted,
    reason_of,
)
from nt2vr.library.listing import is_available
from nt2vr.library.source import Source
from nt2vr.registry import pick


def allowed_path(path: str | Path, roots: Sequence[Path] | None) -> tuple[Path, Path | None]:
    """Resolve a path that someone named, and return it with its root; an AccessError if it is in none of `roots`."""
    try:
        resolved = Path(path).expanduser().resolve()
        root = next((root for root in roots or () if resolved.is_relative_to(root.resolve())), None)
        if roots is not None and root is None:
            where = ", ".join(map(str, roots))
            allowed = f"Libraries can be named in {where}" if where else "No folder is allowed here"
            raise AccessError(
                f"{quoted(str(path))} is not in an allowed folder. {allowed} (--allow-root)."
            )
        if not resolved.exists():
            raise ConfigError(
                f"{quoted(str(path))} is not there. Name a folder or a file of this machine."
            )
    except (
        OSError,
        ValueError,
        RuntimeError,
    ) as error:  # too long, a NUL, a loop of links, an unknown ~user
        raise ConfigError(
            f"{quoted(str(path))} cannot be used as a path ({reason_of(error)})."
        ) from None
    return resolved, root


MANIFESTS = (".csv", ".tsv", ".jsonl", ".json")


def _named(source: Source, path: str | Path, roots: Sequence[Path] | None) -> Source:
    """Complete a source with the place that someone named."""
    _check_path(path)
    loader, place = kind_and_path(path) if source.kind == "dataset" else ("", Path(path))
    if loader:
        pick("kind of dataset", loader, DATASETS)
    resolved, root = allowed_path(place, roots)
    if source.kind == "folder" and not resolved.is_dir():
        raise ConfigError(f"{resolved} is not a folder. {_kind_advice(resolved)}")
    if source.kind == "manifest" and (
        resolved.is_dir() or resolved.suffix.lower() not in MANIFESTS
    ):
        raise ConfigError(f"{resolved.name} is not a manifest. {_kind_advice(resolved)}")
    within = {"folder": resolved, "manifest": resolved.parent}.get(source.kind, root)
    source = replace(source, path=resolved, within=within, loader=loader)
    if not is_available(source):
        raise ConfigError(
            f"{resolved} is empty. Put videos or pictures there, or name another folder."
        )
    return source


def _kind_advice(path: Path) -> str:
    """Say which kind of library a path can be."""
    if path.is_dir():
        return "Use --kind folder, whose captions file is found, or --kind dataset; or name a CSV, TSV or JSON file."
    if path.suffix.lower() in MANIFESTS:
        return "Use --kind manifest (on the page: Manifest with captions), or name a folder."
    return "Name a folder, or with --kind manifest a CSV, TSV, JSONL or JSON file."


def _check_path(path: str | Path) -> None:
    if not str(path).strip():
        raise ConfigError("No folder is named. Name the folder or file of the library.")
