"""Multiple-choice questions, with values by hand and against a slow twin."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nt2vr.evaluation.embed_media import EmbeddedVideos
from nt2vr.evaluation.protocol import evaluate
from nt2vr.evaluation.queries import JudgedQuery, row_array
from nt2vr.evaluation.scoring import choices_of, measure_choices
from nt2vr.evaluation.stored_reports import load_report
from nt2vr.evaluation.tables import markdown
from nt2vr.evaluation.tasks import task_benchmark
from nt2vr.evaluation.text_benchmark import TextBenchmark
from nt2vr.media.decode import Decoder
from nt2vr.media.store import Cache
from nt2vr.search.strategies import System
from tests.support.word_encoder import WordModels, embedded

VIDEOS = ("a man sings", "a dog", "dancing dog", "a cat")
TEXTS = ("a man sings", "a man not sings", "a dog", "a man dancing", "dog dancing")


def benchmark_of(questions: list[JudgedQuery], texts: tuple[str, ...] = TEXTS) -> TextBenchmark:
    return TextBenchmark(
        "questions",
        VIDEOS,
        tuple(questions),
        lambda *_: EmbeddedVideos(embedded(*VIDEOS)),
        {},
        texts=texts,
    )


def question(kind: Any, text: str, video: int, *others: int, group: str = "") -> JudgedQuery:
    return JudgedQuery(kind, text, row_array([video]), others=row_array(others), group=group)


def test_accuracies_by_hand() -> None:
    questions = [
        # Right.
        question("choice", "a man sings", 0, 2, 3, 4, group="positive"),
        # Right.
        question("choice", "a dog", 1, 0, 3, 1, group="negative"),
        # The other fits as well: ties count against.
        question("choice", "a dog", 1, 4, group="negative"),
        # The model is deaf to "not": a tie again.
        question("pair", "a man sings", 0, 1),
    ]
    models: Any = WordModels()
    report = evaluate(
        benchmark_of(questions), [System("words"), System("words", "boolean", 1)], models
    )
    assert report.metrics["words"] == pytest.approx(
        {
            "choice/accuracy": 200 / 3,
            "choice/accuracy positive": 100,
            "choice/accuracy negative": 50,
            "pair/accuracy": 0,
        }
    )
    assert report.metrics["words boolean α 1"]["pair/accuracy"] == 100


def test_ranks_match_a_loop_over_texts() -> None:
    rng = np.random.default_rng(0)
    texts = rng.integers(-2, 3, (30, 3))
    videos = rng.integers(-2, 3, (10, 3))
    pool = tuple(map(str, range(30)))
    questions = []
    for _ in range(40):
        right, *foils = rng.permutation(30)[:5]
        questions.append(question("choice", str(right), int(rng.integers(10)), *foils))
    wrong, places = choices_of(questions, pool)
    assert [text.text for text in wrong] == [str(place) for place in places]
    rows = [int(query.text) for query in [*questions, *wrong]]
    vectors = texts[rows].astype(np.float32)
    measured = measure_choices(vectors, videos.astype(np.float32), questions, places)
    expected = []
    for choice in questions:
        scores = texts @ videos[choice.relevant[0]]
        num_higher = (scores[choice.others] >= scores[int(choice.text)]).sum()
        expected.append(1 + num_higher)
    assert measured.ranks.tolist() == expected


def test_a_report_of_choices_is_saved_with_its_columns(tmp_path: Path) -> None:
    models: Any = WordModels()
    report = evaluate(
        benchmark_of([question("choice", "a man sings", 0, 2, 3, group="hybrid")]),
        [System("words")],
        models,
    )
    report.save(tmp_path)
    read = load_report(tmp_path)
    assert read.metrics == report.metrics
    assert read.texts == TEXTS
    assert markdown(read).splitlines()[2] == "| words (zero-shot) | 100.0 | 100.0 |"


@pytest.fixture
def read(
    tmp_path: Path, write_video: Callable[..., Path], decoder: Decoder
) -> Callable[[str], TextBenchmark]:
    """Write a task beside two videos and read it."""
    write_video("dark.avi", [0, 0])
    write_video("more/light.avi", [255, 255])

    def write_and_read(table: str) -> TextBenchmark:
        (tmp_path / "task.csv").write_text(table, encoding="utf-8")
        with Cache(tmp_path / "cache") as cache:
            return task_benchmark(tmp_path / "task.csv", decoder, cache)

    return write_and_read


def test_negbench_retrieval_is_read(read: Callable[[str], TextBenchmark]) -> None:
    benchmark = read("""filepath,captions
dark.avi,"['a dark room, no light', ""it isn't bright""]"
more/light.avi,"['a bright room']"
""")
    assert benchmark.video_ids == ("dark.avi", "more/light.avi")
    assert [
        (query.kind, query.text, query.relevant.tolist(), query.cue) for query in benchmark.queries
    ] == [
        ("retrieval", "a dark room, no light", [0], "no"),
        ("retrieval", "it isn't bright", [0], "n't"),
        ("retrieval", "a bright room", [1], ""),
    ]


def test_negbench_multiple_choice_is_read(read: Callable[[str], TextBenchmark]) -> None:
    benchmark = read("""image_path,correct_answer,caption_0,caption_1,caption_2,caption_3,correct_answer_template
dark.avi,2,a,b,c,d,hybrid
dark.avi,0,c,a,e,b,negative
""")
    first, second = benchmark.queries
    assert first.text == "c"
    assert [benchmark.texts[foil] for foil in first.others] == ["a", "b", "d"]
    assert first.group == "hybrid"
    assert (second.text, [benchmark.texts[foil] for foil in second.others]) == (
        "c",
        ["a", "e", "b"],
    )
    assert benchmark.video_ids == ("dark.avi",)
