"""Zero-shot classification: prompts, folders of classes, and measures by hand."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nt2vr.errors import ConfigError
from nt2vr.evaluation.benchmark_kinds import Places
from nt2vr.evaluation.built_in import shown_benchmark
from nt2vr.evaluation.class_tasks import Prompts, class_benchmark, class_task, read_prompts
from nt2vr.evaluation.measures import (
    Measured,
    averages_of,
    metric_values,
)
from nt2vr.evaluation.protocol import evaluate
from nt2vr.evaluation.sources import Data, load_benchmark
from nt2vr.evaluation.task_data import Task
from nt2vr.evaluation.text_systems import search_vectors
from nt2vr.media.decode import Decoder
from nt2vr.media.store import Cache
from nt2vr.progress import silent
from nt2vr.search.strategies import System
from nt2vr.world.altered import shown_classes
from nt2vr.world.sampling import sample_scenes
from tests.support.word_encoder import WordEncoder, WordModels
from tests.unit.evaluation.test_choices import benchmark_of


def asked(labels: list[tuple[str, str]], prompts: Prompts | None = None) -> Task:
    return class_task((), labels, prompts or Prompts())


def test_the_delta_of_negated_prompts_by_hand() -> None:
    _, questions, texts, averaged, *_ = asked(
        [(name, "") for name in ("Cat", "dog", "golden_dog", "CAT")]
    )
    assert not averaged
    assert texts[:2] == ("this is a photo of a cat", "this is a photo of a dog")
    assert texts[5] == "this is not a photo of a golden dog"
    assert [query.text for query in questions[:4]] == [*texts[:3], texts[0]]
    assert [texts[foil] for foil in questions[5].others] == [texts[3], texts[5]]
    # the first video shows none of the three: all tie, as "dog" and "golden dog" do for two others.
    # Ties count against the model: they are no right answers when asked, and are when denied
    models: Any = WordModels()
    metrics = evaluate(
        benchmark_of(list(questions), texts),
        [System("words"), System("words", "boolean", 1)],
        models,
    ).metrics
    assert metrics["words"] == pytest.approx(
        {"class/accuracy": 25, "class/top-5": 100, "class/negated": 100, "class/delta": 25 - 100}
    )
    # what is there is what "not" fits least; the first video still ties
    assert metrics["words boolean α 1"] == pytest.approx(
        {"class/accuracy": 25, "class/top-5": 100, "class/negated": 25, "class/delta": 0}
    )


def test_top_5_counts_five_classes() -> None:
    questions = asked([(f"thing {number}", "") for number in range(8)]).queries
    ranks = np.array([1, 2, 5, 6, 1, 1, 8, 1, *(1 for _ in range(8))], np.int32)
    nothing = np.zeros(16, np.float32)
    values = metric_values(questions, Measured(ranks, nothing, nothing, nothing))
    assert values["class/top-5"].values.tolist() == [100, 100, 100, 0, 100, 100, 0, 100]
    assert values["class/accuracy"].values.tolist() == [100, 0, 0, 0, 100, 100, 0, 100]
    assert values["class/delta"].values.tolist() == [0, -100, -100, -100, 0, 0, -100, 0]


def test_several_prompts_are_averaged_and_normalised() -> None:
    labels = [("dog", ""), ("cat", "")]
    _, questions, _, averaged, *_ = asked(labels, Prompts(("{}", "dancing {}"), ()))
    assert [query.kind for query in questions] == ["class", "class"]
    encoder: Any = WordEncoder()
    (vectors, _), *_ = search_vectors(encoder, [System("words")], questions, averaged=averaged)
    # "dog" is (0 0 1 0 0) and "dancing dog" (0 1 1 0 0): the mean is (0 1/2 1 0 0), whose norm is
    # sqrt(5) / 2
    assert vectors[0] == pytest.approx(np.array([0, 1, 2, 0, 0]) / np.sqrt(5))
    assert averaged == {"dog": ("dog", "dancing dog"), "cat": ("cat", "dancing cat")}


def test_data_sets_count_equally_in_the_mean() -> None:
    labels = [
        ("dog", "pets"),
        ("cat", "pets"),
        ("dog", "wild"),
        ("fox", "wild"),
        ("owl", "wild"),
        ("dog", "wild"),
    ]
    _, questions, texts, *_ = asked(labels)
    assert [texts[foil] for foil in questions[0].others] == ["this is a photo of a cat"]
    ranks = np.array([1, 1, 1, 2, 7, 2, *(2 for _ in range(6))], np.int32)
    nothing = np.zeros(12, np.float32)
    measured = Measured(ranks, nothing, nothing, nothing)
    metrics = averages_of(metric_values(questions, measured))
    assert (metrics["class/accuracy pets"], metrics["class/accuracy wild"]) == (100, 25)
    assert metrics["class/accuracy"] == 50
    assert metrics["class/mean accuracy"] == 62.5
    assert (metrics["class/top-5 wild"], metrics["class/mean top-5"]) == (75, 87.5)
    assert (metrics["class/negated"], metrics["class/mean delta"]) == (0, 62.5)


def test_prompts_with_a_negation_are_recognised(tmp_path: Path) -> None:
    assert read_prompts("", tmp_path) == Prompts()
    assert read_prompts("{}", tmp_path) == Prompts(("{}",), ())
    (tmp_path / "prompts.txt").write_text(
        "a photo of a {}.\n\na photo without a {}.\nart of {}\n", encoding="utf-8"
    )
    read = Prompts(("a photo of a {}.", "art of {}"), ("a photo without a {}.",))
    assert (
        read_prompts("", tmp_path)
        == read_prompts(str(tmp_path / "prompts.txt"), tmp_path / "else")
        == read
    )


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"a photo", "needs one {}"),
        (b"no {}", "at least one without a negation"),
        (b"\xff\xfe{}", "cannot be read"),
        (b"".join(b"a %d {}\n" % n for n in range(1_001)), "1 to 1,000"),
    ],
)
def test_unusable_prompts_are_refused(tmp_path: Path, content: bytes, reason: str) -> None:
    (tmp_path / "p.txt").write_bytes(content)
    with pytest.raises(ConfigError) as error:
        read_prompts(str(tmp_path / "p.txt"), tmp_path)
    assert reason in str(error.value)


@pytest.fixture
def folder(tmp_path: Path, write_video: Callable[..., Path]) -> Path:
    """Two data sets, whose files have the same names."""
    for name in (
        "pets/tabby_cat/1.avi",
        "pets/dog/1.avi",
        "wild/test/fox/1.avi",
        "wild/test/owl/1.avi",
    ):
        write_video(f"data/{name}", [0, 200])
    (tmp_path / "data" / "pets" / "dog" / "notes.txt").write_text("-")
    return tmp_path / "data"


def test_folders_per_class_are_read(folder: Path, tmp_path: Path, decoder: Decoder) -> None:
    with Cache(tmp_path / "cache") as cache:
        both = load_benchmark(Data(f"classes:{folder}"), Places(tmp_path, decoder, cache), silent)
        one = class_benchmark(folder / "pets", decoder, cache, prompts="{}")
    assert both.video_ids == (
        "pets/dog/1.avi",
        "pets/tabby_cat/1.avi",
        "wild/test/fox/1.avi",
        "wild/test/owl/1.avi",
    )
    assert [query.group for query in both.queries] == ["pets", "pets", "wild/test", "wild/test"] * 2
    assert one.texts == ("dog", "tabby cat")
    assert [query.group for query in one.queries] == ["", ""]


def test_questions_about_the_world_have_one_true_answer(tmp_path: Path) -> None:
    benchmark = shown_benchmark(tmp_path, 40, 3)
    scenes = sample_scenes("test", 40, 3)
    claims = {}
    for names in shown_classes().values():
        for plain, denied, claim in names:
            claims[plain] = (claim, False)
            claims[denied] = (claim, True)
    assert {query.group for query in benchmark.queries} == {"subject", "action", "place"}
    for query in benchmark.queries:
        scene = scenes[query.relevant[0]]
        claim, denies = claims[query.text]
        assert claim.holds(scene)
        assert denies == (query.kind == "negated class")
        assert len(query.others)
        assert not any(claims[benchmark.texts[foil]][0].holds(scene) for foil in query.others)
