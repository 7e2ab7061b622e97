"""Results in notebooks: what is shown, that nothing from outside is markup, and how large it may get."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

import nt2vr
from nt2vr.notebook import COLOURS, MAX_PICTURE_BYTES, MAX_PICTURES, SHOWN
from nt2vr.search.answers import Answer, Ranking
from nt2vr.search.hits import Hit

EVIL = "<script>alert(1)</script>\" onerror='x' &amp; {{7*7}}"


class Tags(HTMLParser):
    """Collects the tags and texts of HTML."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(str(html))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def answer(video_id: str = "a", hits: int = 3) -> Answer:
    verdicts = ("right", "violation", "miss")
    clip_hits = tuple(Hit(f"{video_id}{n}", n + 1, 0.5, verdicts[n % 3]) for n in range(hits))  # type: ignore[arg-type]
    query = nt2vr.Query(EVIL, (EVIL,), (EVIL,))
    return Answer(
        query, (Ranking(nt2vr.System("CLIP"), clip_hits), Ranking(nt2vr.System(EVIL), clip_hits))
    )


def test_text_from_outside_is_no_markup() -> None:
    with_pictures = answer(EVIL).with_thumbnails(lambda _: b"jpeg")
    harmless_tags = set("div p b span table caption thead tbody tr th td img".split())
    for html in (with_pictures._repr_html_(), with_pictures.rankings[1]._repr_html_()):
        tags = Tags(html)
        assert EVIL in tags.text
        for tag, attributes in tags.tags:
            assert tag in harmless_tags
            assert not any(name.startswith("on") for name in attributes)


def test_pictures_are_in_the_page_with_their_clip_s_name() -> None:
    html = answer(EVIL).with_thumbnails(lambda _: b"jpeg")._repr_html_()
    pictures = [attributes for tag, attributes in Tags(html).tags if tag == "img"]
    assert len(pictures) == 6
    assert pictures[0]["alt"] == f"{EVIL}0"
    for picture in pictures:
        assert str(picture["src"]).startswith("data:image/jpeg;base64,anBlZw==")


def test_verdicts_have_their_colours() -> None:
    html = answer().rankings[0]._repr_html_()
    for name, label in (("right", "✓ right"), ("violation", "violates"), ("miss", "misses")):
        assert re.search(rf"<span style=.color:{COLOURS[name]}[^>]*>{label}</span>", html)


def test_an_answer_stays_small() -> None:
    long = replace(answer(), rankings=answer(hits=10_000).rankings[:1] * 8)
    html = long.with_thumbnails(lambda _: b"x" * MAX_PICTURE_BYTES)._repr_html_()
    assert html.count("<img") == MAX_PICTURES == 8 * 6
    assert len(html) < 2_200_000
    assert html.count("and 9,988 more") == 8
    assert SHOWN == 12


@pytest.mark.parametrize("picture", [None, b"x" * (MAX_PICTURE_BYTES + 1)], ids=["none", "large"])
def test_no_picture_and_too_large_ones_are_left_out(picture: bytes | None) -> None:
    html = answer().with_thumbnails(lambda _: picture)._repr_html_()
    assert "<img" not in html


def test_tables_for_pandas_have_a_row_per_hit() -> None:
    frame = answer().to_pandas()
    assert frame.shape == (6, 7)
    assert frame["system"].tolist() == ["CLIP"] * 3 + [EVIL] * 3
    assert frame["video_id"].tolist()[:3] == ["a0", "a1", "a2"]
    assert frame["rank"].tolist()[:3] == [1, 2, 3]


def test_tables_for_pandas_have_columns_without_hits() -> None:
    columns = answer(hits=0).rankings[0].to_pandas().columns.tolist()
    assert columns[:3] == ["system", "rank", "video_id"]
