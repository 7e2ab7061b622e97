"""Folders of galleries' embeddings: one per gallery, and in it one per visual tower."""

from dataclasses import replace
from hashlib import blake2b
from pathlib import Path

from nt2vr.media.cache import SAMPLING, Cache
from nt2vr.media.gallery import Gallery
from nt2vr.media.stored import LIMITS, evict
from nt2vr.media.video_files import hash_files
from nt2vr.models.card import Card
from nt2vr.search.embedding_file import EmbeddingFile

SHARED = "shared"  # folder of galleries without a key


def gallery_folder(gallery: Gallery, cache: Cache) -> Path:
    return cache.galleries / (gallery.key or SHARED)


def tower_folder(gallery: Gallery, card: Card, cache: Cache) -> Path:
    """Return the folder of a gallery's embeddings under a visual tower; models that pool differently share it."""
    tower = blake2b(f"{SAMPLING} {card.visual_key} {card.frames}".encode(), digest_size=8)
    return gallery_folder(gallery, cache) / tower.hexdigest()


def make_room(tower: Path) -> None:
    """Before a new tower's embeddings are stored, evict those opened least recently."""
    if not tower.exists():
        evict(towers(tower.parent), replace(LIMITS["towers"], count=LIMITS["towers"].count - 1))


def towers(folder: Path) -> list[Path]:
    return [tower for tower in folder.iterdir() if tower.is_dir()] if folder.is_dir() else []


def drop_unused(gallery: Gallery, cache: Cache) -> None:
    """Drop the embeddings of clips that the gallery has no longer, under every visual tower; an OSError drops none."""
    unreadable: dict[str, str] = {}
    keys = [file.key for file in hash_files(gallery.videos, cache, unreadable)]
    if gallery.key and not unreadable:  # otherwise others use the rows, or it is not known which are unused
        for folder in towers(gallery_folder(gallery, cache)):
            EmbeddingFile(folder).retain(keys)
