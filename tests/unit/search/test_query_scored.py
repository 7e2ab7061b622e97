"""Query-scored pooling: by the reference, in search exactly and in two stages, alike wherever a score is shown."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from nt2vr.evaluation.built_in import world_benchmark
from nt2vr.evaluation.queries import JudgedQuery, row_array
from nt2vr.evaluation.scoring import caption_ranks, measure_block, measure_choices
from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import Gallery, Video
from nt2vr.media.preview import FPS, OPTIONS, write_webm
from nt2vr.media.store import Cache
from nt2vr.models.card import QUERY_SCORED, read_card, write_card
from nt2vr.models.catalog import Catalog
from nt2vr.models.checkpoint import read_checkpoint
from nt2vr.search import embedded_gallery as embedded_module
from nt2vr.search.embedded_gallery import EmbeddedGallery
from nt2vr.search.exclusion import Exclusion, averaged, focused
from nt2vr.search.index import ExactIndex
from nt2vr.search.references import Reference
from nt2vr.search.searcher import Searcher
from nt2vr.search.strategies import System
from nt2vr.search.why import explain
from tests.support.paper_references import papers_reference
from tests.support.tiny_models import write_tiny

DIM = 6
NONE = np.zeros((0, DIM), np.float32)
QUERIES = ["a man is singing and not dancing", "a dog"]
SYSTEMS = ["tiny", "tiny rectified", "tiny boolean", "tiny drop"]


def units(*shape: int, seed: int = 0) -> NDArray[np.float32]:
    rows = np.random.default_rng(seed).normal(size=shape)
    return np.asarray(rows / np.linalg.norm(rows, axis=-1, keepdims=True), np.float32)


def test_the_weights_are_those_of_the_reference() -> None:
    stored = papers_reference("covr_")
    frames, texts, pooled = (stored[f"covr_{name}"] for name in ("frames", "texts", "pooled"))
    expected = [focused(clip_frames, text) for clip_frames, text in zip(frames, texts, strict=True)]
    np.testing.assert_allclose(expected, pooled, atol=1e-6)


def by_hand(frames: NDArray[np.float32], focus: NDArray[np.float32]) -> NDArray[np.float64]:
    weights = [np.exp(float(frame @ focus) / 0.1) for frame in frames]
    total = sum(weight * frame.astype(float) for weight, frame in zip(weights, frames, strict=True))
    return np.asarray(total / np.linalg.norm(total))


def gallery_of(frames: NDArray[np.float32]) -> EmbeddedGallery:
    """Return a gallery whose rows in the file are in the reverse order."""
    clips = averaged(frames)
    count = len(frames)
    index = ExactIndex(DIM)
    index.add(np.arange(count), clips)
    videos = tuple(Video(str(number), Path(str(number))) for number in range(count))
    return EmbeddedGallery(
        Gallery("g", videos), clips, index, (), frames[::-1], np.arange(count)[::-1]
    )


def test_a_brief_action_beats_what_is_always_slightly_similar() -> None:
    x, y = np.eye(DIM, dtype=np.float32)[:2]
    little = np.asarray(0.5 * x + np.sqrt(0.75) * y, np.float32)
    embedded = gallery_of(np.stack([np.stack([little] * 4), np.stack([x, y, y, y])]))
    # By the mean.
    assert embedded.search(x, 2)[1].tolist() == [0, 1]
    assert embedded.search(x, 2, Exclusion(NONE, 0.0, focus=x))[1].tolist() == [1, 0]


def test_small_galleries_are_searched_exactly_and_large_in_two_stages(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    frames = units(50, 4, DIM)
    (vector, unwanted) = units(2, DIM, seed=1)
    embedded = gallery_of(frames)
    exclusion = Exclusion(unwanted[None], 0.5, 0.1, focus=vector)
    clips = [by_hand(clip_frames, vector) for clip_frames in frames]
    expected = [
        float(clip @ vector) - 0.5 * max(0.0, float(clip @ unwanted) - 0.1) for clip in clips
    ]
    scores, rows = embedded.search(vector, 50, exclusion)
    assert rows.tolist() == np.argsort(-np.array(expected)).tolist()
    np.testing.assert_allclose(scores, np.array(expected)[rows], atol=1e-6)
    monkeypatch.setattr(embedded_module, "MAX_FOCUSED", 49)
    monkeypatch.setattr(embedded_module, "SHORTLIST", 20)
    nearest = set(np.argsort(-(embedded.embeddings @ vector))[:20].tolist())
    scores, best_rows = embedded.search(vector, 5, exclusion)
    assert best_rows.tolist() == [row for row in rows.tolist() if row in nearest][:5]
    np.testing.assert_allclose(scores, np.array(expected)[best_rows], atol=1e-6)


def test_measures_are_those_of_a_plain_loop() -> None:
    frames = units(7, 4, DIM)
    texts = units(5, DIM, seed=1)
    away = units(5, DIM, seed=2)
    # It is unreadable.
    frames[6] = 0
    exclusions = [Exclusion(away[row][None], 0.5, 0.1, focus=texts[row]) for row in range(3)]
    exclusions += [Exclusion(NONE, 0.0, focus=texts[row]) for row in range(3, 5)]
    table = np.full((5, 7), -np.inf)
    for row in range(5):
        for column in range(6):
            clip = by_hand(frames[column], texts[row])
            penalty = 0.5 * max(0.0, float(clip @ away[row]) - 0.1) if row < 3 else 0
            table[row, column] = float(clip @ texts[row]) - penalty
    queries = [JudgedQuery("original", f"text {row}", row_array((row,))) for row in range(5)]
    measured = measure_block(texts, frames, queries, exclusions=exclusions)
    assert measured.ranks.tolist() == [
        int((table[row] >= table[row, row]).sum()) for row in range(5)
    ]
    by_text = [1 + sum(table[3:, 3 + video] > table[3 + video, 3 + video]) for video in range(2)]
    assert caption_ranks(frames[3:5], texts[3:], queries[:2]).tolist() == by_text
    question = JudgedQuery("choice", "text 3", row_array((3,)), others=row_array((8,)))
    choice = measure_choices(texts[3:], frames, [question], row_array((8,)), exclusions[3:])
    assert choice.ranks.tolist() == [1 + int(table[4, 3] >= table[3, 3])]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    """Return a model that a card makes query-scored."""
    folder = tmp_path_factory.mktemp("models")
    write_tiny(folder / "tiny")
    write_card(folder / "tiny", read_card(folder / "tiny").replace(pooling=QUERY_SCORED, frames=4))
    return Catalog([folder])


@pytest.fixture(scope="module")
def searcher(
    models: Catalog, tmp_path_factory: pytest.TempPathFactory, decoder: Decoder
) -> Iterator[Searcher]:
    folder = tmp_path_factory.mktemp("gallery")
    noise = np.random.default_rng(0).integers(0, 256, (5, 4, 64, 64, 3), np.uint8)
    for number, frames in enumerate(noise):
        write_webm(frames, folder / f"{number}.webm", FPS, OPTIONS)
    videos = tuple(Video(str(number), folder / f"{number}.webm") for number in range(len(noise)))
    with Cache(folder / "cache") as cache:
        yield Searcher(models, Gallery("five", videos), decoder, cache)


@pytest.mark.parametrize("text", QUERIES)
def test_a_search_its_explanation_all_scores_and_the_match_agree(
    searcher: Searcher, text: str
) -> None:
    answer = searcher.search(text, SYSTEMS, 5)
    plan = searcher.plan(SYSTEMS)
    table, _ = searcher.score_all([text], plan)
    fits = searcher.match(Reference(video_id="3"), [text, "rain"], SYSTEMS)
    encoder = plan.encoders["tiny"]
    sentence, wanted = encoder.encode_text([text, text.removesuffix(" and not dancing")])
    frames = answer.rankings[0].gallery.frame_embeddings(3)  # type: ignore[union-attr]
    for ranking, why, scored in zip(
        answer.rankings, explain(answer, "3", lambda _: encoder), fits.systems, strict=True
    ):
        score = next(hit.score for hit in ranking.hits if hit.video_id == "3")
        assert [why.score, table[ranking.system.name][0, 3], scored.scores[0]] == pytest.approx(
            [score] * 3, abs=1e-4
        )
        assert score == answer.clip_scores("3")[answer.rankings.index(ranking)].score
        assert not why.notice
        parts = [part.contribution for part in why.parts if part.contribution is not None]
        assert sum(parts) == pytest.approx(score, abs=1e-3)
    plain, drop = (
        next(h.score for h in answer.rankings[n].hits if h.video_id == "3") for n in (0, 3)
    )
    assert plain == pytest.approx(float(by_hand(frames, sentence) @ sentence), abs=1e-4)
    assert drop == pytest.approx(float(by_hand(frames, wanted) @ wanted), abs=1e-4)


def test_an_evaluation_weighs_frames_as_a_search_does(models: Catalog, tmp_path: Path) -> None:
    benchmark = world_benchmark(tmp_path, 8, num_pairs=0)
    encoder = models.load("tiny")
    media = benchmark.embed(encoder, lambda *_: None)
    videos = media.vectors
    assert videos.shape == (8, 4, 16)
    (result,) = benchmark.measure(encoder, [System("tiny")], media)
    for row, query in enumerate(benchmark.queries[:8]):
        (text,) = encoder.encode_text([query.text])
        scores = np.array([by_hand(frames, text) @ text for frames in videos])
        assert result.measured.ranks[row] == (scores >= scores[query.relevant[0]] - 1e-9).sum()
    pooled = read_checkpoint(models.folder("tiny")).pool(videos)
    np.testing.assert_allclose(pooled, averaged(videos), atol=1e-6)
