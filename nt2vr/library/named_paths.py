"""Paths that somebody names for a library."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from nt2vr.datasets.load import DATASETS, kind_and_path
from nt2vr.errors import AccessError, ConfigError, quoted, reason_of
from nt2vr.files import AnyPath
from nt2vr.library.folder_captions import CAPTIONS_SUFFIXES
from nt2vr.library.listing import is_available
from nt2vr.library.source import Kind, Source
from nt2vr.registry import pick

# Folders that a named path must lie in; None allows any.
Roots = Sequence[Path] | None


def resolve_allowed(path: Path, roots: Roots) -> tuple[Path, Path | None]:
    """Resolve a path, and return it with the root that it lies in.

    Args:
        roots: folders that the path must lie in, otherwise an AccessError is raised; None allows
            any.
    """
    try:
        resolved = path.expanduser().resolve()
        enclosing = (root for root in roots or () if resolved.is_relative_to(root.resolve()))
        root = next(enclosing, None)
        if roots is not None and root is None:
            raise AccessError(_not_allowed_text(path, roots))
        if not resolved.exists():
            raise ConfigError(
                f"{quoted(str(path))} is not there. Name a folder or a file of this machine."
            )
    except (OSError, ValueError, RuntimeError) as error:
        # The path is too long, has a NUL, an unknown ~user, or a loop of links.
        raise ConfigError(
            f"{quoted(str(path))} cannot be used as a path ({reason_of(error)})."
        ) from None
    return resolved, root


def _not_allowed_text(path: Path, roots: Sequence[Path]) -> str:
    advice = "No folder is allowed here"
    if roots:
        advice = f"Libraries can be named in {', '.join(map(str, roots))}"
    return f"{quoted(str(path))} is not in an allowed folder. {advice} (--allow-root)."


def loader_and_path(name: AnyPath, kind: Kind) -> tuple[str, Path]:
    """Split what somebody named for a library into the kind of dataset, or "", and the path."""
    if not str(name).strip():
        raise ConfigError("No folder is named. Name the folder or file of the library.")
    if kind == "dataset":
        return kind_and_path(name)
    return "", Path(name)


def with_path(source: Source, loader: str, path: Path, roots: Roots) -> Source:
    """Return a source with a folder, manifest or dataset, of a kind of dataset or "".

    Raises:
        AccessError: if the path is in none of `roots`.
        ConfigError: if it does not exist, is empty, or does not fit the kind of library.
    """
    if loader:
        pick("kind of dataset", loader, DATASETS)

    resolved, root = resolve_allowed(path, roots)
    _check_kind(source, resolved)

    within = root
    if source.kind == "folder":
        within = resolved
    elif source.kind == "manifest":
        within = resolved.parent
    source = replace(source, path=resolved, within=within, loader=loader)
    if not is_available(source):
        raise ConfigError(
            f"{resolved} is empty. Put videos or pictures there, or name another folder."
        )
    return source


def _check_kind(source: Source, path: Path) -> None:
    """Raise a ConfigError if a path does not fit the kind of library."""
    if source.kind == "folder" and not path.is_dir():
        raise ConfigError(f"{path} is not a folder. {_kind_advice(path)}")
    is_manifest = not path.is_dir() and path.suffix.lower() in CAPTIONS_SUFFIXES
    if source.kind == "manifest" and not is_manifest:
        raise ConfigError(f"{path.name} is not a manifest. {_kind_advice(path)}")


def _kind_advice(path: Path) -> str:
    """Say which kind of library a path can be."""
    if path.is_dir():
        return (
            "Use --kind folder, whose captions file is found, or --kind dataset; or name a CSV, TSV "
            "or JSON file."
        )
    if path.suffix.lower() in CAPTIONS_SUFFIXES:
        return "Use --kind manifest (on the page: Manifest with captions), or name a folder."
    return "Name a folder, or with --kind manifest a CSV, TSV, JSONL or JSON file."
