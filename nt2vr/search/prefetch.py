"""Prefetched frames, decoded while a model is still loading."""

from dataclasses import replace

from nt2vr.media.cache import Cache
from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import Gallery
from nt2vr.media.video_files import decode_files, hash_files
from nt2vr.models.card import Card
from nt2vr.models.device import PRECISIONS
from nt2vr.search.embedding_file import EmbeddingFile
from nt2vr.search.embedding_folders import tower_folder


def prefetch_frames(gallery: Gallery, card: Card, decoder: Decoder, cache: Cache) -> None:
    """Decode and store the frames that `embed_gallery` will need, while a model is still loading.

    Only the loaded model knows its precision, so clips with embeddings in any precision are left out.
    """
    if gallery.key or card.queries:
        return
    failed: dict[str, str] = {}  # embed_gallery will fail on the same files, and report them
    towers = [tower_folder(gallery, replace(card, precision=precision), cache) for precision in PRECISIONS]
    stored = [EmbeddingFile(tower) for tower in towers]
    files = hash_files(gallery.videos, cache, failed)
    missing = (file for file in files if all(known.find([file.key])[0] < 0 for known in stored))
    with cache.frames(card.frames, card.framing) as store:
        for _ in decode_files(missing, card.frames, card.framing, decoder, failed, store):
            pass
