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
    clips = zip(stored["covr_frames"], stored["covr_texts"], strict=True)
    pooled = [focused(frames, text) for frames, text in clips]
    np.testing.assert_allclose(pooled, stored["covr_pooled"], atol=1e-6)


def by_hand(frames: NDArray[np.float32], focus: NDArray[np.float32]) -> NDArray[np.float64]:
    """Pool the frames of one clip, weighted by their similarity to a text at temperature 0.1."""
    pooled = np.zeros(len(focus))
    for frame in frames.astype(float):
        pooled += np.exp(frame @ focus / 0.1) * frame
    return np.asarray(pooled / np.linalg.norm(pooled))


def score_by_hand(frames: NDArray[np.float32], exclusion: Exclusion) -> float:
    """Score a clip for the text of an exclusion, of at most one unwanted part, with tau 0.1."""
    assert exclusion.focus is not None
    clip = by_hand(frames, exclusion.focus)
    score = float(clip @ exclusion.focus)
    for unwanted in exclusion.unwanted:
        score -= exclusion.weight * max(0.0, float(clip @ unwanted) - 0.1)
    return score


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
    similar = np.asarray(0.5 * x + np.sqrt(0.75) * y, np.float32)
    gallery = gallery_of(np.array([[similar, similar, similar, similar], [x, y, y, y]]))
    _, by_mean = gallery.search(x, 2)
    assert by_mean.tolist() == [0, 1]
    _, by_query = gallery.search(x, 2, Exclusion(NONE, 0.0, focus=x))
    assert by_query.tolist() == [1, 0]


def test_small_galleries_are_searched_exactly_and_large_in_two_stages(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    frames = units(50, 4, DIM)
    vector, unwanted = units(2, DIM, seed=1)
    exclusion = Exclusion(unwanted[None], 0.5, 0.1, focus=vector)
    expected = np.array([score_by_hand(clip_frames, exclusion) for clip_frames in frames])
    ranking = np.argsort(-expected)
    gallery = gallery_of(frames)

    scores, rows = gallery.search(vector, 50, exclusion)
    assert rows.tolist() == ranking.tolist()
    np.testing.assert_allclose(scores, expected[rows], atol=1e-6)

    monkeypatch.setattr(embedded_module, "MAX_FOCUSED", 49)
    monkeypatch.setattr(embedded_module, "SHORTLIST", 20)
    shortlist = np.argsort(-(gallery.embeddings @ vector))[:20]
    scores, rows = gallery.search(vector, 5, exclusion)
    assert rows.tolist() == ranking[np.isin(ranking, shortlist)][:5].tolist()
    np.testing.assert_allclose(scores, expected[rows], atol=1e-6)


def test_measures_are_those_of_a_plain_loop() -> None:
    """Of five texts, the first three have an unwanted part; the right video is that of the same row."""
    frames = units(7, 4, DIM)
    # The last is unreadable.
    frames[6] = 0
    texts = units(5, DIM, seed=1)
    unwanted = units(3, DIM, seed=2)
    exclusions = [
        *(Exclusion(unwanted[row][None], 0.5, 0.1, focus=texts[row]) for row in range(3)),
        *(Exclusion(NONE, 0.0, focus=text) for text in texts[3:]),
    ]
    scores = np.full((5, 7), -np.inf)
    for text, exclusion in enumerate(exclusions):
        for video in range(6):
            scores[text, video] = score_by_hand(frames[video], exclusion)
    right_scores = scores.diagonal()

    queries = [JudgedQuery("original", f"text {row}", row_array((row,))) for row in range(5)]
    measured = measure_block(texts, frames, queries, exclusions=exclusions)
    # The right video is one of those that score as much.
    video_ranks = (scores >= right_scores[:, None]).sum(axis=1)
    assert measured.ranks.tolist() == video_ranks.tolist()

    text_ranks = 1 + (scores[3:, 3:5] > right_scores[3:]).sum(axis=0)
    assert caption_ranks(frames[3:5], texts[3:], queries[:2]).tolist() == text_ranks.tolist()

    question = JudgedQuery("choice", "text 3", row_array((3,)), others=row_array((8,)))
    choice = measure_choices(texts[3:], frames, [question], row_array((8,)), exclusions[3:])
    assert choice.ranks.tolist() == [1 + int(scores[4, 3] >= scores[3, 3])]


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
    encoder = plan.encoders["tiny"]
    explanations = explain(answer, "3", lambda _: encoder)
    all_scores, _ = searcher.score_all([text], plan)
    match = searcher.match(Reference(video_id="3"), [text, "rain"], SYSTEMS)

    scores = []
    for ranking in answer.rankings:
        scores += [hit.score for hit in ranking.hits if hit.video_id == "3"]
    assert [clip.score for clip in answer.clip_scores("3")] == scores
    assert [why.score for why in explanations] == pytest.approx(scores, abs=1e-4)
    assert [all_scores[name][0, 3] for name in SYSTEMS] == pytest.approx(scores, abs=1e-4)
    assert [system.scores[0] for system in match.systems] == pytest.approx(scores, abs=1e-4)
    for why, score in zip(explanations, scores, strict=True):
        assert not why.notice
        assert sum(part.contribution or 0 for part in why.parts) == pytest.approx(score, abs=1e-3)

    frames = answer.rankings[0].gallery.frame_embeddings(3)  # type: ignore[union-attr]
    sentence, wanted = encoder.encode_text([text, text.removesuffix(" and not dancing")])
    of_sentence = score_by_hand(frames, Exclusion(NONE, 0.0, focus=sentence))
    of_wanted = score_by_hand(frames, Exclusion(NONE, 0.0, focus=wanted))
    plain, _, _, drop = scores
    assert plain == pytest.approx(of_sentence, abs=1e-4)
    assert drop == pytest.approx(of_wanted, abs=1e-4)


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
