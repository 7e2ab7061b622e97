"""Queries for what is absent: "A without N" and "not B", with truth from captions alone."""

from collections.abc import Mapping, Sequence

from nt2vr.negation.generate.absences import AbsenceQuery, Absences
from nt2vr.negation.generate.build import read_content

CAPTIONS: Mapping[str, Sequence[str]] = {
    "alone": ["a man plays the guitar", "a man plays the guitar on a stage"],
    "dog": ["a man plays the guitar with a dog", "a dog is in the picture"],
    "puppy": ["a man plays the guitar", "a puppy sleeps"],
    "cat": ["a woman sings", "a cat sits on a chair"],
    "more dogs": ["two dogs run", "a dog runs on the grass"],
    "band": ["a man plays the guitar", "a boy sings in a band", "a woman sings"],
}


def written(captions: Mapping[str, Sequence[str]] = CAPTIONS, seed: int = 1) -> list[AbsenceQuery]:
    return list(
        Absences({name: read_content(texts) for name, texts in captions.items()}).write(seed)
    )


def test_any_word_for_the_thing_makes_a_video_irrelevant() -> None:
    dogs = {"dog", "puppy", "more dogs"}
    queries = [query for query in written() if query.unwanted in {"a dog", "a puppy", "dogs"}]
    assert {query.kind for query in queries} == {"without", "not"}
    for query in queries:
        assert not set(query.video_ids) & dogs and set(query.violating_ids) == dogs, query
    without = next(query for query in queries if query.kind == "without")
    assert without.wanted == "a man is playing the guitar"
    assert set(without.video_ids) == {"alone", "band"}
    assert set(without.hard_ids) == {"dog", "puppy"}
    assert without.caption.startswith(f"{without.wanted} ")
    assert without.caption.endswith(("dog", "puppy"))


def test_every_query_has_relevant_and_hard_videos() -> None:
    queries = written()
    assert len({query.caption for query in queries}) == len(queries)
    for query in queries:
        assert query.video_ids
        assert query.violating_ids
        assert query.hard_ids
        assert not set(query.video_ids) & {*query.hard_ids, *query.violating_ids}
        assert (query.kind == "not") == (query.wanted == "")


def without_singing(queries: Sequence[AbsenceQuery]) -> list[AbsenceQuery]:
    """Return the queries that are "not singing" and nothing else."""
    denials = [query for query in queries if query.kind == "not"]
    return [query for query in denials if query.unwanted == "singing"]


def test_an_action_is_absent_where_no_related_word_is_said() -> None:
    # Two videos of a person who sings are too few.
    assert without_singing(written()) == []

    more = {**CAPTIONS, "duet": ["a man sings"], "karaoke": ["a karaoke evening"]}
    (query,) = without_singing(written(more))
    assert set(query.hard_ids) == {"cat", "band", "duet"}
    # At a karaoke evening, people may sing.
    assert set(query.video_ids) == {
        "alone",
        "dog",
        "puppy",
        "more dogs",
    }


def test_equal_seeds_write_equal_queries_and_never_deny_people() -> None:
    assert written(seed=3) == written(seed=3)
    assert written(seed=3) != written(seed=4)
    for query in written():
        assert {"man", "woman", "boy"}.isdisjoint(query.unwanted.split())
