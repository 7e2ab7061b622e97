"""`open_searcher` with models that are objects: one query and many, vectors, scores, and arguments of wrong types."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import nt2vr
from nt2vr.errors import ConfigError, NotIndexedError, Nt2vrError, QueryError
from nt2vr.library.libraries import Libraries
from nt2vr.library.update import update_library
from nt2vr.media.decode import Decoder
from nt2vr.media.store import Cache
from nt2vr.search.answers import Answer
from nt2vr.search.strategies import STRATEGIES, EmbeddedParts
from tests.support.colour_model import ColourModel

RED = "<i>red.png"
BLUE = "blue.png"
GREEN = "green.png"
YELLOW = "yellow.png"


@pytest.fixture(scope="module")
def searcher(colours: Path) -> Iterator[nt2vr.GallerySearcher]:
    with nt2vr.open_searcher(colours, library="Colours") as opened:
        yield opened


def ids(answer: Any, system: int = 0) -> list[str]:
    assert isinstance(answer, Answer), answer
    return [hit.video_id for hit in answer.rankings[system].hits]


def test_a_model_that_is_an_object_searches_with_every_strategy(
    searcher: nt2vr.GallerySearcher,
) -> None:
    answer = searcher.search("red and not green", [ColourModel(), "Colours boolean α 1"], k=4)
    assert [ranking.system.name for ranking in answer.rankings] == [
        "Colours",
        "Colours boolean α 1",
    ]
    # The sentence names both colours.
    assert ids(answer)[0] == YELLOW
    # The tie stands in the order of the gallery.
    assert ids(answer, 1) == [RED, BLUE, YELLOW, GREEN]
    assert "Colours drop" in searcher.system_names


def test_a_model_that_replaces_another_of_its_name_answers(searcher: nt2vr.GallerySearcher) -> None:
    scores = [
        searcher.scores("red", ColourModel("Colours", gain=gain))["Colours"][0].tolist()
        for gain in (1.0, 0.0)
    ]
    assert scores[0].index(max(scores[0])) == searcher.video_ids.index(RED)
    # Only the constant is left.
    assert scores[1] == pytest.approx([scores[1][0]] * 3 + [scores[1][3]])
    with pytest.raises(ConfigError, match="CLIP"):
        searcher.search("red", ColourModel("CLIP"))


def test_several_queries_are_answered_as_single_ones_are(searcher: nt2vr.GallerySearcher) -> None:
    model = ColourModel()
    queries: list[Any] = [
        "red",
        "",
        nt2vr.Query("green", ("green",)),
        5,
        "x" * 5000,
        "blue and not red",
    ]
    answers = searcher.search(queries, [model, "Colours boolean"], k=2)
    assert [isinstance(answer, Answer) for answer in answers] == [
        True,
        False,
        True,
        False,
        False,
        True,
    ]
    assert all(isinstance(answers[place], QueryError) for place in (1, 3, 4))
    assert "not 5" in str(answers[3])
    assert "5,000 characters" in str(answers[4])
    for query, answer in zip(queries, answers, strict=True):
        if isinstance(answer, Answer):
            assert answer == searcher.search(query, [model, "Colours boolean"], k=2)
    assert searcher.search([], model) == []


def test_by_default_the_gallery_s_model_excludes_what_is_denied(
    searcher: nt2vr.GallerySearcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    searcher.search("red", ColourModel())
    galleries = searcher._services.galleries
    monkeypatch.setattr(type(galleries), "default_model", lambda self, key: "Colours")
    one = searcher.search("red and not green", k=4)
    many = searcher.search(["red", "red and not green", ""], k=4)
    names = [answer.rankings[0].system.name for answer in (one, *many[:2])]
    assert names == ["Colours rectified", "Colours", "Colours rectified"]
    assert ids(one)[0] == RED
    assert isinstance(many[2], QueryError)
    with pytest.raises(QueryError):
        searcher.search("")


@pytest.mark.parametrize("form", ["numpy", "torch"])
def test_a_query_vector_is_searched_as_it_is(searcher: nt2vr.GallerySearcher, form: Any) -> None:
    model = nt2vr.Model(ColourModel())
    red: Any = model.encode_text("red", form)
    vectors = model.encode_text(["red", "blue"], form)
    assert type(red).__name__ == ("Tensor" if form == "torch" else "ndarray")
    assert red.shape == (4,)
    answer = searcher.search(red, model, k=None)
    assert ids(answer) == ids(searcher.search("red", model, k=None))
    assert len(ids(answer)) == 4
    assert [hit.verdict for hit in answer.rankings[0].hits] == [None] * 4
    assert [ids(answer)[0] for answer in searcher.search(vectors, model)] == [RED, BLUE]
    assert searcher.explain(answer, RED)[0].parts == ()
    with pytest.raises(ConfigError, match="Colours drop"):
        searcher.search(red, "Colours drop")
    for wrong in (
        np.ones(3, np.float32),
        np.full(4, np.nan, np.float32),
        np.array(["a"] * 4),
        np.ones((1, 1, 4)),
    ):
        assert isinstance(searcher.search([wrong], model)[0], QueryError)


def test_scores_are_a_matrix_per_system(searcher: nt2vr.GallerySearcher) -> None:
    model = ColourModel()
    scores = searcher.scores(
        ["red", "blue and not red", "not red"], [model, "Colours boolean α 0.5", "Colours drop"]
    )
    assert {name: matrix.shape for name, matrix in scores.items()} == dict.fromkeys(scores, (3, 4))
    clips = {RED: (1, 0, 0), BLUE: (0, 0, 1), GREEN: (0, 1, 0), YELLOW: (1, 1, 0)}
    unit = {
        name: np.array([*rgb, 0.1]) / np.linalg.norm([*rgb, 0.1]) for name, rgb in clips.items()
    }
    assert searcher.video_ids == [RED, BLUE, GREEN, YELLOW]
    by_hand = [float(unit[name] @ (unit[BLUE] - 0.5 * unit[RED])) for name in searcher.video_ids]
    assert scores["Colours boolean α 0.5"][1].tolist() == pytest.approx(by_hand, abs=1e-5)
    assert scores["Colours"][0].tolist() == pytest.approx(
        [float(unit[n] @ unit[RED]) for n in clips], abs=1e-5
    )
    assert np.isnan(scores["Colours drop"]).tolist() == [[False] * 4, [False] * 4, [True] * 4]
    with pytest.warns(UserWarning, match=r" 1 query.* row 1"):
        scores_of_colours = searcher.scores(["red", ""], model)["Colours"]
    assert np.isnan(scores_of_colours).tolist() == [[False] * 4, [True] * 4]


def test_a_searcher_keeps_its_clips_while_the_library_grows(tmp_path: Path) -> None:
    models = (ColourModel("One", "one"), ColourModel("Two", "two"))
    videos = tmp_path / "videos"
    videos.mkdir()
    Image.new("RGB", (32, 32), (0, 255, 0)).save(videos / "green.png")
    libraries = Libraries(tmp_path / "data" / "libraries")
    library = libraries.add("Growing", "folder", videos).id

    def update() -> None:
        with Decoder(num_workers=1) as decoder, Cache.of(tmp_path / "data") as cache:
            for model in models:
                update_library(libraries, library, model, decoder, cache, previews=False)

    update()
    with nt2vr.open_searcher(tmp_path / "data", library="Growing") as searcher:
        assert ids(searcher.search("red", models[0])) == ["green.png"]
        Image.new("RGB", (32, 32), (255, 0, 0)).save(videos / "red.png")
        update()
        assert searcher.scores("red", models)["Two"].shape == (1, 1)
        # One model has been used before, the other not.
        answer = searcher.search("red", models)
        assert [ids(answer, column) for column in (0, 1)] == [["green.png"]] * 2
    with nt2vr.open_searcher(tmp_path / "data", library="Growing") as searcher:
        assert ids(searcher.search("red", models[1])) == ["red.png", "green.png"]


def test_a_registered_strategy_searches_and_its_mistakes_are_explained(
    searcher: nt2vr.GallerySearcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The test undoes this at its end.
    monkeypatch.setitem(STRATEGIES, "opposite", lambda parts: parts.wanted)

    def opposite(parts: EmbeddedParts) -> Any:
        return parts.unwanted[0] if len(parts.unwanted) else parts.wanted

    nt2vr.register_strategy("opposite", opposite)
    searcher.search("red", ColourModel())
    assert ids(searcher.search("red and not blue", "Colours opposite"))[0] == BLUE
    assert "Colours opposite" in searcher.system_names
    # As in a notebook's cell that is run again.
    nt2vr.register_strategy("opposite", lambda parts: parts.wanted)
    assert ids(searcher.search("red and not blue", "Colours opposite"))[0] == RED
    mistakes: dict[str, Any] = {
        "opposite .*division by zero": lambda parts: 1 / 0,
        "opposite .*a vector": lambda parts: "a vector",
        "opposite .* 4 ": lambda parts: parts.wanted[:2],
        "opposite .*nan": lambda parts: parts.wanted * np.nan,
    }
    for named_values, function in mistakes.items():
        nt2vr.register_strategy("opposite", function)
        with pytest.raises(ConfigError, match=named_values):
            searcher.search("red", "Colours opposite")
    wrong: list[tuple[Any, Any]] = [
        ("plain", opposite),
        ("Two Words", opposite),
        ("", opposite),
        ("mine", "x"),
    ]
    for name, function in wrong:
        with pytest.raises(ConfigError):
            nt2vr.register_strategy(name, function)


@pytest.mark.parametrize(
    "change",
    [
        *({"query": query} for query in (5, b"red", {"a": 1})),
        *({"systems": systems} for systems in (5, None, [None])),
        *({"image": image} for image in (5, "nowhere.png", np.zeros((2, 2)))),
        *({"k": 0}, {"alpha": float("nan")}, {"literal": "red"}),
    ],
)
def test_a_wrong_argument_is_one_sentence(
    searcher: nt2vr.GallerySearcher, change: dict[str, Any]
) -> None:
    arguments: dict[str, Any] = {"query": "red", "systems": ColourModel(), **change}
    with pytest.raises(Nt2vrError) as caught:
        searcher.search(**arguments)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500


def test_names_that_are_not_there_are_one_sentence() -> None:
    with pytest.raises(Nt2vrError, match="nope"):
        nt2vr.open_searcher(device="nope")
    with pytest.raises(Nt2vrError, match=r"\(N, 8, 8, 3\)"):
        nt2vr.Model(ColourModel()).encode_frames(np.zeros((1, 8, 8)))  # type: ignore[arg-type]


class Unhashable(ColourModel):
    __hash__ = None  # type: ignore[assignment]  # as of an ordinary dataclass


def test_an_unhashable_model_is_not_indexed_yet(
    searcher: nt2vr.GallerySearcher,
) -> None:
    assert len(ids(searcher.search("red", Unhashable()))) == 4
    with pytest.raises(NotIndexedError, match=r"Colours .*New.* 4 "):
        searcher.search("red", Unhashable("New", "colours-2"))


class Lacking(ColourModel):
    pool = None  # type: ignore[assignment]


class Long(ColourModel):
    def encode_text(self, texts: Any) -> Any:
        return 2 * super().encode_text(texts)


class Double(ColourModel):
    def encode_text(self, texts: Any) -> Any:
        return super().encode_text(texts).astype(np.float64)


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (ColourModel("Colours", ""), "visual_fingerprint .*ColourModel"),
        (Long(), "length 1"),
        (Double(), r"float32 \(1, 4\)"),
        (Lacking(), "pool"),
        (ColourModel("Colours drop"), "Colours drop"),
    ],
)
def test_a_model_that_is_none_is_refused_before_it_searches(
    searcher: nt2vr.GallerySearcher, model: Any, sentence: str
) -> None:
    with pytest.raises(ConfigError, match=sentence):
        searcher.search("red", model)
