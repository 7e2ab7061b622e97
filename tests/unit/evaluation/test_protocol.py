"""Evaluation of systems on a small benchmark: metrics, stored results and stopping."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nt2vr.evaluation.embed_media import EmbeddedVideos
from nt2vr.evaluation.protocol import ResultStore, evaluate, with_controls
from nt2vr.evaluation.queries import JudgedQuery, row_array
from nt2vr.models.card import Card
from nt2vr.progress import silent, stoppable
from nt2vr.search.strategies import System
from tests.support.word_encoder import QUERIES, VIDEOS, WordModels, embedded, word_benchmark

PLAIN = System("words")
DROP = System("words", "drop")
BNL = System("words-bnl")


def test_the_table_always_has_the_base_and_its_control() -> None:
    models: Any = WordModels()
    assert with_controls([BNL], models) == [PLAIN, DROP, BNL]
    assert with_controls([System("words", "boolean", 1), DROP], models) == [
        PLAIN,
        DROP,
        System("words", "boolean", 1),
    ]
    cards = {
        name: Card(name, base=base)
        for name, base in (("a", "lost"), ("b", "a"), ("c", "b"), ("d", "d"))
    }
    models = WordModels(cards)
    assert with_controls([System("c"), System("d")], models)[::2] == [
        System("a"),
        System("d"),
        System("c"),
    ]


def test_metrics_of_systems_with_and_without_negation_by_hand() -> None:
    models: Any = WordModels()
    report = evaluate(word_benchmark(), [PLAIN, DROP, System("words", "boolean", 1)], models)
    plain, drop, boolean = report.metrics.values()
    # "sings and not dancing": the clip with both scores 2, that with one of them 1, and so does
    # "dancing"
    assert plain["composed/MIR"] == pytest.approx(1 / 3)
    assert plain["composed/hard_pairs"] == 0
    assert plain["not/auc"] == 0
    assert plain["composed/violations@10"] == 50
    # Both sing: a tie.
    assert drop["composed/MIR"] == 1 / 2
    assert drop["composed/hard_pairs"] == 0
    assert drop["not/auc"] == 0.5
    assert boolean["composed/MIR"] == 1
    assert boolean["composed/hard_pairs"] == 100
    assert boolean["not/auc"] == 1
    # "a man sings" ties with the clip that dances too; "a man not sings" is understood as the clip
    # without singing
    assert plain["negated/delta_MIR"] == 0
    assert boolean["negated/delta_MIR"] == pytest.approx(1 / 2 - 1 / 4)


def test_unreadable_videos_are_named_and_left_out(
    tmp_path: Path,
) -> None:
    models: Any = WordModels()
    lost = VIDEOS[0]
    embedded_videos = EmbeddedVideos(embedded(*VIDEOS), {lost: "It is cut off. Export it again."})
    benchmark = replace(
        word_benchmark(), embed=lambda *_: embedded_videos, leaves_out_unreadable=True
    )
    report = evaluate(benchmark, [PLAIN, DROP], models, ResultStore(tmp_path))
    assert report.video_ids == tuple(VIDEOS[1:])
    # Queries about the lost video are left out, and those made of them.
    about_others = [query for query in QUERIES if set(query.relevant.tolist()) - {0}]
    readable = []
    for query in about_others:
        if query.original is None or QUERIES[query.original] in about_others:
            readable.append(query)
    assert [query.text for query in report.queries] == [query.text for query in readable]
    assert report.source["remarks"] == [
        f"1 of 4 videos cannot be read: {lost} (It is cut off. Export it again). They are left out, and "
        f"{len(QUERIES) - len(readable)} of 5 queries with them."
    ]
    for query, before in zip(report.queries, readable, strict=True):
        assert [VIDEOS[1:][row] for row in query.relevant] == [
            VIDEOS[row] for row in before.relevant if row
        ]
    repeated = evaluate(benchmark, [PLAIN, DROP], models, ResultStore(tmp_path))
    assert repeated.metrics == report.metrics


def test_nothing_is_measured_twice(tmp_path: Path) -> None:
    models: Any = WordModels()
    store = ResultStore(tmp_path)
    first = evaluate(word_benchmark(), [PLAIN, DROP], models, store)
    assert models.loaded == ["words"]
    repeated = evaluate(word_benchmark(), [DROP, PLAIN], models, store)
    assert models.loaded == ["words"]
    assert repeated.metrics == {name: first.metrics[name] for name in ("words drop", "words")}

    models.cards["other name"] = Card(
        "other name", notes="Weak.", visual_fingerprint="v", text_fingerprint="t"
    )
    renamed = evaluate(word_benchmark(), [System("other name")], models, store)
    assert renamed.notes == ("other name: Weak.",)
    # The weights are the same.
    assert models.loaded == ["words"]


def test_progress_counts_queries_within_a_block_and_may_stop_there() -> None:
    models: Any = WordModels()
    queries = [
        JudgedQuery("retrieval", f"a man sings {number}, no dancing", row_array([0]))
        for number in range(200)
    ]
    seen: list[tuple[int, int, str]] = []
    evaluate(
        word_benchmark(queries=queries), [DROP], models, progress=lambda *step: seen.append(step)
    )
    assert seen[0] == (0, 0, "loading words")
    done = []
    for num_done, total, doing in seen:
        if total == 200 and doing == "queries, words":
            done.append(num_done)
    assert done == sorted(done)
    assert len(set(done)) > 5
    assert done[-1] == 200
    report = stoppable(lambda *step: seen.append(step), lambda: seen[-1][0] >= 32)
    seen.append((0, 0, ""))
    with pytest.raises(InterruptedError):
        evaluate(word_benchmark(queries=queries), [DROP], models, progress=report)
    assert 32 <= seen[-1][0] < 200


@pytest.mark.parametrize(
    "changed",
    [
        {"source": {"seed": 2}},
        {"queries": QUERIES[:4]},
        {"queries": [*QUERIES[:4], replace(QUERIES[4], relevant=row_array([0]))]},
    ],
    ids=["other videos", "fewer queries", "other truth"],
)
def test_results_are_not_reused_for_another_benchmark(tmp_path: Path, changed: Any) -> None:
    models: Any = WordModels()
    evaluate(word_benchmark(), [PLAIN], models, ResultStore(tmp_path))
    evaluate(word_benchmark(**changed), [PLAIN], models, ResultStore(tmp_path))
    assert models.loaded == ["words", "words"]


def test_results_are_not_reused_for_another_alpha_or_other_weights(tmp_path: Path) -> None:
    models: Any = WordModels()
    store = ResultStore(tmp_path)
    for system in (PLAIN, System("words", "boolean"), System("words", "boolean", 1), BNL):
        evaluate(word_benchmark(), [system], models, store)
    assert len(models.loaded) == 4
    evaluate(word_benchmark(), [System("words", "boolean", 0.5)], models, store)
    # "boolean" has the weight .5 where nothing is said.
    assert len(models.loaded) == 4


def test_a_damaged_result_is_measured_again(tmp_path: Path) -> None:
    models: Any = WordModels()
    evaluate(word_benchmark(), [PLAIN], models, ResultStore(tmp_path))
    (file,) = tmp_path.iterdir()
    file.write_bytes(file.read_bytes()[:100])
    evaluate(word_benchmark(), [PLAIN], models, ResultStore(tmp_path))
    assert models.loaded == ["words", "words"]


def test_a_stopped_evaluation_stores_the_finished_models(tmp_path: Path) -> None:
    models: Any = WordModels()
    with pytest.raises(InterruptedError):
        report = stoppable(silent, lambda: len(models.loaded) > 1)
        evaluate(word_benchmark(), [PLAIN, BNL], models, ResultStore(tmp_path), report)
    models.loaded.clear()
    evaluate(word_benchmark(), [PLAIN], models, ResultStore(tmp_path))
    assert models.loaded == []
