"""How a person finds out why: the scores of one clip taken apart, and a report's breakdown."""

import re
import shutil
from collections.abc import Iterator

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from nt2vr.evaluation.archive import Archive
from nt2vr.evaluation.embed_media import EmbeddedVideos
from nt2vr.evaluation.measures import Measured
from nt2vr.evaluation.queries import JudgedQuery, row_array
from nt2vr.evaluation.report import Result
from nt2vr.evaluation.text_benchmark import TextBenchmark
from tests.conftest import RunningApp
from tests.support.page_actions import choose, columns, follow, follow_report

pytestmark = pytest.mark.browser

STREET = "?q=a+street+but+not+cars&systems=CLIP|CLIP+boolean|CLIP-neg&k=4"


@pytest.mark.slow
def test_best_frames_are_large_and_within_their_card(loaded_page: Page) -> None:
    page = loaded_page
    follow(page, "?q=two+penguins+but+no+tree")
    columns(page).first.locator(".nt-clip").first.press("Enter")
    frames = page.locator(".nt-frames > *")
    # Three of each system.
    expect(frames).to_have_count(9)
    for width, least_width in ((390, 90), (700, 100), (960, 70), (1440, 100)):
        page.set_viewport_size({"width": width, "height": 800})
        card = page.locator(".nt-detail").bounding_box()
        assert card
        for frame in frames.all():
            bounds = frame.bounding_box()
            assert bounds
            assert bounds["width"] >= least_width, width
            assert bounds["x"] + bounds["width"] <= card["x"] + card["width"], width


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
    for key, number in (("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1)):
        page.keyboard.press(key)
        expect(dialog).to_have_accessible_name(re.compile(f"^Clip {ids[number]}"))
    page.keyboard.press("Escape")
    expect(clips.nth(1)).to_be_focused()


@pytest.fixture
def dialog(page: Page) -> Locator:
    """The first clip of a search, enlarged."""
    follow(page, STREET)
    columns(page).first.locator(".nt-clip").first.press("Enter")
    return page.get_by_role("dialog")


def number_of(text: str) -> float:
    """Read a number with a typographic minus."""
    return float(text.replace("−", "-"))


@pytest.mark.slow
def test_a_score_is_explained_by_words_and_parts(dialog: Locator) -> None:
    # It comes only on demand.
    expect(dialog.locator(".nt-why")).to_have_count(0)
    why = dialog.get_by_role("button", name="Why?")
    why.press("Enter")

    clip = dialog.get_by_role("article", name="CLIP", exact=True)
    words = [re.compile(f"^{word}") for word in ("a", "street", "but", "not", "cars")]
    expect(clip.locator(".nt-shares span")).to_have_text(words)
    # A second Enter does not close the clip.
    expect(why).to_be_focused()
    # Of the systems that differ most: CLIP ranks it first, CLIP-neg far behind.
    effects = [r"^“but not” added −0\.022", r"^“but not” added −0\.072"]
    expect(dialog.locator(".nt-effect")).to_have_text([re.compile(effect) for effect in effects])

    # It takes the place of the first.
    dialog.get_by_role("button", name="CLIP boolean").click()
    boolean = dialog.get_by_role("article", name="CLIP boolean", exact=True)
    expect(boolean.locator(".nt-scored li")).to_have_count(4)
    expect(boolean).to_contain_text("adds up to the score")
    rows = boolean.locator("tr", has_not_text="alone")
    contributions = [number_of(text) for text in rows.locator("td:last-child").all_inner_texts()]
    score = number_of(boolean.locator("h3 b").inner_text())
    assert sum(contributions) == pytest.approx(score, abs=0.002)
    expect(dialog.get_by_role("article")).to_have_count(2)
    expect(dialog.get_by_role("article", name="CLIP-neg")).to_be_visible()
    expect(clip).to_have_count(0)


@pytest.mark.slow
def test_captions_of_an_enlarged_clip_are_matched(
    page: Page, dialog: Locator, running_app: RunningApp
) -> None:
    dialog.get_by_role("button", name="Why?").press("Enter")
    dialog.get_by_role("button", name="Which caption fits?").click()
    tables = dialog.locator(".nt-match article")
    expect(tables).to_have_count(3)
    expect(tables.first.locator("tr")).to_have_count(2)

    lines = dialog.get_by_role("textbox", name="Captions, one per line")
    lines.fill("a woman is riding a horse\na hippo")
    # The letter is typed, and does not go on to the next clip.
    lines.press("n")
    dialog.get_by_role("button", name="swap who").click()
    expect(tables.first.locator("tr")).to_have_count(3)
    swapped = "^a woman is riding a horse\na hippon\n.+ is riding a horse$"
    expect(lines).to_have_value(re.compile(swapped))
    lines.evaluate("box => box.blur()")

    # The next clip has its own reasons.
    page.keyboard.press("n")
    expect(dialog.locator(".nt-why")).to_have_count(0)
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    assert "Traceback" not in running_app.log.read_text()


def result_of(system: str, ordered: list[float]) -> Result:
    """Return the results of a system that orders so much of each query's hard pairs."""
    ranks = np.ones(len(ordered), np.int32)
    unmeasured = np.full(len(ordered), np.nan, np.float32)
    measured = Measured(ranks, np.array(ordered, np.float32), unmeasured, unmeasured)
    return Result(system, {"model": system, "strategy": "plain"}, measured)


@pytest.fixture
def report(running_app: RunningApp) -> Iterator[str]:
    """The app's only report: B orders more pairs about dogs than A, and as many about cats."""
    folder = running_app.data / "evaluation" / "reports"
    shutil.rmtree(folder, ignore_errors=True)
    queries = []
    for row, (cue, thing) in enumerate([("not", "a dog"), ("without", "a cat")] * 12):
        text = f"a girl, {cue} {thing}"
        query = JudgedQuery(
            "composed", text, row_array([row]), cue=cue, unwanted=(thing,), wanted="a girl"
        )
        queries.append(query)
    videos = EmbeddedVideos(np.ones((1, 1), np.float32))
    video_ids = tuple(map(str, range(24)))
    benchmark = TextBenchmark("pets", video_ids, tuple(queries), lambda *_: videos, {})

    results = [result_of("A", [0.0, 0.5] * 12), result_of("B", [1.0, 0.25, 0.9, 0.75] * 6)]
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
    dogs = rows.filter(has_text="not").first
    cats = rows.filter(has_text="without").first
    expect(dogs).to_contain_text("95.0")
    expect(dogs).to_contain_text("better")
    expect(cats).to_contain_text("within noise")

    choose(page, "evaluate-first", "B")
    choose(page, "evaluate-second", "A")
    expect(dogs).to_contain_text("worse")

    choose(page, "evaluate-measure", "Composed: MIR")
    expect(rows.nth(1)).to_contain_text("within noise")
    assert "Traceback" not in running_app.log.read_text()
