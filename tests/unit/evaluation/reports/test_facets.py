"""What a query's unwanted part is about."""

import pytest

from nt2vr.evaluation.benchmark import JudgedQuery, row_array
from nt2vr.evaluation.reports.facets import Facets, query_facets


def facets(text: str, *unwanted: str, in_world: bool = False) -> Facets:
    return query_facets(JudgedQuery("composed", text, row_array([0]), wanted="a man", unwanted=unwanted), in_world)


@pytest.mark.parametrize(
    ("unwanted", "part", "concepts"),
    [
        ("playing the flute", "deed", ("flute",)),
        ("painting", "deed", ("painting",)),
        ("a dog", "thing", ("dog",)),
        ("a present", "thing", ("present",)),
        ("on stage", "thing", ("stage",)),
        ("wearing a hat", "attribute", ("hat",)),
        ("sad", "attribute", ("sad",)),
        ("red", "attribute", ("red",)),
        ("Red", "attribute", ("red",)),
        ("!!!", "", ()),
        ("the", "", ()),
    ],
)
def test_an_unwanted_part_is_a_deed_a_thing_or_an_attribute(
    unwanted: str, part: str, concepts: tuple[str, ...]
) -> None:
    found = facets(f"a man, but not {unwanted}", unwanted)
    assert (found.part, found.concepts) == (part, concepts)


def test_in_the_built_in_world_synonyms_are_one_concept() -> None:
    assert facets("not playing a fiddle", "playing a fiddle", in_world=True).concepts == ("violin",)
    assert facets("no dark glasses", "dark glasses", in_world=True) == Facets("no", "thing", ("sunglasses",))
    assert facets("no dark glasses on", "wearing dark glasses", in_world=True).part == "attribute"
    assert facets("no quokka", "a quokka", in_world=True) == Facets("no", "thing", ("quokka",))  # unknown to it


def test_the_first_part_decides_the_kind_and_all_parts_the_concepts() -> None:
    found = facets("a man, neither a dog nor singing", "a dog", "singing")
    assert found == Facets("neither", "thing", ("dog", "sing"))


def test_a_caption_and_a_query_of_unknown_parts_have_none() -> None:
    assert query_facets(JudgedQuery("original", "a man with no hat", row_array([0]))) == Facets()
    assert query_facets(JudgedQuery("composed", "a man with no hat", row_array([0]))) == Facets("no")
