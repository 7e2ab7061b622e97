"""The benchmarks that VFC is measured on, in their published forms, made small."""

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nt2vr.evaluation.class_tasks import Prompts, class_task
from nt2vr.evaluation.embed_media import EmbeddedVideos
from nt2vr.evaluation.measures import (
    Measured,
    averages_of,
    metric_values,
)
from nt2vr.evaluation.protocol import evaluate
from nt2vr.evaluation.tables import csv_table, markdown
from nt2vr.evaluation.tasks import is_task, task_benchmark
from nt2vr.evaluation.text_benchmark import TextBenchmark
from nt2vr.media.decode import Decoder
from nt2vr.media.store import Cache
from nt2vr.papers.vfc import EXTENSION
from nt2vr.search.strategies import System
from tests.support.word_encoder import WordModels, embedded

KINETICS_VERB = "Kinetics-verb"
Read = Callable[[Path], TextBenchmark]


@pytest.fixture
def read(tmp_path: Path, write_video: Callable[..., Path], decoder: Decoder) -> Read:
    """Read a task whose files lie elsewhere below its folder."""
    for name in ("11.jpg", "12.jpg", "13.jpg", "light.avi", "dark.avi"):
        path = tmp_path / "files" / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(write_video("a.avi", [0]).read_bytes())

    def read(path: Path) -> TextBenchmark:
        assert is_task(path)
        with Cache(tmp_path.parent / f"{tmp_path.name}-cache") as cache:
            return task_benchmark(path, decoder, cache)

    return read


def test_svo_probes_asks_for_the_right_one_of_two_pictures(read: Read, tmp_path: Path) -> None:
    header = "sentence,pos_triplet,neg_triplet,pos_url,neg_url,pos_image_id,neg_image_id,subj_neg,verb_neg,obj_neg\n"
    (tmp_path / "svo_probes.csv").write_text(
        header
        + 'a man sings,"man,sing,song","dog,bark,",u,u,11,12,True,True,False\n'
        + 'a cat,"cat,sit,mat","cow,sit,mat",u,u,12,13,True,False,False\n'
        + 'a cat,"cat,sit,mat","cow,sit,mat",u,u,12,999,True,False,False\n'
    )
    benchmark = read(tmp_path / "svo_probes.csv")
    assert [(q.kind, q.relevant.tolist(), q.hard.tolist(), q.group) for q in benchmark.queries] == [
        ("picture", [0], [1], "subject; verb"),
        ("picture", [1], [2], "subject"),
        ("picture", [1], [3], "subject"),
    ]
    text_benchmark = TextBenchmark(
        "svo",
        ("1", "2", "3"),
        benchmark.queries[:2],
        lambda *_: EmbeddedVideos(embedded("a man sings", "cow", "a cat")),
        {},
    )
    models: Any = WordModels()
    report = evaluate(text_benchmark, [System("words")], models)
    assert report.metrics["words"] == {
        "picture/accuracy": 50,
        "picture/accuracy subject": 50,
        "picture/accuracy verb": 100,
        # right: sings 1; wrong ones of "a man sings" and "a cat" 0 and 1: "a cat" is on the wrong
        # picture
        "picture/AP": pytest.approx(100 * (1 / 2 + 2 / 4) / 2),
        "picture/AP subject": pytest.approx(100 * (1 / 2 + 2 / 4) / 2),
        "picture/AP verb": 100,
    }
    assert (
        "| words (zero-shot) | 50.0 ±50.0 | 50.0 | 50.0 ±50.0 | 100.0 | 50.0 | 100.0 |"
        in markdown(report)
    )
    row = next(csv.DictReader(csv_table(report).splitlines()))
    assert (row["picture/accuracy subject"], row["picture/accuracy verb"]) == ("50.0", "100.0")


def test_next_qa_is_read_with_its_types(read: Read, tmp_path: Path) -> None:
    (tmp_path / "next_qa.csv").write_text("""video,question,answer,qid,type,a0,a1,a2,a3,a4
light,why did he jump,1,0,CW,fear,joy,rain,no reason,a dog
dark,what is it,0,1,DO,night,day,noon,dusk,dawn
""")
    benchmark = read(tmp_path / "next_qa.csv")
    first, second = benchmark.queries
    assert (first.kind, first.text, first.group) == ("choice", "why did he jump joy", "causal; CW")
    assert [benchmark.texts[foil] for foil in first.others] == [
        f"why did he jump {answer}" for answer in ("fear", "rain", "no reason", "a dog")
    ]
    assert (second.text, second.group) == ("what is it night", "descriptive; DO")
    assert benchmark.video_ids == ("light", "dark")


def test_kinetics_verb_is_outside_the_mean() -> None:
    verbs = EXTENSION.class_groups[KINETICS_VERB].read_text(encoding="utf-8").splitlines()
    assert len(verbs) == len(set(verbs)) == 97
    questions = class_task(
        (),
        [*((name, "kinetics") for name in ("abseiling", *verbs)), ("a", "x"), ("b", "x")],
        Prompts(),
    ).queries
    groups = [question.group for question in questions[:3]]
    assert groups == ["kinetics", f"kinetics; {KINETICS_VERB}", f"kinetics; {KINETICS_VERB}"]
    # All classes are offered.
    assert len(questions[1].others) == 97
    ranks = np.ones(len(questions), np.int32)
    # A verb of Kinetics, and one of the two of x.
    ranks[[1, 99]] = 2
    nothing = np.zeros(len(questions), np.float32)
    averages = averages_of(metric_values(questions, Measured(ranks, nothing, nothing, nothing)))
    assert averages[f"class/accuracy {KINETICS_VERB}"] == pytest.approx(100 * 96 / 97)
    assert averages["class/mean accuracy"] == pytest.approx((100 * 97 / 98 + 50) / 2)

    class_questions = class_task((), [(name, "") for name in verbs[1:]], Prompts()).queries
    # Another list that shares most names.
    assert {question.group for question in class_questions} == {""}
