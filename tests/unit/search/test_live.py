"""Hot swap: while checkpoints change, every answer comes from one model, and a broken checkpoint is not served."""

import gc
import logging
import re
import shutil
import threading
import time
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.torch

from nt2vr.errors import CheckpointError, ConfigError
from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import Gallery, Video
from nt2vr.media.preview import FPS, OPTIONS, write_webm
from nt2vr.media.store import Cache
from nt2vr.models.card import WEIGHTS, Card, read_card, write_card
from nt2vr.models.catalog import Catalog
from nt2vr.models.checkpoint import read_checkpoint, write_checkpoint
from nt2vr.models.encoder import Encoder
from nt2vr.models.open_clip_encoder import OpenClipEncoder
from nt2vr.models.weights import text_fingerprint
from nt2vr.negation.parse.query import Query
from nt2vr.search import live as live_module
from nt2vr.search.answers import Answer
from nt2vr.search.embedded_gallery import EmbeddedGallery
from nt2vr.search.index import ExactIndex
from nt2vr.search.live import LiveModels, LoadedModel
from nt2vr.search.searcher import Searcher
from tests.support.tiny_models import TINY, tiny_model, write_tiny
from tests.unit.models.test_pooling import write_pooled

QUERY = Query("a man sings, no dog", ("a man sings",), ("dog",))
SYSTEMS = ("run", "run boolean", "run drop")
# Frames of five clips.
FRAMES = np.random.default_rng(0).integers(0, 256, (5, 2, 64, 64, 3), np.uint8)
PATIENCE_S = 60


def publish(runs: Path, epoch: int, source: Path) -> Path:
    """Put a checkpoint into the run's folder as a trainer does: atomically, by one rename."""
    folder = runs / "run" / "checkpoints" / f"epoch_{epoch:03d}"
    partial = folder.with_name(f".{folder.name}.partial")
    shutil.copytree(source, partial)
    return partial.rename(folder)


def write_mixed(folder: Path, text_seed: int) -> None:
    """Write the model of seed 0 with the text tower of another seed."""
    weights = tiny_model(text_seed).state_dict()
    model = tiny_model(0)
    model.load_state_dict(
        {**model.state_dict(), **{k: v for k, v in weights.items() if not k.startswith("visual.")}}
    )
    write_checkpoint(folder, model, TINY, {}, Card("mixed", frames=2))


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Checkpoints to publish: three models, and one that differs from the first in its text tower alone."""
    folder = tmp_path_factory.mktemp("sources")
    for seed in range(3):
        write_tiny(folder / str(seed), seed=seed)
    write_mixed(folder / "text", 1)
    return folder


@pytest.fixture
def runs(tmp_path: Path, sources: Path) -> Path:
    """Runs, of which one has ended its first epoch."""
    publish(tmp_path / "runs", 1, sources / "0")
    return tmp_path / "runs"


class Five:
    """A searcher of five clips that are there already; `before` is called first."""

    def __init__(self) -> None:
        self.before: Callable[[Encoder], object] = lambda _: None
        self._cached: weakref.WeakValueDictionary[str, EmbeddedGallery] = (
            weakref.WeakValueDictionary()
        )

    def embedded(self, encoder: Encoder) -> EmbeddedGallery:
        self.before(encoder)
        gallery = self._cached.get(encoder.visual_fingerprint)
        if gallery is None:
            frames = encoder.encode_video(FRAMES)
            index = ExactIndex(encoder.embed_dim)
            embeddings = encoder.pool(frames)
            rows = np.arange(5)
            index.add(rows, embeddings)
            videos = tuple(Video(str(number), Path()) for number in range(len(FRAMES)))
            gallery = EmbeddedGallery(Gallery("five", videos), embeddings, index, (), frames, rows)
            self._cached[encoder.visual_fingerprint] = gallery
        return gallery


@pytest.fixture
def five() -> Five:
    return Five()


@pytest.fixture
def live(runs: Path) -> LiveModels:
    return LiveModels(Catalog([], runs=runs))


@pytest.fixture(scope="module")
def gallery(tmp_path_factory: pytest.TempPathFactory) -> Gallery:
    folder = tmp_path_factory.mktemp("gallery")
    for number, frames in enumerate(FRAMES):
        write_webm(frames, folder / f"{number}.webm", FPS, OPTIONS)
    return Gallery(
        "five",
        tuple(Video(str(number), folder / f"{number}.webm") for number in range(len(FRAMES))),
    )


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.002)


def model_of(loaded: LoadedModel) -> Any:
    assert isinstance(loaded.encoder, OpenClipEncoder)
    return loaded.encoder._model


def content_of(searcher: Searcher, answer: Answer) -> tuple[object, ...]:
    """Return the content of an answer except for the epoch: every column, and each system's view of a clip."""
    columns = []
    for ranking in answer.rankings:
        assert ranking.vector is not None
        columns.append((ranking.system.name, ranking.hits, ranking.vector.tobytes()))
    return (*columns, answer.clip_scores("3"))


def test_during_swaps_every_answer_comes_from_exactly_one_model(
    sources: Path,
    runs: Path,
    gallery: Gallery,
    decoder: Decoder,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Columns and large galleries of an answer must agree: a mixture of two models equals the answer of none."""
    monkeypatch.setattr(live_module, "POLL_S", 0.001)
    order = ("0", "1", "text", "2", "0", "text", "1")
    expected = {}
    with Cache(tmp_path / "cache") as cache:
        for name in ("0", "1", "2", "text"):
            alone = tmp_path / f"alone-{name}"
            publish(alone, 1, sources / name)
            searcher = Searcher(Catalog([], runs=alone), gallery, decoder, cache)
            expected[content_of(searcher, searcher.search(QUERY, SYSTEMS, 5))] = name
        assert len(expected) == 4

        searcher = Searcher(Catalog([], runs=runs), gallery, decoder, cache)
        answers: list[tuple[str | None, list[int | None]]] = []
        done = threading.Event()

        def search() -> None:
            while not done.is_set():
                answer = searcher.search(QUERY, SYSTEMS, 5)
                # So that swaps happen between an answer and the look at one of its clips.
                time.sleep(0.02)
                answers.append(
                    (expected.get(content_of(searcher, answer)), [r.epoch for r in answer.rankings])
                )

        with searcher.watching(), ThreadPoolExecutor(3) as pool, ExitStack() as at_the_end:
            searching = [pool.submit(search) for _ in range(3)]
            at_the_end.callback(done.set)
            for epoch in range(2, 9):
                publish(runs, epoch, sources / order[epoch % len(order)])
                wait_for(lambda epoch=epoch: any(epochs == [epoch] * 3 for _, epochs in answers))  # type: ignore[misc]
    assert [future.result() for future in searching] == [None] * 3
    for answered_by, epochs in answers:
        assert len(set(epochs)) == 1
        assert answered_by == (order[(epochs[0] or 0) % len(order)] if epochs[0] != 1 else "0")
    # Many swaps happened under searches.
    assert len({epochs[0] for _, epochs in answers}) > 3


def test_a_swap_gives_what_a_fresh_load_gives(
    live: LiveModels, five: Five, sources: Path, runs: Path
) -> None:
    live.get("run", five)
    for epoch, name in enumerate(("1", "text", "2", "0"), start=2):
        publish(runs, epoch, sources / name)
        live.refresh()
        swapped = live.get("run").encoder
        fresh = read_checkpoint(sources / name)
        # Texts that the trial of a swap has not embedded: the last bits depend on what a text is
        # embedded with.
        texts = ["a brown dog", "an old man"]
        np.testing.assert_array_equal(swapped.encode_text(texts), fresh.encode_text(texts))
        np.testing.assert_array_equal(
            swapped.encode_video(FRAMES[:1]), fresh.encode_video(FRAMES[:1])
        )
        np.testing.assert_array_equal(
            live.get("run").galleries[five].all_frames,
            fresh.encode_frames(FRAMES.reshape(-1, 64, 64, 3)).reshape(5, 2, -1),
        )


def _weights(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    def broken(folder: Path) -> None:
        weights = safetensors.torch.load_file(folder / WEIGHTS)
        change(weights)
        safetensors.torch.save_file(weights, folder / WEIGHTS)
        card = read_card(folder)
        write_card(folder, card.replace(text_fingerprint=text_fingerprint(weights)))

    return broken


BROKEN: dict[str, tuple[Callable[[Path], object], str]] = {
    "cut off": (
        lambda f: (f / WEIGHTS).write_bytes((f / WEIGHTS).read_bytes()[:-1000]),
        "cannot be loaded",
    ),
    "another visual tower": (
        _weights(lambda w: w["visual.conv1.weight"].neg_()),
        "not match its card",
    ),
    "a blow-up": (_weights(lambda w: w["text_projection"].fill_(0).add_(3e38)), "are not finite"),
}


@pytest.mark.parametrize("broken", BROKEN)
def test_a_broken_checkpoint_is_not_served_and_is_reported_once(
    live: LiveModels,
    five: Five,
    sources: Path,
    runs: Path,
    tmp_path: Path,
    broken: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    before = live.get("run", five)
    change, reason = BROKEN[broken]
    write_tiny(tmp_path / "broken", fp16=False)
    change(tmp_path / "broken")
    folder = publish(runs, 2, tmp_path / "broken")
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            live.refresh()
    after = live.get("run")
    assert after.encoder == before.encoder
    assert after.galleries == before.galleries
    assert after.epoch == 1
    assert "refused" in after.notice
    assert "epoch_002" in after.notice
    assert "\n" not in after.notice
    assert re.search(reason, after.notice)
    assert len(caplog.records) == 1

    shutil.rmtree(folder)
    live.refresh()
    assert live.get("run").notice == ""
    publish(runs, 3, sources / "1")
    live.refresh()
    assert (live.get("run").epoch, live.get("run").notice) == (3, "")


def test_a_broken_newest_epoch_falls_back_to_the_previous(
    live: LiveModels, sources: Path, runs: Path
) -> None:
    for epoch in (2, 3):
        publish(runs, epoch, sources / "1")
    (runs / "run" / "checkpoints" / "epoch_003" / WEIGHTS).write_bytes(b"")
    assert live.get("run").epoch == 2
    assert "epoch_003" in live.get("run").notice
    with pytest.raises(CheckpointError, match="epoch_003"):
        live.get("run · epoch 3")
    # Its name says it.
    assert live.get("run · epoch 1").epoch is None


def test_old_models_are_freed_when_their_last_search_ends(
    sources: Path, runs: Path, gallery: Gallery, decoder: Decoder, tmp_path: Path
) -> None:
    with Cache(tmp_path / "cache") as cache:
        searcher = Searcher(Catalog([], runs=runs), gallery, decoder, cache)
        answer = searcher.search(QUERY, SYSTEMS, 5)
        seen = answer.clip_scores("3")
        searching = searcher.live.get("run")
        model = weakref.ref(model_of(searching))
        embedded = weakref.ref(searching.galleries[searcher])
        publish(runs, 2, sources / "1")
        searcher.live.refresh()
        gc.collect()
        # A search still has it.
        assert model() is not None
        del searching
        gc.collect()
        assert model() is None
        # What the page shows needs the old embeddings, not the model.
        assert answer.clip_scores("3") == seen
        del answer
        gc.collect()
        assert embedded() is None


def test_a_gallery_first_searched_in_a_swap_joins_the_next(
    sources: Path, runs: Path, live: LiveModels, five: Five
) -> None:
    """Or the search after it would embed the gallery in the foreground."""
    model = live.get("run", five)
    another = Five()

    def search_meanwhile(encoder: Encoder) -> None:
        five.before = lambda _: None
        model.gallery_of(another)

    five.before = search_meanwhile
    publish(runs, 2, sources / "1")
    live.refresh()
    assert live.get("run") is model
    live.refresh()
    assert live.get("run").epoch == 2
    assert set(live.get("run").galleries) == {five, another}


def test_a_model_is_loaded_once_by_concurrent_requests(live: LiveModels, five: Five) -> None:
    together = threading.Barrier(4)
    with ThreadPoolExecutor(4) as pool:
        futures = [
            pool.submit(lambda: (together.wait(), live.get("run", five))[1]) for _ in range(4)
        ]
    assert len({id(future.result()) for future in futures}) == 1


def test_a_deleted_run_is_unloaded(live: LiveModels, runs: Path) -> None:
    model = weakref.ref(model_of(live.get("run")))
    shutil.rmtree(runs / "run")
    live.refresh()
    gc.collect()
    assert model() is None
    with pytest.raises(ConfigError, match="run"):
        live.get("run")


def test_the_least_recently_used_model_is_unloaded_first(
    live: LiveModels, sources: Path, runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_module, "MAX_LOADED", 2)
    for epoch in (2, 3):
        publish(runs, epoch, sources / "0")
    first = live.get("run · epoch 1")
    second = live.get("run · epoch 2")
    live.get("run · epoch 1")
    live.get("run · epoch 3")
    assert live.get("run · epoch 1") is first
    assert live.get("run · epoch 2") is not second


def test_a_new_head_is_swapped_in_without_encoding_a_frame(
    tmp_path: Path, gallery: Gallery, decoder: Decoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in range(2):
        write_pooled(tmp_path / str(seed), seed=seed)
    publish(tmp_path / "runs", 1, tmp_path / "0")
    encoded: list[int] = []
    encode = OpenClipEncoder.encode_frames

    def counted(encoder: OpenClipEncoder, frames: Any) -> Any:
        encoded.append(len(frames))
        return encode(encoder, frames)

    monkeypatch.setattr(OpenClipEncoder, "encode_frames", counted)
    with Cache(tmp_path / "cache") as cache:
        searcher = Searcher(Catalog([], runs=tmp_path / "runs"), gallery, decoder, cache)
        before = searcher.search(QUERY, ["run"])
        publish(tmp_path / "runs", 2, tmp_path / "1")
        searcher.live.refresh()
        after = searcher.search(QUERY, ["run"])
        embedded = searcher.live.get("run").galleries[searcher]
        expected = read_checkpoint(tmp_path / "1").pool(np.array(embedded.all_frames))
    assert [answer.rankings[0].epoch for answer in (before, after)] == [1, 2]
    # The first head embeds them.
    assert sum(encoded) == 3 * len(FRAMES)
    assert not np.allclose(before.rankings[0].gallery.embeddings, embedded.embeddings)  # type: ignore[union-attr]
    np.testing.assert_allclose(embedded.embeddings, expected[embedded.frame_rows], atol=1e-6)
