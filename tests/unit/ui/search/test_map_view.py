"""The map of a gallery, by hand: clips on a cross, and which of them are drawn how."""

from pathlib import Path
from typing import Any

import gradio as gr
import numpy as np
import pytest

from nt2vr.errors import ConfigError
from nt2vr.media.gallery import Gallery, Video
from nt2vr.negation.parse.query import Query
from nt2vr.search.answers import Answer, Hit, Ranking
from nt2vr.search.embedded import EmbeddedGallery
from nt2vr.search.index import ExactIndex
from nt2vr.search.systems import System
from nt2vr.ui.search.column_view import Marked
from nt2vr.ui.search.map_panel import MapPanel
from nt2vr.ui.search.map_view import BAD, GOOD, MOST_DOTS, NOTHING, OTHER, map_view

KINDS = {"v0": GOOD, "v1": BAD}


def gallery_of(rows: Any) -> EmbeddedGallery:
    clips = np.array(rows, np.float32)
    videos = tuple(Video(f"v{n}", Path(f"{n}.webm"), (f"caption {n}",) if n else ()) for n in range(len(clips)))
    return EmbeddedGallery(
        Gallery("g", videos), clips, ExactIndex(clips.shape[1]), (), clips[:, None], np.arange(len(clips))
    )


CROSS = gallery_of([[0.4, 0, 1], [-0.4, 0, 1], [0, 0.2, 1], [0, -0.2, 1]])


def ranking(vector: Any, *hits: str, gallery: EmbeddedGallery = CROSS) -> Ranking:
    found = tuple(Hit(name, rank, 0.5, "miss") for rank, name in enumerate(hits, 1))
    return Ranking(System("CLIP"), found, gallery=gallery, vector=None if vector is None else np.array(vector, "f4"))


def view(*rankings: Ranking, column: int = 0, mean_text: Any = (0, 0, 0)) -> dict[str, Any]:
    return map_view(
        Answer(Query("a dog"), rankings),
        column,
        lambda video: KINDS.get(video.video_id, OTHER),
        lambda video: {"src": f"clips/{video.path}", "poster": ""},
        lambda: np.array(mean_text, np.float32),
    )


def test_every_clip_is_a_dot_with_its_verdict_its_rank_and_what_names_it() -> None:
    dots = {dot["id"]: dot for dot in view(ranking([0, 0, 1], "v2", "v0"))["dots"]}
    assert {name: (dot["x"], dot["y"]) for name, dot in dots.items()} == {
        "v0": (0.4, 0),
        "v1": (-0.4, 0),
        "v2": (0, 0.2),
        "v3": (0, -0.2),
    }
    assert [dots[f"v{n}"]["kind"] for n in range(4)] == [GOOD, BAD, OTHER, OTHER]
    assert [dots[f"v{n}"]["rank"] for n in range(4)] == [2, 0, 1, 0]
    assert (dots["v0"]["name"], dots["v1"]["name"], dots["v1"]["src"]) == ("0.webm", "caption 1", "clips/1.webm")


def test_results_are_drawn_last_so_that_no_dot_hides_them() -> None:
    assert [dot["id"] for dot in view(ranking([0, 0, 1], "v2", "v3"))["dots"]] == ["v1", "v0", "v3", "v2"]


def test_the_note_says_how_much_two_axes_hold() -> None:
    found = view(ranking([0, 0, 1]))
    assert "hold 100 % of their variance" in found["note"] and "Texts" not in found["note"]
    assert found["query"] == [0, 0]


def test_a_query_across_the_gap_is_centred_and_the_note_says_so() -> None:
    found = view(ranking([1, 0, 0]), mean_text=(0.9, 0, 0))
    assert found["query"] == [0.1, 0]
    assert "Texts and clips lie apart" in found["note"]


def test_of_a_large_gallery_results_and_verdicts_are_drawn_and_a_sample_of_the_rest() -> None:
    rows = np.random.default_rng(0).standard_normal((3 * MOST_DOTS, 4))
    found = view(ranking([1, 0, 0, 0], "v5999", "v17", gallery=gallery_of(rows)))
    ids = [dot["id"] for dot in found["dots"]]
    assert len(ids) == len(set(ids)) == MOST_DOTS
    assert ids[-2:] == ["v17", "v5999"] and {"v0", "v1"} <= set(ids)
    assert "2,000 of 6,000 clips are drawn" in found["note"]


def test_one_of_several_systems_is_chosen() -> None:
    found = view(ranking([0, 0, 1]), ranking([0.1, 0, 1]), column=1)
    assert [each["on"] for each in found["systems"]] == ["false", "true"]
    assert found["query"][0] == pytest.approx(0.1, abs=1e-3)


def test_a_system_with_nothing_to_search_for_has_no_map() -> None:
    found = view(ranking(None))
    assert (found["dots"], found["query"], found["note"]) == ([], [], NOTHING)


class Galleries:
    """Judges clips by their number, as the drawn scenes would."""

    built_in = property(lambda self: self)

    def video(self, video_id: str) -> Video:
        return Video(video_id, Path("v.webm"))

    def judge(self, query: Query, video: Video) -> str | None:
        return {"v0": "right", "v1": "violation", "v2": "miss"}.get(video.video_id)


class Media:
    def urls(self, gallery: str, video: Video) -> dict[str, str]:
        return {"src": video.path.name, "poster": ""}


def drawn(answer: Answer | None, data: Any, *relevant: str) -> dict[str, Any]:
    galleries: Any = Galleries()
    panel = MapPanel(galleries, Media())  # type: ignore[arg-type]
    return panel.on_draw(answer, Marked(frozenset(relevant)), gr.EventData(None, data))


def kinds(found: dict[str, Any]) -> dict[str, str]:
    return {dot["id"]: dot["kind"] for dot in found["dots"]}


def test_the_drawn_scenes_decide_which_clips_are_right() -> None:
    answer = Answer(Query("a dog"), (ranking([0, 0, 1], "v2"),))
    assert kinds(drawn(answer, {"column": 0})) == {
        "v0": GOOD,
        "v1": BAD,
        "v2": OTHER,
        "v3": OTHER,
    }


def test_a_query_of_an_evaluation_has_its_own_relevant_clips() -> None:
    answer = Answer(Query("a dog"), (ranking([0, 0, 1], "v2"),))
    found = kinds(drawn(answer, {"column": 0}, "v3"))
    assert found == {"v0": OTHER, "v1": OTHER, "v2": OTHER, "v3": GOOD}


def test_in_a_library_only_results_have_verdicts() -> None:
    hits = (Hit("v1", 1, 0.5, "right"), Hit("v2", 2, 0.4, None))
    answer = Answer(Query("a dog"), (Ranking(System("CLIP"), hits, gallery=CROSS, vector=np.array([0, 0, 1], "f4")),))
    answer = Answer(answer.query, answer.rankings, "captions", "films")
    assert kinds(drawn(answer, {"column": 0})) == {"v0": "", "v1": GOOD, "v2": "", "v3": ""}


def test_where_scenes_do_not_explain_the_verdicts_only_results_have_one() -> None:
    """Next to a reference picture, a clip that the text alone calls right may be wrong."""
    hits = (Hit("v0", 1, 0.5, "miss"), Hit("v2", 2, 0.4, "miss"))
    answer = Answer(Query("a dog"), (Ranking(System("CLIP"), hits, gallery=CROSS, vector=np.array([0, 0, 1], "f4")),))
    assert set(kinds(drawn(answer, {"column": 0})).values()) == {OTHER}


@pytest.mark.parametrize("column", [-1, 7, 10**30])
def test_a_column_that_is_not_there_is_the_first(column: int) -> None:
    answer = Answer(Query("a dog"), (ranking([0, 0, 1]),))
    assert drawn(answer, {"column": column})["column"] == 0


@pytest.mark.parametrize("data", [None, [], {}, {"column": "0"}, {"column": True}, {"column": 0.5}])
def test_an_event_without_a_column_is_refused_in_a_sentence(data: Any) -> None:
    with pytest.raises(ConfigError, match="its event has no column"):
        drawn(None, data)


def test_before_the_first_search_there_is_no_map() -> None:
    assert drawn(None, {"column": 0})["note"] == "Search first."
