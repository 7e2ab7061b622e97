"""Search, with an encoder whose embeddings are one-hot keywords: every score here can be worked out by hand.

Clips (all of their frames alike; `both` changes half-way):

    guitar  (man + guitar) / √2          duet  (man + guitar + sing) / √3
    singer  (woman + sing) / √2          dog   dog          both  dog, then woman
"""

import json
import re
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from nt2vr.errors import ConfigError, QueryError
from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import Gallery, Video
from nt2vr.media.preview import FPS, OPTIONS, write_webm
from nt2vr.media.store import Cache
from nt2vr.models.card import Card
from nt2vr.models.catalog import CatalogEntry
from nt2vr.models.encoder import FrameEncoder
from nt2vr.negation.parse.query import Query
from nt2vr.search.answers import Answer
from nt2vr.search.plan import MAX_K
from nt2vr.search.rank import LOW_SCORE
from nt2vr.search.references import Reference
from nt2vr.search.searcher import Searcher
from nt2vr.search.strategies import STRENGTHS, System, check_model_name
from nt2vr.world.scenes import Action, Figure, Scene
from nt2vr.world.verdicts import judge_video
from tests.support.mean_pooling import pool_by_mean

KEYWORDS = ("man", "woman", "guitar", "sing", "dog", "other")
# Grey level -> what is shown.
LEVELS = {
    0: "man guitar",
    50: "man guitar sing",
    100: "woman sing",
    150: "dog",
    200: "woman",
}
MODELS = ("CLIP", "ViT-B-32 / openai", "run 3")

NOT_SINGING = Query("a man with a guitar who does not sing", ("a man with a guitar",), ("sing",))
PLAYING = Query(
    "a man playing the guitar and not singing", ("a man playing the guitar",), ("singing",)
)
NO_DOG = Query("not a dog", (), ("a dog",))


def unit(vector: NDArray[np.float32]) -> NDArray[np.float32]:
    return (vector / np.linalg.norm(vector)).astype(np.float32)


def embed(text: str) -> NDArray[np.float32]:
    """Return the normalised sum of the one-hot keywords in a text; like CLIP, it is deaf to "not"."""
    has_word = [word in re.findall(r"[a-z]+", text) for word in KEYWORDS[:-1]]
    return unit(np.array([*has_word, not any(has_word)], np.float32))


class KeywordEncoder(FrameEncoder):
    """Sees in a frame of one grey what LEVELS says."""

    embed_dim = len(KEYWORDS)

    def __init__(self, visual_fingerprint: str = "keywords") -> None:
        self.card = Card(
            "keywords",
            frames=4,
            image_size=8,
            metrics={LOW_SCORE: 0.75},
            visual_fingerprint=visual_fingerprint,
        )
        self.num_batches = 0

    def encode_text(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.stack([embed(text) for text in texts])

    def encode_frames(self, frames: NDArray[np.uint8]) -> NDArray[np.float32]:
        assert frames.shape[1:] == (8, 8, 3)
        self.num_batches += 1
        return np.stack([embed(LEVELS[50 * round(frame.mean() / 50)]) for frame in frames])

    def pool(self, stored: NDArray[np.float32]) -> NDArray[np.float32]:
        return pool_by_mean(stored)

    def unseen_words(self, text: str) -> tuple[str, ...]:
        return tuple(word for word in text.split() if word == "quokka")


class KeywordModels:
    """Three names, the last with a visual tower of its own."""

    def __init__(self) -> None:
        shared = KeywordEncoder()
        self.encoders = {
            "CLIP": shared,
            "ViT-B-32 / openai": shared,
            "run 3": KeywordEncoder("other tower"),
        }

    def names(self) -> list[str]:
        return list(self.encoders)

    def entries(self) -> dict[str, CatalogEntry]:
        return {
            name: CatalogEntry((Path(f"/nowhere/{number}"),))
            for number, name in enumerate(self.encoders)
        }

    def find(self, name: str) -> CatalogEntry:
        return self.entries()[name]

    def read(self, folder: Path, verify: bool = True) -> KeywordEncoder:
        return list(self.encoders.values())[int(folder.name)]


@pytest.fixture(scope="module")
def gallery(tmp_path_factory: pytest.TempPathFactory) -> Gallery:
    """Return the five clips, after a file that cannot be decoded; two of them have scenes."""
    folder = tmp_path_factory.mktemp("gallery")
    clips = {
        "guitar": [0] * 4,
        "duet": [50] * 4,
        "singer": [100] * 4,
        "dog": [150] * 4,
        "both": [150, 150, 200, 200],
    }
    plays = Figure("man", "red", actions=(Action("play", "guitar", colour="blue"),))
    sings = Figure("woman", "red", actions=(Action("sing"),))
    scenes = {
        "guitar": Scene("park", False, (plays,)).to_dict(),
        "duet": Scene("stage", False, (plays, sings)).to_dict(),
    }
    (folder / "broken.webm").write_bytes(b"no video")
    videos = [Video("broken", folder / "broken.webm")]
    for name, levels in clips.items():
        path = folder / f"{name}.webm"
        write_webm(
            np.stack([np.full((32, 32, 3), level, np.uint8) for level in levels]),
            path,
            FPS,
            OPTIONS,
        )
        videos.append(Video(name, path, (), scenes.get(name)))
    return Gallery("tests", tuple(videos))


@pytest.fixture(scope="module")
def searcher(
    gallery: Gallery, decoder: Decoder, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Searcher]:
    """Return a searcher that reads "quokka", which its models do not know, as "guitar"."""
    with Cache(tmp_path_factory.mktemp("cache")) as cache:
        yield Searcher(KeywordModels(), gallery, decoder, cache, judge_video, {"quokka": "guitar"})  # type: ignore[arg-type]


def scores(answer: Answer, column: int = 0) -> dict[str, float]:
    return {hit.video_id: hit.score for hit in answer.rankings[column].hits}


def beside(picture: NDArray[np.uint8], weight: float = 0.5) -> list[Reference]:
    return [Reference((picture,), weight=weight)]


def grey(level: int) -> NDArray[np.uint8]:
    return np.full((30, 20, 3), level, np.uint8)


def test_plain_is_the_cosine_with_the_sentence_including_its_negation(searcher: Searcher) -> None:
    answer = searcher.search(NOT_SINGING, ["CLIP"], 5)
    assert scores(answer) == pytest.approx(
        {"duet": 1, "guitar": 2 / sqrt(6), "singer": 1 / sqrt(6), "dog": 0, "both": 0}, abs=1e-4
    )
    assert [(hit.video_id, hit.rank) for hit in answer.rankings[0].hits[:2]] == [
        ("duet", 1),
        ("guitar", 2),
    ]


@pytest.mark.parametrize("alpha", [0.0, 0.25, 0.5, 1.0, 2.0])
def test_boolean_is_wanted_minus_alpha_times_unwanted(searcher: Searcher, alpha: float) -> None:
    by_hand = {
        "guitar": 1,
        "duet": 2 / sqrt(6) - alpha / sqrt(3),
        "singer": -alpha / sqrt(2),
        "dog": 0,
        "both": 0,
    }
    by_slider = searcher.search(NOT_SINGING, ["CLIP boolean"], 5, strengths={"boolean": alpha})
    by_name = searcher.search(
        NOT_SINGING, [f"CLIP boolean α {alpha}"], 5, strengths={"boolean": 0.77}
    )
    assert scores(by_slider) == pytest.approx(by_hand, abs=1e-4)
    assert scores(by_name) == pytest.approx(by_hand, abs=1e-4)


def test_rectified_ranks_by_the_wanted_part_less_what_exceeds_tau(searcher: Searcher) -> None:
    answer = searcher.search(NOT_SINGING, ["CLIP rectified α 2"], 5)
    (ranking,) = answer.rankings
    wanted_scores = scores(searcher.search(NOT_SINGING, ["CLIP drop"], 5))
    unwanted_scores = scores(searcher.search("sing", ["CLIP"], 5))
    values = np.array(list(unwanted_scores.values()))
    tau = values.mean() + 0.5 * values.std()
    expected = {}
    for video_id, unwanted_score in unwanted_scores.items():
        expected[video_id] = wanted_scores[video_id] - 2 * max(0, unwanted_score - tau)
    assert scores(answer) == pytest.approx(expected, abs=3e-4)
    (seen,) = Answer(NOT_SINGING, (ranking,)).clip_scores("singer")
    assert (ranking.strength, seen.score) == (2, ranking.hits[-1].score)
    assert seen.rank == 5


def test_parts_take_away_what_a_text_removes_from_pictures(searcher: Searcher) -> None:
    query = searcher.understand("remove the guitar", editing=True)
    systems = ["CLIP parts", "CLIP fusion", "CLIP", "CLIP drop"]
    # A guitar and singing.
    duet = beside(grey(50))
    parts, fusion, plain, drop = searcher.search(query, systems, 5, duet).rankings
    assert parts.hits[0].video_id == fusion.hits[0].video_id == "singer"
    assert plain.hits[0].video_id != "singer"
    assert drop.hits[0].video_id == "duet"


def test_only_negated_each_strategy_does_what_it_can(searcher: Searcher) -> None:
    plain, boolean, projected, drop = searcher.search(
        NO_DOG, ["CLIP", "CLIP boolean", "CLIP anchored λ 1", "CLIP drop"], 5
    ).rankings
    assert plain.hits[0].video_id == "dog"
    assert {hit.video_id: hit.score for hit in boolean.hits} == pytest.approx(
        {"dog": -1, "both": -1 / sqrt(2), "guitar": 0, "duet": 0, "singer": 0}, abs=1e-4
    )
    assert boolean.hits[-1].video_id == "dog"
    assert [hit.score for hit in projected.hits] == pytest.approx([0] * 5, abs=1e-4)
    assert (drop.hits, drop.vector) == ((), None)
    assert drop.counts == {"right": 0, "violation": 0, "miss": 0}


@pytest.mark.parametrize(
    ("weight", "dog", "guitar"), [(0.0, 0, 1), (0.5, 1 / sqrt(2), 1 / sqrt(2)), (1.0, 1, 0)]
)
def test_a_picture_joins_by_its_weight(
    searcher: Searcher, weight: float, dog: float, guitar: float
) -> None:
    query = Query("a man with a guitar", ("a man with a guitar",))
    for system in ("CLIP", "CLIP boolean", "CLIP anchored λ 1", "CLIP drop"):
        system_scores = scores(searcher.search(query, [system], 5, beside(grey(150), weight)))
        assert (system_scores["dog"], system_scores["guitar"]) == pytest.approx(
            (dog, guitar), abs=1e-4
        )


@pytest.mark.parametrize("text", ["", "  \n"])
def test_a_picture_alone_is_enough_and_nothing_is_not(searcher: Searcher, text: str) -> None:
    for system in ("CLIP", "CLIP boolean", "CLIP anchored λ 1", "CLIP drop"):
        # The weight has nothing to weigh against.
        for weight in (0.0, 0.5, 1.0):
            assert scores(searcher.search(Query(text), [system], 5, beside(grey(150), weight)))[
                "dog"
            ] == pytest.approx(1, abs=1e-4)
    with pytest.raises(QueryError):
        searcher.search(Query(text), ["CLIP"], 5)


@pytest.mark.parametrize(("k", "num_hits"), [(1, 1), (3, 3), (MAX_K, 5)])
def test_k_hits_or_all_there_are(searcher: Searcher, k: int, num_hits: int) -> None:
    (ranking,) = searcher.search(NOT_SINGING, ["CLIP"], k).rankings
    assert [hit.rank for hit in ranking.hits] == list(range(1, num_hits + 1))
    assert [hit.score for hit in ranking.hits] == sorted(
        (hit.score for hit in ranking.hits), reverse=True
    )
    # Also of those that are not shown: for the movements.
    assert sorted(ranking.ranks.values()) == [
        1,
        2,
        3,
        4,
        5,
    ]
    assert all(ranking.ranks[hit.video_id] == hit.rank for hit in ranking.hits)


@pytest.mark.parametrize(
    "query",
    [
        Query("a\ud800", ("a\ud800",)),
        Query("a dog", ("a dog \udfff",)),
        Query("a dog", ("a dog",), ("\ud800",)),
        Query("a dog", ("a " * 50_000,)),
        Query("a dog", ("a dog",), ("cat",) * 20_000),
    ],
)
def test_an_edited_query_that_cannot_be_encoded_is_refused(
    searcher: Searcher, query: Query
) -> None:
    with pytest.raises(QueryError) as caught:
        searcher.search(query, ["CLIP"], 5)
    assert len(str(caught.value).encode()) < 200


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"k": 0}, " 0 .*1 to"),
        ({"k": 10**4000}, "1000.*…"),
        ({"k": MAX_K + 1}, f"1 to {MAX_K}"),
        ({"systems": []}, " 0 "),
        ({"systems": ["CLIP"] * 9}, " 9 "),
        (
            {"systems": ["CLAP"]},
            "CLAP.*CLIP, ViT-B-32 / openai, run 3",
        ),
        ({"strengths": {"boolean": -0.1}}, r"α .*-0\.1.* 0 to"),
        ({"strengths": {"boolean": float("nan")}}, "α .*nan"),
        ({"strengths": {"spherical": 1.01}}, r"t .*1\.01.* 0 to 1"),
        ({"strengths": {"drop": 1}}, "drop"),
        ({"systems": ["CLIP boolean α " + "9" * 80]}, f"0 to {STRENGTHS['boolean'].most}"),
        ({"systems": ["CLIP spherical t 2"]}, "t .*2.* 0 to 1"),
    ],
)
def test_an_invalid_value_is_one_sentence(
    searcher: Searcher, change: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        searcher.search(**{"query": NOT_SINGING, "systems": ["CLIP"], "k": 5, **change})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "system"),
    [
        ("  clip ", System("CLIP")),
        ("CLIP Boolean", System("CLIP", "boolean")),
        ("clip BOOLEAN alpha=0.25", System("CLIP", "boolean", 0.25)),
        ("CLIP boolean .5", System("CLIP", "boolean", 0.5)),
        ("CLIP\tboolean  α =  1.", System("CLIP", "boolean", 1.0)),
        ("CLIP anchored lambda 1.9", System("CLIP", "anchored", 1.9)),
        ("CLIP spherical t 0.95", System("CLIP", "spherical", 0.95)),
        ("ViT-B-32 / openai drop", System("ViT-B-32 / openai", "drop")),
        # Not the weight 3 of a model "run".
        ("run 3", System("run 3")),
        ("run · epoch 3 boolean α 1", System("run · epoch 3", "boolean", 1.0)),
    ],
)
def test_a_systems_name_is_parsed(name: str, system: System) -> None:
    assert System.named(name, (*MODELS, "run", "run · epoch 3")) == system


def test_a_link_s_systems_join_those_on_offer(searcher: Searcher) -> None:
    offered = searcher.system_names()
    also = [
        *(
            "CLIP anchored λ 1",
            "CLIP",
            "CLIP anchored λ 1.9",
            "GPT anchored",
            "CLIP spherical t 7",
            "",
        ),
        "CLIP anchored λ 1",
    ]
    assert searcher.system_names(also) == [*offered, "CLIP anchored λ 1", "CLIP anchored λ 1.9"]
    assert searcher.system_names(["x" * 50_000, *(f"CLIP boolean α {i}" for i in range(500))])[
        len(offered) :
    ] == [f"CLIP boolean α {i}" for i in (0, 2, 3, 4, 5, 6)]


@pytest.mark.parametrize(
    "name",
    [
        *("", "drop", "CLIP magic", "CLIP boolean α", "CLIP boolean α x", "CLIP boolean α 1e1"),
        *("CLIP boolean α nan", "CLIP boolean α -1", "CLIP boolean α ٣", "CLIP boolean λ 1"),
        *("CLIP spherical t 1.5", "CLIP drop α 0.5", "CLIP boolean \ud800"),
    ],
)
def test_an_invalid_systems_name_is_one_sentence(name: str) -> None:
    with pytest.raises(ConfigError) as caught:
        System.named(name, MODELS)
    # This fails for a lone surrogate.
    str(caught.value).encode()


def test_hits_carry_the_verdict_of_their_scene(searcher: Searcher) -> None:
    (ranking,) = searcher.search(PLAYING, ["CLIP drop"], 5).rankings
    verdicts = {hit.video_id: hit.verdict for hit in ranking.hits}
    assert verdicts == {
        "guitar": "right",
        "duet": "violation",
        "singer": None,
        "dog": None,
        "both": None,
    }
    assert ranking.counts == {"right": 1, "violation": 1, "miss": 0}


def test_the_answer_is_the_apis_dict(searcher: Searcher) -> None:
    answer = searcher.search(PLAYING, ["clip drop"], 2).as_dict()
    hits = [
        {"video_id": "guitar", "rank": 1, "score": 1.0, "verdict": "right"},
        {"video_id": "duet", "rank": 2, "score": 0.8165, "verdict": "violation"},
    ]
    parts = {"text": PLAYING.text, "wanted": ["a man playing the guitar"], "unwanted": ["singing"]}
    assert answer == {"query": parts, "systems": [{"name": "CLIP drop", "hits": hits}]}
    assert json.loads(json.dumps(answer, allow_nan=False)) == answer


@pytest.mark.parametrize(
    ("word", "moments"), [("dog", [0.125, 0.375, 0.625]), ("woman", [0.125, 0.625, 0.875])]
)
def test_a_clip_is_seen_by_every_system_with_moments(
    searcher: Searcher, word: str, moments: list[float]
) -> None:
    """`both` shows the dog in frames 1 and 2 of 4, the woman in 3 and 4; it is not among the k shown."""
    answer = searcher.search(Query(word, (word,)), ["CLIP", "CLIP boolean α 1"], 1)
    seen = answer.clip_scores("both")
    assert [seen_by.system.name for seen_by in seen] == ["CLIP", "CLIP boolean α 1"]
    for seen_by in seen:
        assert seen_by.rank is not None
        assert seen_by.rank <= 2
        assert seen_by.score == pytest.approx(1 / sqrt(2), abs=1e-4)
        assert list(seen_by.best_frames) == moments


QUOKKA = Query(
    "a man is playing a quokka, no singing", ("a man is playing a quokka",), ("singing",)
)


def test_search_follows_the_query_as_read_and_verdicts_as_typed(searcher: Searcher) -> None:
    answer = searcher.search(QUOKKA, ["CLIP boolean"], 5)
    (ranking,) = answer.rankings
    typed = Query(
        "a man is playing a guitar, no singing", ("a man is playing a guitar",), ("singing",)
    )
    as_typed = searcher.search(typed, ["CLIP boolean"], 5).rankings[0].hits
    assert [(hit.video_id, hit.score) for hit in ranking.hits] == [
        (hit.video_id, hit.score) for hit in as_typed
    ]
    verdicts = {hit.video_id: hit.verdict for hit in ranking.hits}
    verdicts_of_guitars = {hit.video_id: hit.verdict for hit in as_typed}
    assert verdicts_of_guitars["guitar"] == "right"
    assert verdicts["guitar"] == "miss"
    assert verdicts["duet"] == "violation"
    assert (answer.query, ranking.unseen) == (QUOKKA, ())
    data = answer.as_dict()
    assert data["query"]["read_as"] == data["systems"][0]["read_as"] == {"quokka": "guitar"}
    assert data["query"]["wanted"] == ["a man is playing a quokka"]


def test_concurrent_searches_embed_the_gallery_once_per_tower(
    gallery: Gallery, decoder: Decoder, tmp_path: Path
) -> None:
    searcher = Searcher(KeywordModels(), gallery, decoder, Cache(tmp_path))  # type: ignore[arg-type]
    together = threading.Barrier(6)

    def ask(system: str) -> Answer:
        together.wait()
        return searcher.search(NOT_SINGING, [system], 5)

    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(ask, (*MODELS, *MODELS)))
    assert len({answer.rankings[0].hits for answer in answers}) == 1
    first, second, third = (searcher.live.get(name).encoder for name in MODELS)
    assert (first.num_batches, third.num_batches) == (1, 1)  # type: ignore[attr-defined]
    assert searcher.embedded(first) is searcher.embedded(second) is not searcher.embedded(third)


@pytest.mark.parametrize(
    ("system", "text", "low"),
    [
        # The dog has 1.
        ("CLIP", "a dog", False),
        # No clip has both: the dog has .71.
        ("CLIP", "a dog with a guitar", True),
        ("CLIP drop", "a woman with a guitar", True),
        # Without a cosine it has no lowest good score.
        ("CLIP boolean", "a woman with a guitar", False),
    ],
)
def test_a_match_below_the_model_s_floor_is_low(
    searcher: Searcher, system: str, text: str, low: bool
) -> None:
    query = Query(text, (text,))
    assert searcher.search(query, [system], 5).rankings[0].low is low
    # A mixed query has other scores.
    assert not searcher.search(query, [system], 5, beside(grey(100))).rankings[0].low
    negated = Query(f"{text}, no quokka", (text,), ("quokka",))
    # Theirs do not tell whether a clip fits.
    assert not searcher.search(negated, [system], 5).rankings[0].low


@pytest.mark.parametrize("name", ["mine boolean", "mine drop α 0.5", "mine Spherical"])
def test_a_model_may_not_be_named_like_a_system(name: str) -> None:
    with pytest.raises(ConfigError, match="plain, boolean"):
        check_model_name(name)


def test_a_reference_clip_is_not_encoded_again_or_returned(
    searcher: Searcher,
) -> None:
    encoder = searcher.live.get("CLIP").encoder
    # This embeds the gallery.
    searcher.search(NO_DOG, ["CLIP"], 5)
    before = encoder.num_batches  # type: ignore[attr-defined]
    answer = searcher.search(
        Query(""), ["CLIP", "CLIP parts"], 5, references=[Reference(video_id="dog")]
    )
    assert encoder.num_batches == before  # type: ignore[attr-defined]
    for column in (0, 1):
        column_scores = scores(answer, column)
        assert "dog" not in column_scores
        assert max(column_scores, key=lambda name: column_scores[name]) == "both"


def test_less_like_a_clip_ranks_what_resembles_it_lower(searcher: Searcher) -> None:
    """The dog and the woman alternate in `both`: away from the dog, the singing woman comes before it."""
    query = Query("a dog and a woman", ("a dog and a woman",))
    plain = searcher.search(query, ["CLIP"], 5).rankings[0].ranks
    away = [Reference(video_id="dog", weight=1.0, wanted=False)]
    answer = searcher.search(query, ["CLIP", "CLIP drop"], 5, references=away)
    ranks, control = (ranking.ranks for ranking in answer.rankings)
    assert "dog" not in ranks
    assert scores(answer)["both"] < 1
    assert plain["both"] == 1
    assert control["both"] == 1
    assert scores(answer, 1)["both"] == pytest.approx(1, abs=1e-3)
    alone = searcher.search(Query(""), ["CLIP"], 5, references=away).rankings[0]
    # The order is by how little a clip is like the dog, and by nothing else.
    assert alone.ranks["both"] == len(alone.ranks)
