"""Galleries: every library has a searcher of its own, all share the loaded models, and none is indexed in silence."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from nt2vr.errors import ConfigError, NotIndexedError
from nt2vr.library.galleries import Galleries
from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import Gallery, Video
from nt2vr.media.store import Cache
from nt2vr.models.catalog import Catalog
from nt2vr.negation.parse.query import Query
from nt2vr.search.embed_clips import embed_gallery
from tests.support.tiny_models import write_tiny

Index = Callable[[Gallery], object]
QUERY = Query("a man sings", ("a man sings",))


@dataclass(frozen=True)
class Info:
    id: str
    name: str
    version: int = 0
    num_clips: int = 3


class FakeLibraries:
    """Libraries in memory."""

    def __init__(self) -> None:
        self.libraries: dict[str, tuple[Info, Gallery]] = {}

    def put(self, info: Info, *videos: Video) -> None:
        self.libraries[info.id] = info, Gallery(info.name, videos, f"library-{info.id}")

    def infos(self) -> list[Info]:
        return [info for info, _ in self.libraries.values()]

    def find(self, name: str) -> Info:
        for info in self.infos():
            if name in (info.id, info.name):
                return info
        raise ConfigError(f"There is no library {name!r}.")

    def gallery(self, library_id: str) -> Gallery:
        return self.libraries[library_id][1]

    def stamp(self, library_id: str) -> tuple[object, ...]:
        return (self.libraries.get(library_id),)


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[Cache]:
    with Cache.of(tmp_path) as cache:
        yield cache


@pytest.fixture
def libraries() -> FakeLibraries:
    return FakeLibraries()


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    """Two models with one visual tower, and another model."""
    folder = tmp_path_factory.mktemp("models")
    for name, seed in (("first", 0), ("second", 0), ("other", 1)):
        write_tiny(folder / name, name, seed)
    return Catalog([folder])


@pytest.fixture
def videos(write_video: Callable[..., Path]) -> list[Video]:
    return [
        Video(name, write_video(f"{name}.avi", [level] * 4), (f"a {name}",))
        for name, level in (("dark", 10), ("grey", 120), ("light", 240))
    ]


@pytest.fixture
def galleries(
    models: Catalog, videos: list[Video], decoder: Decoder, cache: Cache, libraries: FakeLibraries
) -> Galleries:
    built_in = Gallery("built-in", tuple(videos[:1]), "built-in")
    return Galleries(models, built_in, decoder, cache, lambda *_: None, {}, libraries)  # type: ignore[arg-type]


@pytest.fixture
def holiday(libraries: FakeLibraries, videos: list[Video]) -> Gallery:
    """A library of all three clips."""
    libraries.put(Info("1", "Holiday"), *videos)
    return libraries.gallery("1")


@pytest.fixture
def index(galleries: Galleries, decoder: Decoder, cache: Cache) -> Index:
    return lambda gallery: embed_gallery(gallery, galleries.live.encoder("first"), decoder, cache)


def found_clips(galleries: Galleries, name: str, *models: str) -> list[str]:
    answer = galleries.searcher(name).search(QUERY, models or ("first",), 9)
    return sorted(hit.video_id for hit in answer.rankings[0].hits)


def test_a_library_is_found_by_name_and_by_id(
    galleries: Galleries, libraries: FakeLibraries
) -> None:
    libraries.put(Info("1", "Holiday"))
    assert galleries.searcher("Holiday") is galleries.searcher("1") is not galleries.built_in
    assert galleries.searcher("") is galleries.searcher("built-in") is galleries.built_in
    assert (galleries.key("Holiday"), galleries.key("built-in")) == ("1", "")
    with pytest.raises(ConfigError, match="'gone'"):
        galleries.searcher("gone")


def test_a_search_never_indexes_but_names_the_cost(
    galleries: Galleries, holiday: Gallery, index: Index
) -> None:
    for models, missing in (
        (("first",), ("first",)),
        (("first", "second", "other"), ("first", "other")),
    ):
        with pytest.raises(
            NotIndexedError, match=r"Holiday.*first.* 3 clips, about \d+ s"
        ) as refused:
            found_clips(galleries, "1", *models)
        # Models that see alike need one index.
        assert refused.value.models == missing
    index(holiday)
    assert found_clips(galleries, "1") == ["dark", "grey", "light"]


def test_clips_not_indexed_are_counted_until_they_are(
    galleries: Galleries, holiday: Gallery, index: Index
) -> None:
    index(Gallery("part", holiday.videos[:2], holiday.key))
    (ranking,) = galleries.searcher("1").search(QUERY, ["first"], 9).rankings
    assert (len(ranking.hits), ranking.missing) == (2, 1)
    (ranking,) = galleries.built_in.search(QUERY, ["first"], 9).rankings
    assert ranking.missing == 0
    index(holiday)
    galleries.forget("1")
    assert found_clips(galleries, "1") == ["dark", "grey", "light"]


def test_all_galleries_share_one_encoder(
    galleries: Galleries, holiday: Gallery, index: Index
) -> None:
    """A large model must not be in memory once per gallery."""
    index(holiday)
    found_clips(galleries, "1")
    found_clips(galleries, "")
    in_library, built_in = (
        galleries.searcher(name).live.get("first").encoder for name in ("1", "")
    )
    assert in_library is built_in is galleries.live.encoder("first")


def test_a_library_that_has_changed_is_opened_again(
    galleries: Galleries, libraries: FakeLibraries, holiday: Gallery, index: Index
) -> None:
    index(holiday)
    assert found_clips(galleries, "1") == ["dark", "grey", "light"]
    libraries.put(Info("1", "Holiday", version=1), *holiday.videos[1:])
    assert found_clips(galleries, "1") == ["grey", "light"]


def test_verdicts_in_libraries_are_by_captions_and_labelled_so(
    galleries: Galleries, holiday: Gallery, index: Index
) -> None:
    index(holiday)
    searcher = galleries.searcher("1")
    answer = searcher.search(Query("no light", (), ("a light",)), ["first"], 9)
    verdicts = {hit.video_id: hit.verdict for hit in answer.rankings[0].hits}
    assert verdicts == {"dark": None, "grey": None, "light": "violation"}
    assert answer.as_dict()["judged_by"] == "captions"
    assert "judged_by" not in searcher.search(QUERY, ["first"], 9).as_dict()


def test_a_run_that_indexed_a_library_becomes_its_default_model(
    tmp_path: Path,
    videos: list[Video],
    decoder: Decoder,
    cache: Cache,
    libraries: FakeLibraries,
    holiday: Gallery,
) -> None:
    write_tiny(tmp_path / "models" / "whole", "whole", seed=0)
    write_tiny(tmp_path / "runs" / "a-run" / "checkpoints" / "epoch_001", "whole", seed=1)
    models = Catalog([tmp_path / "models"], runs=tmp_path / "runs")
    built_in = Gallery("built-in", tuple(videos[:1]), "built-in")
    galleries = Galleries(models, built_in, decoder, cache, lambda *_: None, {}, libraries)  # type: ignore[arg-type]
    assert galleries.default_model("1") == "whole"

    embed_gallery(holiday, models.load("a-run"), decoder, cache)
    assert galleries.default_model("1") == "a-run"
    assert galleries.answering("1", QUERY) == ["a-run"]
    assert galleries.default_systems("1")[0] == "a-run"
    assert galleries.default_model("") == "whole"

    embed_gallery(holiday, models.load("whole"), decoder, cache)
    assert galleries.default_model("1") == "whole"


def test_an_added_model_does_not_replace_a_librarys_indexed_one(
    tmp_path: Path,
    videos: list[Video],
    decoder: Decoder,
    cache: Cache,
    libraries: FakeLibraries,
    holiday: Gallery,
) -> None:
    write_tiny(tmp_path / "models" / "z-first", "first", seed=0)
    models = Catalog([tmp_path / "models"])
    built_in = Gallery("built-in", tuple(videos[:1]), "built-in")
    galleries = Galleries(models, built_in, decoder, cache, lambda *_: None, {}, libraries)  # type: ignore[arg-type]
    embed_gallery(holiday, models.load("first"), decoder, cache)
    write_tiny(tmp_path / "models" / "a-second", "second", seed=1)
    assert models.real_models() == ["second", "first"]
    assert galleries.default_model("1") == "first"
