"""Captions with one thing changed are false of their scenes."""

from typing import Any

from nt2vr.evaluation.built_in import FOLDS, captions_of, fold_questions, one_change
from nt2vr.evaluation.embed_media import EmbeddedVideos
from nt2vr.evaluation.protocol import evaluate
from nt2vr.evaluation.queries import JudgedQuery, row_array
from nt2vr.evaluation.tables import csv_table, markdown
from nt2vr.evaluation.text_benchmark import TextBenchmark
from nt2vr.search.strategies import System
from nt2vr.world.reader import read_claim
from nt2vr.world.sampling import sample_scenes
from tests.support.word_encoder import QUERIES, VIDEOS, WordModels, embedded


def test_foils_are_false_as_they_are_read() -> None:
    """The words themselves are read, not the claims that the foils were made with."""
    scenes = sample_scenes("validation", 80, 5)
    texts, questions = fold_questions(scenes, captions_of(scenes))
    read = 0
    for query in questions:
        scene = scenes[query.relevant[0]]
        foil = texts[query.others[0]]
        true = read_claim(query.text)
        assert true is None or true.holds(scene)
        if query.group == "negated":
            continue
        claim = read_claim(foil)
        if claim is not None:
            assert not claim.holds(scene), foil
            read += 1
    assert read > 200


def test_every_fold_has_pairs_that_differ_in_one_thing() -> None:
    # Few have two actors who could swap.
    scenes = sample_scenes("train", 400, 5)
    texts, questions = fold_questions(scenes, captions_of(scenes), 2)
    assert {query.group for query in questions} == set(FOLDS)
    for query in questions:
        foil = texts[query.others[0]]
        assert query.text != foil
        assert bool(query.cue) == (query.group == "negated")
        if query.group != "negated":
            assert one_change(query.text, foil, query.group)
    fewer = scenes[:80]
    captions = captions_of(scenes[:80])
    # Drawn by seeds alone.
    assert fold_questions(fewer, captions, 2)[0] == fold_questions(fewer, captions, 2)[0]


def test_pairs_stand_beside_hard_pairs_in_one_report() -> None:
    texts = ("a man dancing", "a man sings not")
    pairs = [
        JudgedQuery(
            "pair",
            "a man sings",
            row_array([0]),
            others=row_array([0]),
            group="verb",
            wanted="a man sings",
        ),
        JudgedQuery(
            "pair", "a man sings", row_array([0]), others=row_array([1]), group="negated", cue="not"
        ),
    ]
    benchmark = TextBenchmark(
        "both",
        VIDEOS,
        (*QUERIES, *pairs),
        lambda *_: EmbeddedVideos(embedded(*VIDEOS)),
        {},
        texts=texts,
    )
    models: Any = WordModels()
    apart = evaluate(
        TextBenchmark("one", VIDEOS, QUERIES, lambda *_: EmbeddedVideos(embedded(*VIDEOS)), {}),
        [System("words")],
        models,
    )
    report = evaluate(benchmark, [System("words")], models)
    metrics = dict(report.metrics["words"])
    assert metrics.pop("pair/accuracy") == 50
    assert metrics.pop("pair/accuracy verb") == 100
    # "not" is in no video: a tie.
    assert metrics.pop("pair/accuracy negated") == 0
    assert metrics == apart.metrics["words"]
    last = markdown(report).split("\n\n")[-2].splitlines()[0]
    heads = (
        "A and not B hard pairs",
        *(f"Caption and foil {name}" for name in ("accuracy", "negated", "verb")),
    )
    assert last == f"|  | {' | '.join(heads)} |"
    assert csv_table(report).splitlines()[0].count("composed/hard_pairs,") == 1
