"""Libraries in Milvus: with a server that is not there, one that is killed, and the embedded one."""

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PIL import Image

from nt2vr.library.libraries import Libraries
from nt2vr.library.update import Updated, update_library
from nt2vr.media.decode import Decoder
from nt2vr.media.store import Cache
from nt2vr.search.embed_clips import open_gallery
from nt2vr.search.embedded_gallery import EmbeddedGallery
from nt2vr.search.index import ExactIndex, Index, Milvus, MilvusIndex, milvus_index
from nt2vr.search.index import milvus as milvus_module
from tests.support.colour_model import ColourModel
from tests.support.milvus_server import PLACES, Server, in_milvus
from tests.unit.search.test_index import DIM, Contract, Fill, Ids, Vectors, clustered

COLOURS = {"red.png": (255, 0, 0), "blue.png": (0, 0, 255), "green.png": (0, 255, 0)}
RED = ColourModel().encode_text(["red"])[0]


@pytest.fixture
def addresses(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Replace the client by one whose server is not there; return the addresses that were asked for."""
    addresses: list[str] = []

    def connect(address: str, **_: Any) -> None:
        addresses.append(address)
        raise OSError("connection refused")

    monkeypatch.setitem(sys.modules, "pymilvus", SimpleNamespace(MilvusClient=connect))
    return addresses


def test_where_no_server_answers_searches_are_exact_and_say_so(
    addresses: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    vectors = np.eye(4, dtype=np.float32)
    index = in_milvus(Milvus("http://db:19530"), np.arange(4), vectors)
    for _ in range(3):
        assert index.search(vectors[2:3], 1)[1].tolist() == [[2]]
    assert (
        index.notice == "The vector database does not answer. Every clip was compared here instead."
    )
    # It is not asked once per search.
    assert addresses == ["http://db:19530"]
    message = "Milvus at http://db:19530 does not answer (connection refused)."
    assert caplog.messages == [f"{message} Searches compare every clip here instead."]
    with pytest.raises(ConnectionError, match="http://db:19530"):
        index.add(np.arange(4), vectors)


class Room:
    """A library of three pictures, and what updates and opens it."""

    def __init__(self, folder: Path, decoder: Decoder, cache: Cache, milvus: Milvus) -> None:
        self.videos = folder / "videos"
        self.milvus = milvus
        self._decoder = decoder
        self._cache = cache
        self.videos.mkdir()
        for name, colour in COLOURS.items():
            Image.new("RGB", (32, 32), colour).save(self.videos / name)
        self.libraries = Libraries(folder / "data" / "libraries", milvus)

    def update(self, name: str) -> Updated:
        tools = ColourModel(), self._decoder, self._cache
        return update_library(self.libraries, name, *tools, previews=False, milvus=self.milvus)

    def opened(self, name: str) -> EmbeddedGallery:
        gallery = self.libraries.gallery(name)
        return open_gallery(gallery, ColourModel(), self._cache, self.milvus)

    def found(self, name: str) -> list[str]:
        opened = self.opened(name)
        return [opened.gallery.videos[row].video_id for row in opened.search(RED, 10)[1]]

    @property
    def num_rows(self) -> int:
        """Rows of all collections that the tests of this place have not made otherwise."""
        collections = (
            name for name in self.milvus.request("list_collections") if name.endswith("_mean")
        )
        return sum(
            len(self.milvus.pages(collection, filter="", output_fields=["id"]))
            for collection in collections
        )


def test_an_update_without_a_server_embeds_and_has_a_notice(
    tmp_path: Path, decoder: Decoder, addresses: list[str]
) -> None:
    with Cache.of(tmp_path / "data") as cache:
        room = Room(tmp_path, decoder, cache, Milvus("http://db:19530"))
        room.libraries.add("one", "folder", room.videos)
        updated = room.update("one")
        assert updated.num_embedded == 3
        assert updated.notice.startswith(
            "The vector database does not answer, so it is not up to date."
        )
        assert room.found("one")[0] == "red.png"
        assert isinstance(room.opened("one").index, ExactIndex)
        assert room.opened("one").notice.endswith("Update the library.")
        # This needs no server.
        room.libraries.remove("one")


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES)
def test_a_library_is_indexed_searched_changed_and_removed(
    place: str, tmp_path: Path, decoder: Decoder, request: pytest.FixtureRequest
) -> None:
    with Cache.of(tmp_path / "data") as cache:
        room = Room(tmp_path, decoder, cache, Milvus(request.getfixturevalue(place)))
        # Both have the same files, in one collection.
        for name in ("one", "other"):
            room.libraries.add(name, "folder", room.videos)
            assert room.update(name).notice == ""
        opened = room.opened("one")
        assert isinstance(opened.index, MilvusIndex)
        assert opened.index.recall == 1
        assert opened.notice == ""
        assert sorted(room.found("one")) == sorted(COLOURS)
        assert room.found("one")[0] == "red.png"
        assert room.num_rows == 6
        # As a new process finds them in a file.
        for name in room.milvus.request("list_collections"):
            room.milvus.request("release_collection", name)
        opened = room.opened("one")
        assert len(opened.search(RED, 10)[1]) == 3
        assert opened.notice == ""
        (room.videos / "blue.png").unlink()
        Image.new("RGB", (32, 32), (250, 0, 0)).save(room.videos / "another.png")
        room.update("one")
        assert sorted(room.found("one")) == ["another.png", "green.png", "red.png"]
        assert room.num_rows == 6
        room.update("one")
        # Nothing is doubled.
        assert room.num_rows == 6
        room.libraries.remove("one")
        assert room.num_rows == 3
        assert len(room.opened("other").index) == 3


@pytest.fixture(scope="module", params=PLACES)
def fill(request: pytest.FixtureRequest) -> Fill:
    milvus = Milvus(request.getfixturevalue(request.param))

    def fill(ids: Ids, vectors: Vectors) -> Index:
        index = in_milvus(milvus, ids, vectors)
        index.add(ids, vectors)
        if len(ids):
            index.measure(clustered(100, seed=7) if vectors.shape[1] == DIM else vectors)
        return index

    return fill


@pytest.mark.slow
class TestContract(Contract):
    pass


def many(count: int = 20_000) -> tuple[Ids, Vectors]:
    vectors = np.random.default_rng(0).standard_normal((count, 64)).astype(np.float32)
    return np.arange(count, dtype=np.int64) * 10**12, vectors / np.linalg.norm(
        vectors, axis=1, keepdims=True
    )


@pytest.mark.slow
def test_a_server_that_is_killed_costs_no_clip(
    milvus_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(milvus_module, "SILENT_S", 0.0)
    monkeypatch.setattr(milvus_index, "WRITE_TIMEOUT_S", 150.0)
    monkeypatch.setattr(milvus_index, "BATCH_BYTES", 64 * 4 * 500)
    ids, vectors = many()
    milvus = Milvus(milvus_server.address)
    index = in_milvus(milvus, ids, vectors, "served")
    index.add(ids[:8000], vectors[:8000])
    upsert = milvus.request
    upserts = 0

    def killing(action: str, *arguments: Any, **options: Any) -> Any:
        nonlocal upserts
        upserts += action == "upsert"
        if upserts == 5:
            milvus_server.kill()
            upserts += 1
        return upsert(action, *arguments, **options)

    monkeypatch.setattr(milvus, "request", killing)
    with pytest.raises(ConnectionError):
        index.add(ids[8000:], vectors[8000:])
    assert index.search(vectors[::500], 1)[1][:, 0].tolist() == ids[::500].tolist()
    assert index.notice
    milvus_server.start()
    missing = ~np.isin(ids, index.ids())
    assert 0 < missing.sum() <= 12_000
    assert not missing[:8000].any()
    index.add(ids[missing], vectors[missing])
    assert sorted(index.ids().tolist()) == ids.tolist()
    assert index.search(vectors[::500], 1)[1][:, 0].tolist() == ids[::500].tolist()
    assert not index.notice
    # Between two searches or in one: the client sees no difference.
    milvus_server.kill()
    assert index.search(vectors[::500], 1)[1][:, 0].tolist() == ids[::500].tolist()
    assert index.notice
