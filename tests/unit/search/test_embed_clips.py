"""Embedding a gallery: once, in order, whatever fails on the way."""

import logging
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from nt2vr.errors import CheckpointError, ConfigError
from nt2vr.media.clip_frames import hash_files
from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import Gallery, Video
from nt2vr.media.rows import Rows
from nt2vr.media.store import SAMPLING, Cache
from nt2vr.models.card import Card, StoredNames
from nt2vr.search import index_gallery
from nt2vr.search.embed_clips import drop_unused, embed_gallery, open_gallery
from nt2vr.search.index import ExactIndex, FaissIndex
from tests.support.brightness_encoder import BrightnessEncoder
from tests.support.counting_decoder import CountingDecoder
from tests.support.disks import mounted
from tests.support.mean_pooling import pool_by_mean
from tests.support.paths import ROOT

WriteVideo = Callable[..., Path]


@pytest.fixture(scope="module")
def decoder() -> Iterator[CountingDecoder]:
    decoder = CountingDecoder(num_workers=1)
    with decoder:
        yield decoder


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[Cache]:
    with Cache(tmp_path / "cache") as cache:
        yield cache


@pytest.fixture
def gallery(write_video: WriteVideo) -> Gallery:
    """Return 40 videos from dark to bright."""
    return Gallery(
        "greys", tuple(Video(f"v{i}", write_video(f"{i}.avi", [6 * i] * 5)) for i in range(40))
    )


def embed(
    gallery: Gallery, decoder: Decoder, cache: Cache, **options: Any
) -> tuple[Any, BrightnessEncoder]:
    encoder = BrightnessEncoder()
    return embed_gallery(gallery, encoder, decoder, cache, **options), encoder


def test_rows_follow_the_gallery_and_the_brightest_is_found(
    gallery: Gallery, decoder: Decoder, cache: Cache
) -> None:
    done: list[tuple[int, int, str]] = []
    embedded, _ = embed(gallery, decoder, cache, progress=lambda *now: done.append(now))
    assert embedded.gallery == gallery
    assert embedded.skipped == ()
    frames = np.stack([embedded.frame_embeddings(row) for row in range(40)])
    assert frames.shape == (40, 4, 2)
    assert frames.dtype == np.float32
    assert (np.diff(frames[:, 0, 1]) > 0).all()
    assert embedded.index.search(np.array([[0, 1]], np.float32), 3)[1].tolist() == [[39, 38, 37]]
    checked = [(n, of) for n, of, step in done if step.startswith("checking files")]
    read = [(n, of) for n, of, step in done if step.startswith("reading clips")]
    assert checked == [(n, 40) for n in range(1, 41)]
    assert read[0] == (0, 40)
    assert read[-1] == (40, 40)
    assert read == sorted(read)


def test_cached_videos_are_neither_decoded_nor_encoded_again(
    gallery: Gallery, decoder: CountingDecoder, cache: Cache
) -> None:
    first, encoder = embed(gallery, decoder, cache)
    assert encoder.num_clips == 40
    before = decoder.num_decoded
    moved = Gallery("moved", tuple(reversed(gallery.videos)))
    second_index, encoder = embed(moved, decoder, cache)
    assert encoder.num_clips == 0
    assert decoder.num_decoded == before
    for row in range(40):
        np.testing.assert_array_equal(
            second_index.frame_embeddings(row), first.frame_embeddings(39 - row)
        )


class OldEncoder(BrightnessEncoder):
    """A model whose videos version 0.2.0 embedded; embeds nothing itself."""

    card = Card(
        "old",
        frames=4,
        image_size=16,
        visual_fingerprint="c0ffee",
        visual_settings="5e77",
        pooling="unit_seqTransf",
        head={"fingerprint": "4ead"},
    )

    def encode_frames(self, frames: NDArray[np.uint8]) -> NDArray[np.float32]:
        raise AssertionError("computed again")

    def pool(self, stored: NDArray[np.float32]) -> NDArray[np.float32]:
        raise AssertionError("pooled again")


def test_embeddings_under_the_names_of_0_2_0_are_found(
    gallery: Gallery, decoder: Decoder, cache: Cache
) -> None:
    few = Gallery("few", gallery.videos[:2], "a-library")
    keys = [clip.key for clip in hash_files(few.videos, cache, {})]
    tower = blake2b(f"{SAMPLING} c0ffee 5e77 4".encode(), digest_size=8).hexdigest()
    frames = np.arange(16, dtype=np.float32).reshape(2, 4, 2)
    pooled = np.array([[1, 0], [0, 1]], np.float32)
    folder = cache.galleries / "a-library" / tower
    Rows(folder, np.float32, (4, 2)).append(keys, frames)
    Rows(folder / "unit_seqTransf_4ead", np.float32, (2,)).append(keys, pooled)

    for embedded in (
        open_gallery(few, OldEncoder(), cache),
        embed_gallery(few, OldEncoder(), decoder, cache),
    ):
        assert embedded.skipped == ()
        np.testing.assert_array_equal(embedded.frame_embeddings(1), frames[1])
        np.testing.assert_array_equal(embedded.embeddings, pooled)


def test_bad_files_are_skipped_and_rows_stay_aligned(
    gallery: Gallery, decoder: Decoder, cache: Cache
) -> None:
    gallery.videos[3].path.unlink()
    gallery.videos[20].path.write_text("not a video")
    embedded, _ = embed(gallery, decoder, cache)
    assert [video.video_id for video in embedded.gallery.videos] == [
        f"v{i}" for i in range(40) if i not in (3, 20)
    ]
    assert [video_id for video_id, _ in embedded.skipped] == ["v3", "v20"]
    assert embedded.skipped[0][1].startswith("3.avi cannot be read")
    assert embedded.skipped[1][1].startswith("20.avi is not a readable video")
    assert len(embedded.index) == 38


def test_a_stopped_run_keeps_its_embeddings(
    gallery: Gallery, decoder: Decoder, cache: Cache
) -> None:
    def stop_after_a_batch(done: int, total: int, doing: str) -> None:
        if doing.startswith("reading clips") and done:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        embed(gallery, decoder, cache, progress=stop_after_a_batch)
    complete, encoder = embed(gallery, decoder, cache)
    assert len(complete.gallery.videos) == 40
    assert encoder.num_clips == 24


def count_missing(gallery: Gallery, card: Card, cache: Cache) -> int:
    """Count the clips without stored embeddings."""
    encoder: Any = BrightnessEncoder()
    encoder.card = card
    return len(open_gallery(gallery, encoder, cache).skipped)


def folder_of(cache: Cache) -> Path:
    (folder,) = (cache.galleries / "shared").iterdir()
    return folder


def test_equal_content_is_embedded_once_and_found_under_every_id(
    gallery: Gallery, decoder: Decoder, cache: Cache
) -> None:
    copies = tuple(
        replace(video, video_id=f"copy of {video.video_id}") for video in gallery.videos[:3]
    )
    gallery = replace(gallery, videos=gallery.videos[:3] + copies)
    done: list[int] = []
    embedded, encoder = embed(gallery, decoder, cache, progress=lambda now, *_: done.append(now))
    assert encoder.num_clips == 3
    assert embedded.gallery == gallery
    assert done[-1] == 6
    scores, rows = embedded.search(np.array([0, 1], np.float32), 6)
    assert rows.tolist() == [2, 5, 1, 4, 0, 3]
    assert scores[0] == scores[1]


def test_windows_of_a_video_have_embeddings_of_their_own(
    write_video: WriteVideo, decoder: Decoder, cache: Cache
) -> None:
    video = Video("video", write_video("video.avi", [40] * 24))
    windows = tuple(
        replace(
            video, video_id=f"{at}", start=at, end=at + 1.0, long_video="video", content="known"
        )
        for at in (0.0, 1.0)
    )
    _, encoder = embed(Gallery("video", windows), decoder, cache)
    assert encoder.num_clips == 2
    _, encoder = embed(Gallery("video", windows[::-1]), decoder, cache)
    assert encoder.num_clips == 0


def test_opening_decodes_nothing_and_lists_what_is_missing(
    gallery: Gallery, decoder: CountingDecoder, cache: Cache
) -> None:
    encoder: Any = BrightnessEncoder()
    assert count_missing(gallery, encoder.card, cache) == 40
    assert open_gallery(gallery, encoder, cache).gallery.videos == ()
    assert not cache.galleries.exists()
    embed(Gallery("part", gallery.videos[10:]), decoder, cache)
    before = decoder.num_decoded
    opened = open_gallery(gallery, encoder, cache)
    assert opened.gallery.videos == gallery.videos[10:]
    assert opened.skipped[9] == ("v9", "Not embedded yet.")
    assert len(opened.skipped) == 10
    assert count_missing(gallery, encoder.card, cache) == 10
    assert count_missing(gallery, encoder.card.replace(visual_fingerprint="another"), cache) == 40
    assert (encoder.num_clips, decoder.num_decoded) == (0, before)


def test_a_gallery_whose_contents_are_known_opens_without_its_files(
    gallery: Gallery, decoder: Decoder, cache: Cache
) -> None:
    known_gallery = replace(
        gallery,
        videos=tuple(
            replace(video, content=cache.content_hash(video.path)) for video in gallery.videos
        ),
    )
    first, _ = embed(known_gallery, decoder, cache)
    for video in gallery.videos:
        video.path.unlink()
    opened = open_gallery(known_gallery, BrightnessEncoder(), cache)
    assert opened.gallery == known_gallery
    np.testing.assert_array_equal(opened.embeddings, first.embeddings)


def test_an_open_gallery_is_unaffected_by_later_changes(
    gallery: Gallery, decoder: Decoder, cache: Cache
) -> None:
    """Clips are removed, the file is compacted and grows again; the gallery opened before answers as before."""
    library = replace(gallery, key="library-1")
    before, _ = embed(library, decoder, cache)
    frames = before.frame_embeddings(39)
    answer = before.search(np.array([0, 1], np.float32), 40)
    few = replace(library, videos=library.videos[::10])
    drop_unused(few, cache)
    after, encoder = embed(replace(library, videos=library.videos[::-5]), decoder, cache)
    # Of v39, v34 and so on: the four that are left are others.
    assert encoder.num_clips == 8
    np.testing.assert_array_equal(before.frame_embeddings(39), frames)
    for first, second in zip(before.search(np.array([0, 1], np.float32), 40), answer, strict=True):
        np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(after.embeddings, before.embeddings[::-5])
    assert after.search(np.array([0, 1], np.float32), 3)[1].tolist() == [0, 1, 2]


def test_only_the_latest_poolings_are_kept(
    gallery: Gallery, decoder: Decoder, cache: Cache
) -> None:
    few = replace(gallery, videos=gallery.videos[:2])
    encoder = BrightnessEncoder()
    pooled = []

    def pool(frames: NDArray[np.float32]) -> NDArray[np.float32]:
        pooled.append(len(frames))
        return pool_by_mean(frames)

    encoder.pool = pool  # type: ignore[method-assign,assignment]
    for number in range(10):
        encoder.card = encoder.card.replace(head={"fingerprint": str(number)})
        for _ in range(2):
            embed_gallery(few, encoder, decoder, cache)
        os.utime(
            folder_of(cache) / StoredNames.of(encoder.card.visual_key).pooling, (number, number)
        )
    assert pooled == [2] * 10
    assert {path.name for path in folder_of(cache).glob("mean_*")} == {
        f"mean_{number}" for number in range(2, 10)
    }


def test_embeddings_that_are_not_finite_are_the_models_fault(
    gallery: Gallery, decoder: Decoder, cache: Cache
) -> None:
    class Broken(BrightnessEncoder):
        def encode_frames(self, frames: NDArray[np.uint8]) -> NDArray[np.float32]:
            return super().encode_frames(frames) * np.float32(np.nan)

    with pytest.raises(CheckpointError, match="brightness"):
        embed_gallery(gallery, Broken(), decoder, cache)


def test_a_clip_embedded_meanwhile_is_not_encoded_again(
    gallery: Gallery, decoder: Decoder, cache: Cache
) -> None:
    other_encoders: list[BrightnessEncoder] = []

    def embed_elsewhere(done: int, total: int, doing: str) -> None:
        if doing == "reading clips" and not other_encoders:
            other_encoders.append(embed(gallery, decoder, cache)[1])

    embedded, encoder = embed(gallery, decoder, cache, progress=embed_elsewhere)
    assert (other_encoders[0].num_clips, encoder.num_clips) == (
        40,
        0,
    )
    assert embedded.gallery == gallery


@pytest.mark.parametrize("options", ["size=4k", "size=1m,ro"], ids=["full", "read-only"])
def test_a_full_disk_searches_in_memory_or_refuses(
    gallery: Gallery,
    decoder: Decoder,
    tmp_path: Path,
    options: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    with mounted(disk, options), Cache(tmp_path / "cache", galleries=disk) as cache:
        embedded, _ = embed(gallery, decoder, cache)
        assert embedded.gallery == gallery
        assert embedded.skipped == ()
        assert embedded.search(np.array([0, 1], np.float32), 3)[1].tolist() == [39, 38, 37]
        assert all(np.isfinite(embedded.frame_embeddings(row)).all() for row in range(40))
        (warning,) = (
            record.message for record in caplog.records if record.levelno >= logging.WARNING
        )
        assert "cannot be stored" in warning
        assert "\n" not in warning
        with pytest.raises(ConfigError):
            embed(gallery, decoder, cache, in_memory=False)


def test_a_large_gallery_is_searched_approximately_with_a_known_recall(
    gallery: Gallery, decoder: Decoder, cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_gallery, "APPROXIMATE_FROM", 20)
    copy = replace(gallery.videos[39], video_id="copy")
    part = replace(gallery, videos=(*gallery.videos[1:], copy))
    embedded, encoder = embed(part, decoder, cache)
    assert isinstance(embedded.index, FaissIndex)
    assert embedded.index.recall == 1
    assert embedded.search(np.array([0, 1], np.float32), 4)[1].tolist() == [38, 39, 37, 36]
    # One added, one removed.
    changed = replace(gallery, videos=(*gallery.videos[9::-1], *gallery.videos[11:]))
    opened = open_gallery(changed, encoder, cache)
    # v0 is not embedded; until an update.
    assert isinstance(opened.index, ExactIndex)
    assert len(opened.index) == 38
    embed(changed, decoder, cache)
    opened = open_gallery(changed, encoder, cache)
    assert isinstance(opened.index, FaissIndex)
    assert len(opened.index) == 39
    assert opened.search(np.array([1, 0], np.float32), 3)[1].tolist() == [9, 8, 7]
    (folder_of(cache) / "mean.faiss").write_bytes(b"damaged")
    assert isinstance(open_gallery(changed, encoder, cache).index, ExactIndex)


EMBED = """
if __name__ == "__main__":  # the decoder's child imports this script too
    import os, sys
    from pathlib import Path
    from nt2vr.media.store import Cache
    from nt2vr.media.decode import Decoder
    from nt2vr.media.gallery import Gallery, Video
    from nt2vr.search.embed_clips import embed_gallery
    from tests.support.brightness_encoder import BrightnessEncoder

    class Doomed(BrightnessEncoder):
        def encode_frames(self, frames):
            if self.num_clips + len(frames) // 4 > 17:
                os.kill(os.getpid(), 9)
            return super().encode_frames(frames)

    folder = Path(sys.argv[1])
    videos = tuple(Video(f"v{i}", folder / f"{i}.avi") for i in range(40))
    gallery, cache = Gallery("greys", videos, key=sys.argv[2]), Cache(folder / "cache")
    embed_gallery(gallery, Doomed(), Decoder(1), cache)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("key", "stored"), [("", 16), ("library", 17)], ids=["batches of 64 frames", "a library"]
)
def test_a_killed_encoding_loses_one_batch(
    gallery: Gallery, decoder: Decoder, cache: Cache, tmp_path: Path, key: str, stored: int
) -> None:
    script = tmp_path / "embed.py"
    script.write_text(EMBED)
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, str(script), str(tmp_path), key]
    ended = subprocess.run(command, stderr=subprocess.DEVNULL, env=environment, check=False)
    assert ended.returncode == -9
    embedded, encoder = embed(replace(gallery, key=key), decoder, cache)
    assert len(embedded.gallery.videos) == 40
    assert encoder.num_clips == 40 - stored
