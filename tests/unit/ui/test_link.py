"""Links to a search."""

from nt2vr.ui.link import DEFAULTS, link_values, read_link, read_strengths

NAMES = ["CLIP", "CLIP drop", "CLIP-bnl", "CLIP-neg", "CLIP boolean"]


def test_a_link_survives_being_written_and_read() -> None:
    values = {
        "q": "a dog, no cat", "gallery": "b21d01fd7844",
        "systems": ["CLIP drop", "CLIP"], "k": 6, "alpha": 0.8, "lambda": 2.5, "t": "",
        "weight": 0.25, "like": "clip1", "judged": "report:3", "literal": "kid|dogs", "parts": "a dog|cat, bird",
    }  # fmt: skip
    assert read_link({name: str(value) for name, value in link_values(values).items()}, NAMES) == values


def test_an_empty_link_gives_the_defaults_in_their_order() -> None:
    assert list(read_link({}, NAMES).items()) == list(DEFAULTS.items())


def test_impossible_values_are_dropped_or_limited() -> None:
    link = {"systems": "GPT|CLIP", "k": "1000", "alpha": "-1", "weight": "much"}
    read = read_link(link, NAMES)
    assert (read["systems"], read["k"], read["alpha"], read["weight"]) == (["CLIP"], 24, 0, 0.5)


def test_at_most_four_systems_are_compared() -> None:
    assert read_link({"systems": "|".join(NAMES)}, NAMES)["systems"] == NAMES[:4]


def test_a_strength_that_nobody_chose_is_in_no_link() -> None:
    assert not {"alpha", "lambda", "t"} & link_values(DEFAULTS).keys()
    assert link_values({**DEFAULTS, "lambda": "0"})["lambda"] == "0"
    assert read_strengths(("", "0", "7")) == {"anchored": 0, "spherical": 1}
    assert read_strengths(("much", "nan", "")) == {}


def test_a_link_names_a_reference_clip_only_if_there_is_one() -> None:
    assert "like" not in link_values(DEFAULTS)
