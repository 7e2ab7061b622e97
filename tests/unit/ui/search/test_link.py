"""Links to a search."""

from nt2vr.ui.search.link import DEFAULTS, link_values, read_link, read_strengths

NAMES = ["CLIP", "CLIP drop", "CLIP-bnl", "CLIP-neg", "CLIP boolean"]


def test_a_link_survives_being_written_and_read() -> None:
    values = {
        "q": "a dog, no cat",
        "gallery": "b21d01fd7844",
        "systems": ["CLIP drop", "CLIP"],
        "k": 6,
        "alpha": 0.8,
        "lambda": 2.5,
        "t": "",
        "references": [{"clip": "clip1", "weight": 0.25, "wanted": True}],
        "judged": "report:3",
        "literal": "kid|dogs",
        "parts": "a dog|cat, bird",
    }
    assert read_link({name: str(value) for name, value in link_values(values).items()}, NAMES) == values


def test_an_empty_link_gives_the_defaults_in_their_order() -> None:
    assert list(read_link({}, NAMES).items()) == list(DEFAULTS.items())


def test_impossible_values_are_dropped_or_limited() -> None:
    link = {"systems": "GPT|CLIP", "k": "1000", "alpha": "-1", "like": "a|b|c", "weight": "much|inf|nan"}
    read = read_link(link, NAMES)
    assert (read["systems"], read["k"], read["alpha"]) == (["CLIP"], 24, 0)
    assert [each["weight"] for each in read["references"]] == [0.5, 1, 0.5]


def test_at_most_four_systems_are_compared() -> None:
    assert read_link({"systems": "|".join(NAMES)}, NAMES)["systems"] == NAMES[:4]


def test_a_strength_that_nobody_chose_is_in_no_link() -> None:
    assert not {"alpha", "lambda", "t"} & link_values(DEFAULTS).keys()
    assert link_values({**DEFAULTS, "lambda": "0"})["lambda"] == "0"
    assert read_strengths(("", "0", "7")) == {"anchored": 0, "spherical": 1}
    assert read_strengths(("much", "nan", "")) == {}


def test_a_link_names_references_only_if_there_are_any() -> None:
    assert not {"like", "unlike", "weight"} & link_values(DEFAULTS).keys()


def test_a_link_of_one_picture_reads_as_it_always_did() -> None:
    link = {"like": "clip1", "weight": "0.3"}
    assert read_link(link, NAMES)["references"] == [{"clip": "clip1", "weight": 0.3, "wanted": True}]
    assert read_link({"weight": "0.3"}, NAMES)["references"] == []


def test_a_link_keeps_which_clips_are_unwanted_and_every_weight_and_four_of_a_thousand() -> None:
    references = [
        {"clip": "a", "weight": 0.5, "wanted": True},
        {"clip": "b", "weight": 0.25, "wanted": True},
        {"clip": "c", "weight": 1.0, "wanted": False},
    ]
    link = link_values({**DEFAULTS, "references": [references[2], *references[:2]]})
    assert (link["like"], link["unlike"], link["weight"]) == ("a|b", "c", "0.5|0.25|1")
    assert read_link(link, NAMES)["references"] == references
    many = {"like": "|".join(f"clip{i}" for i in range(1000)), "unlike": "x|y", "weight": "0|" * 1000}
    assert [each["clip"] for each in read_link(many, NAMES)["references"]] == ["clip0", "clip1", "clip2", "clip3"]
