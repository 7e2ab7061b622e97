"""Where the embeddings of galleries lie: a folder per gallery, and in it one per visual tower."""

import os
import shutil
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

from nt2vr.media.cache import SAMPLING, Cache
from nt2vr.media.gallery import Gallery
from nt2vr.models.card import Card

SHARED = "shared"  # folder of galleries without a key
MAX_TOWERS = 16  # per gallery; each epoch of a training may have a visual tower of its own


def gallery_folder(gallery: Gallery, cache: Cache) -> Path:
    """Return the folder of a gallery's embeddings."""
    return cache.galleries / (gallery.key or SHARED)


def tower_folder(gallery: Gallery, card: Card, cache: Cache) -> Path:
    """Return the folder of a gallery's embeddings under a visual tower; models that pool differently share it."""
    tower = blake2b(f"{SAMPLING} {card.visual_key} {card.frames}".encode(), digest_size=8)
    return gallery_folder(gallery, cache) / tower.hexdigest()


def mark_used(tower: Path) -> None:
    """Note that a tower's embeddings are opened."""
    with suppress(OSError):
        os.utime(tower)


def make_room(tower: Path) -> None:
    """Before a new tower's embeddings are stored, delete those opened least recently."""
    with suppress(OSError):
        if tower.exists():
            return
        others = sorted(towers(tower.parent), key=lambda folder: folder.stat().st_mtime, reverse=True)
        for folder in others[MAX_TOWERS - 1 :]:
            shutil.rmtree(folder, ignore_errors=True)


def towers(folder: Path) -> list[Path]:
    """List the folders of a gallery's visual towers."""
    return [tower for tower in folder.iterdir() if tower.is_dir()] if folder.is_dir() else []
