"""Encoding on Ray: a cluster of two nodes on this machine, workers that end, and those that are of no use."""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from nt2vr.errors import ConfigError, GalleryError, Nt2vrError
from nt2vr.library import ray_workers
from nt2vr.library.libraries import Libraries
from nt2vr.library.ray_workers import AT_ONCE, plan
from nt2vr.library.update import update_library
from nt2vr.media.decode import Decoder
from nt2vr.media.store import Cache
from nt2vr.search.embed_clips import open_gallery
from tests.paths import ROOT
from tests.unit.library.brightness import BrightnessEncoder

COUNT, BATCH = 60, 2  # clips


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        ([{"CPU": 64}, {"CPU": 12}], (9, 8, 0)),
        ([{"CPU": 4}, {"CPU": 9}, {"memory": 1e9}], (3, 4, 0)),
        ([{"CPU": 64}, {"CPU": 16, "GPU": 4}, {"CPU": 8, "GPU": 1}], (5, 4, 1)),
    ],
)
def test_each_gpu_has_a_worker_and_otherwise_the_cores_are_shared_out(
    nodes: Sequence[Mapping[str, float]], expected: tuple[int, int, int]
) -> None:
    assert plan(nodes) == expected


@pytest.mark.parametrize(
    "address", ["", "local", "http://host:10001", "ray://host", "ray://a b:1", "host:x"]
)
def test_what_is_no_address_is_one_sentence(address: str) -> None:
    with pytest.raises(ConfigError, match="is no Ray cluster"), _workers(address):
        pass


def test_without_ray_the_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ConfigError, match=r"pip install 'nt2vr\[ray\]'"), _workers("auto"):
        pass


def _workers(address: str, load: Callable[[], Any] = BrightnessEncoder) -> Any:
    return ray_workers.ray_workers(address, load, BrightnessEncoder())


class Doomed(BrightnessEncoder):
    """Notes each batch. On a node, or on any, the first that has embedded two waits to be killed with its third.

    The others wait with theirs until there is such a one, so that none is too late.
    """

    def __init__(self, notes: Path, node: str = "") -> None:
        super().__init__()
        self.notes, self.node, self.num_batches = notes, node, 0

    def encode_frames(self, frames: NDArray[np.uint8]) -> NDArray[np.float32]:
        import ray  # noqa: PLC0415  only workers need it

        self.num_batches += 1
        (self.notes / f"{os.getpid()}-{self.num_batches}").write_text(
            str(len(frames) // self.num_frames)
        )
        victim = self.notes / "victim"
        if self.num_batches == 3 and not victim.exists():
            if self.node in ("", ray.get_runtime_context().get_node_id()):
                victim.write_text(str(os.getpid()))
                threading.Event().wait()
            _wait_for(victim.exists)
        return super().encode_frames(frames)


class Other(BrightnessEncoder):
    card = BrightnessEncoder.card.replace(visual_fingerprint="other")


class Fatal(BrightnessEncoder):
    def encode_frames(self, frames: NDArray[np.uint8]) -> NDArray[np.float32]:
        os._exit(1)


def _fatal() -> BrightnessEncoder:
    os._exit(1)


def _wait_for(is_so: Callable[[], bool]) -> None:
    deadline_s = time.monotonic() + 400  # a busy machine is slow, not wrong
    while not is_so():
        assert time.monotonic() < deadline_s
        time.sleep(0.05)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two nodes with a core each, so that there are two workers."""
    utils = pytest.importorskip(
        "ray.cluster_utils", reason="ray is not installed: pip install '.[ray]'"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT), prepend=os.pathsep)
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        cluster = utils.Cluster()
        for _ in range(2):
            _add_node(cluster)
        yield cluster
        cluster.shutdown()


def _add_node(cluster: Any) -> Any:
    return cluster.add_node(
        num_cpus=1,
        object_store_memory=80_000_000,
        include_dashboard=False,
        include_log_monitor=False,
    )


@pytest.fixture
def index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., BrightnessEncoder]]:
    """Index pictures on a cluster; check that all are there, once; return the encoder of this process."""
    monkeypatch.setattr(ray_workers, "BATCH_FRAMES", BATCH * BrightnessEncoder.card.framing.frames)
    films = tmp_path / "films"
    films.mkdir()
    for number in range(COUNT):
        Image.new("RGB", (16, 16), (4 * number, 0, 0)).save(films / f"{number:02}.png")
    (films / "bad.png").write_bytes(b"no picture")
    libraries = Libraries(tmp_path / "data" / "libraries")
    library = libraries.add("films", "folder", films).id

    def run(cluster: Any, load: Callable[[], Any]) -> BrightnessEncoder:
        encoder: Any = BrightnessEncoder()
        with _workers(cluster.address, load) as encode:
            update_library(
                libraries, library, encoder, decoder, cache, previews=False, encode=encode
            )
        opened = open_gallery(libraries.gallery(library), encoder, cache)
        assert len(opened.gallery.videos) == len(opened.all_frames) == COUNT
        here = encoder.encode_frames(np.full((1, 16, 16, 3), (4 * 59, 0, 0), np.uint8))
        np.testing.assert_allclose(opened.embeddings[opened.row_of["59.png"]], here[0], atol=1e-6)
        return encoder  # type: ignore[no-any-return]

    with Decoder(num_workers=1) as decoder, Cache.of(tmp_path / "data") as cache:
        yield run


@pytest.mark.slow
@pytest.mark.parametrize("what", ["worker", "node"])
def test_what_is_killed_half_way_costs_its_batches_of_that_moment(
    cluster: Any, index: Callable[..., BrightnessEncoder], tmp_path: Path, what: str
) -> None:
    notes, node = tmp_path / "notes", _add_node(cluster) if what == "node" else None
    notes.mkdir()
    victim = notes / "victim"

    def kill() -> None:
        _wait_for(lambda: victim.exists() and bool(victim.read_text()))
        if node is None:
            os.kill(int(victim.read_text()), signal.SIGKILL)
        else:
            cluster.remove_node(node, allow_graceful=False)

    killer = threading.Thread(target=kill)
    killer.start()
    index(cluster, partial(Doomed, notes, node.node_id if node is not None else ""))
    killer.join()
    embedded = {note.name: int(note.read_text()) for note in notes.glob("*-*")}
    assert len({name.partition("-")[0] for name in embedded}) >= 2  # workers
    assert COUNT + BATCH <= sum(embedded.values()) <= COUNT + BATCH * AT_ONCE
    index(cluster, _fatal)  # there is nothing left to embed


@pytest.mark.slow
@pytest.mark.parametrize(
    ("load", "error", "message"),
    [
        (
            Other,
            ConfigError,
            "A Ray worker cannot encode: its model or version is not that of this process",
        ),
        (_fatal, GalleryError, r"workers of the Ray cluster end as they start \("),
        (
            Fatal,
            GalleryError,
            r"workers of the Ray cluster end as they encode \d\d.png and others \(",
        ),
    ],
)
def test_workers_of_no_use_are_one_sentence(
    cluster: Any,
    index: Callable[..., BrightnessEncoder],
    load: Any,
    error: type[Nt2vrError],
    message: str,
) -> None:
    with pytest.raises(error, match=message) as raised:
        index(cluster, load)
    assert "\n" not in str(raised.value)
