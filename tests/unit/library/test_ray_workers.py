"""Encoding on a Ray cluster of two nodes, whose workers may end or be of no use."""

import os
import re
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
from nt2vr.library.ray_workers import AT_ONCE, plan_workers
from nt2vr.library.update import update_library
from nt2vr.media.decode import Decoder
from nt2vr.media.store import Cache
from nt2vr.search.embed_clips import open_gallery
from tests.support.brightness_encoder import BrightnessEncoder
from tests.support.paths import ROOT

COUNT = 60
BATCH = 2  # clips


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        ([{"CPU": 64}, {"CPU": 12}], (9, 8, 0)),
        ([{"CPU": 4}, {"CPU": 9}, {"memory": 1e9}], (3, 4, 0)),
        ([{"CPU": 64}, {"CPU": 16, "GPU": 4}, {"CPU": 8, "GPU": 1}], (5, 4, 1)),
    ],
)
def test_each_gpu_has_a_worker_or_else_cores_are_shared(
    nodes: Sequence[Mapping[str, float]], expected: tuple[int, int, int]
) -> None:
    assert plan_workers(nodes) == expected


@pytest.mark.parametrize(
    "address", ["", "local", "http://host:10001", "ray://host", "ray://a b:1", "host:x"]
)
def test_invalid_addresses_are_refused(address: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(repr(address))), _workers(address):
        pass


def test_without_ray_the_error_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ConfigError, match=r"nt2vr\[ray\]"), _workers("auto"):
        pass


def _workers(address: str, load: Callable[[], Any] = BrightnessEncoder) -> Any:
    return ray_workers.ray_workers(address, load, BrightnessEncoder())


class Doomed(BrightnessEncoder):
    """Notes each batch. On a node, or on any, the first that has embedded two waits to be killed with its third.

    The others wait with theirs until there is such a one, so that none is too late.
    """

    def __init__(self, notes: Path, node: str = "") -> None:
        super().__init__()
        self.notes = notes
        self.node = node
        self.num_batches = 0

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
    # A busy machine is slow, not wrong.
    deadline_s = time.monotonic() + 400
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
    folder = tmp_path / "videos"
    folder.mkdir()
    for number in range(COUNT):
        Image.new("RGB", (16, 16), (4 * number, 0, 0)).save(folder / f"{number:02}.png")
    (folder / "bad.png").write_bytes(b"no picture")
    libraries = Libraries(tmp_path / "data" / "libraries")
    library = libraries.add("videos", "folder", folder).id

    def run(cluster: Any, load: Callable[[], Any]) -> BrightnessEncoder:
        encoder: Any = BrightnessEncoder()
        with _workers(cluster.address, load) as encode:
            update_library(
                libraries, library, encoder, decoder, cache, previews=False, encode=encode
            )
        opened = open_gallery(libraries.gallery(library), encoder, cache)
        assert len(opened.gallery.videos) == len(opened.all_frames) == COUNT
        expected = encoder.encode_frames(np.full((1, 16, 16, 3), (4 * 59, 0, 0), np.uint8))
        np.testing.assert_allclose(
            opened.embeddings[opened.row_of["59.png"]], expected[0], atol=1e-6
        )
        return encoder  # type: ignore[no-any-return]

    with Decoder(num_workers=1) as decoder, Cache.of(tmp_path / "data") as cache:
        yield run


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["worker", "node"])
def test_a_kill_costs_the_batches_under_way(
    cluster: Any, index: Callable[..., BrightnessEncoder], tmp_path: Path, kind: str
) -> None:
    node = _add_node(cluster) if kind == "node" else None
    notes = tmp_path / "notes"
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
    # Each worker has its own name.
    assert len({name.partition("-")[0] for name in embedded}) >= 2
    assert COUNT + BATCH <= sum(embedded.values()) <= COUNT + BATCH * AT_ONCE
    # There is nothing left to embed.
    index(cluster, _fatal)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("load", "error", "value"),
    [
        (Other, ConfigError, ", other"),
        (_fatal, GalleryError, "start"),
        (Fatal, GalleryError, r"\d\d.png"),
    ],
)
def test_the_error_names_what_workers_cannot_do(
    cluster: Any,
    index: Callable[..., BrightnessEncoder],
    load: Any,
    error: type[Nt2vrError],
    value: str,
) -> None:
    with pytest.raises(error, match=value) as raised:
        index(cluster, load)
    assert "\n" not in str(raised.value)
