"""How a person finds out why: the scores of one clip taken apart, and a report's breakdown."""

import re
import shutil
from collections.abc import Iterator

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from nt2vr.evaluation.archive import Archive
from nt2vr.evaluation.embed_media import EmbeddedVideos
from nt2vr.evaluation.measures import Measured
from nt2vr.evaluation.queries import JudgedQuery, row_array
from nt2vr.evaluation.report import Result
from nt2vr.evaluation.text_benchmark import TextBenchmark
from tests.conftest import RunningApp
from tests.support.page_actions import choose, columns, follow, follow_report

pytestmark = pytest.mark.browser


@pytest.mark.slow
def test_best_frames_are_large_and_within_their_card(loaded_page: Page) -> None:
    page = loaded_page
    follow(page, "?q=two+penguins+but+no+tree")
    columns(page).first.locator(".nt-clip").first.press("Enter")
    frames = page.locator(".nt-frames > *")
    # Three of each system.
    expect(frames).to_have_count(9)
    for width, least in ((390, 90), (700, 100), (960, 70), (1440, 100)):
        page.set_viewport_size({"width": width, "height": 800})
        card = page.locator(".nt-detail").bounding_box()
        assert card is not None
        for frame in frames.all():
            place = frame.bounding_box()
            assert place is not None and place["width"] >= least, width
            assert place["x"] + place["width"] <= card["x"] + card["width"], width


@pytest.mark.slow
def test_a_clip_that_was_closed_opens_again(loaded_page: Page) -> None:
    page = loaded_page
    follow(page)
    clip = columns(page).first.locator(".nt-clip").first
    dialog = page.get_by_role("dialog")
    for _ in range(2):
        clip.press("Enter")
        expect(dialog.locator("tr")).to_have_count(3)
        page.keyboard.press("Escape")
        expect(page.locator(".nt-detail")).to_have_count(0)


@pytest.mark.slow
def test_arrows_step_through_enlarged_clips_of_a_column(page: Page) -> None:
    clips = columns(page).first.locator(".nt-clip")
    ids = [clip.get_attribute("data-id") for clip in clips.all()]
    clips.first.press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_have_accessible_name(re.compile(f"^Clip {ids[0]}"))
    for key, shown in (("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1)):
        page.keyboard.press(key)
        expect(dialog).to_have_accessible_name(re.compile(f"^Clip {ids[shown]}"))
    page.keyboard.press("Escape")
    expect(clips.nth(1)).to_be_focused()


@pytest.mark.slow
def test_a_score_is_explained_and_shown_on_the_map(page: Page, running_app: RunningApp) -> None:
    query = "a street but not cars"
    follow(page, f"?q={query.replace(' ', '+')}&systems=CLIP|CLIP+boolean|CLIP-neg&k=4")
    columns(page).first.locator(".nt-clip").first.press("Enter")
    dialog = page.get_by_role("dialog")
    # It comes only on demand.
    expect(dialog.locator(".nt-why")).to_have_count(0)
    why = dialog.get_by_role("button", name="Why?")
    why.press("Enter")
    plain, split = (
        dialog.get_by_role("article", name=name, exact=True) for name in ("CLIP", "CLIP boolean")
    )
    expect(plain.locator(".nt-shares span")).to_have_text(
        [re.compile(f"^{word}") for word in query.split()]
    )
    # A second Enter does not close the clip.
    expect(why).to_be_focused()
    # Of the systems that differ most: CLIP ranks it first, CLIP-neg far behind.
    effects = dialog.locator(".nt-effect")
    expect(effects).to_have_text(
        [re.compile(r"^“but not” added −0\.022"), re.compile(r"^“but not” added −0\.072")]
    )
    # It takes the place of the first.
    dialog.get_by_role("button", name="CLIP boolean").click()
    expect(split.locator(".nt-scored li")).to_have_count(4)
    contributions = (
        split.locator("tr", has_not_text="alone").locator("td:last-child").all_inner_texts()
    )
    total = sum(float(text.replace("−", "-")) for text in contributions)
    assert total == pytest.approx(
        float(split.locator("h3 b").inner_text().replace("−", "-")), abs=0.002
    )
    expect(split).to_contain_text("adds up to the score")

    expect(dialog.get_by_role("article")).to_have_count(2)
    expect(dialog.get_by_role("article", name="CLIP-neg")).to_be_visible()
    expect(plain).to_have_count(0)
    dialog.get_by_role("button", name="Which caption fits?").click()
    lines = dialog.get_by_role("textbox", name="Captions, one per line")
    expect(dialog.locator(".nt-match article")).to_have_count(3)
    expect(dialog.locator(".nt-match article").first.locator("tr")).to_have_count(2)
    lines.fill("a woman is riding a horse\na hippo")
    # The letter is typed, and does not go on to the next clip.
    lines.press("n")
    dialog.get_by_role("button", name="swap who").click()
    expect(dialog.locator(".nt-match article").first.locator("tr")).to_have_count(3)
    expect(lines).to_have_value(
        re.compile("^a woman is riding a horse\na hippon\n.+ is riding a horse$")
    )
    lines.evaluate("box => box.blur()")
    # The next clip has its own reasons.
    page.keyboard.press("n")
    expect(dialog.locator(".nt-why")).to_have_count(0)
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)

    assert "Traceback" not in running_app.log.read_text()


@pytest.fixture
def report(running_app: RunningApp) -> Iterator[str]:
    """The app's only report: B orders more pairs about dogs than A, and as many about cats."""
    folder = running_app.data / "evaluation" / "reports"
    shutil.rmtree(folder, ignore_errors=True)
    queries = [
        JudgedQuery(
            "composed",
            f"a girl, {cue} {thing}",
            row_array([n]),
            cue=cue,
            unwanted=(thing,),
            wanted="a girl",
        )
        for n, (cue, thing) in enumerate([("not", "a dog"), ("without", "a cat")] * 12)
    ]
    ranks = np.ones(24, np.int32)
    none = np.full(24, np.nan, np.float32)
    benchmark = TextBenchmark(
        "pets",
        tuple(map(str, range(24))),
        tuple(queries),
        lambda *_: EmbeddedVideos(np.ones((1, 1), "f4")),
        {},
    )
    results = [
        Result(
            name,
            {"model": name, "strategy": "plain"},
            Measured(ranks, np.array(orders, np.float32), none, none),
        )
        for name, orders in (("A", [0.0, 0.5] * 12), ("B", [1.0, 0.25, 0.9, 0.75] * 6))
    ]
    yield Archive(folder).add(benchmark.report(results))
    shutil.rmtree(folder)


@pytest.mark.slow
def test_a_report_shows_certainty_and_where_systems_differ(
    page: Page, running_app: RunningApp, report: str
) -> None:
    follow_report(page, f"?report={report}")
    expect(page.locator(".nt-table td small").first).to_have_text(re.compile(r"^±\d"))
    page.get_by_text("Breakdown:").click()
    rows = page.locator("#evaluate-groups").get_by_role("row")
    # All measures at first.
    expect(rows.filter(has_text="A and not B hard pairs").first).to_contain_text("better")
    choose(page, "evaluate-measure", "A and not B: hard pairs")
    expect(rows.filter(has_text="not").first).to_contain_text("95.0")
    expect(rows.filter(has_text="not").first).to_contain_text("better")
    expect(rows.filter(has_text="without").first).to_contain_text("within noise")
    choose(page, "evaluate-first", "B")
    choose(page, "evaluate-second", "A")
    expect(rows.filter(has_text="not").first).to_contain_text("worse")
    choose(page, "evaluate-measure", "Composed: MIR")
    expect(rows.nth(1)).to_contain_text("within noise")
    assert "Traceback" not in running_app.log.read_text()
