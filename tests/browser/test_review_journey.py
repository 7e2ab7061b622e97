"""What a person does with the queries of a report; its results are made up, so no model is asked for them."""

import re
from collections.abc import Iterator

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from nt2vr.evaluation.archive import Archive
from nt2vr.evaluation.embed_media import EmbeddedVideos
from nt2vr.evaluation.measures import FIRST_PAGE, Measured
from nt2vr.evaluation.queries import JudgedQuery, row_array
from nt2vr.evaluation.report import Report, Result
from nt2vr.evaluation.text_benchmark import TextBenchmark
from nt2vr.media.gallery import load_gallery
from nt2vr.settings import ASSETS
from tests.conftest import RunningApp
from tests.support.page_actions import MODELS_MS, choose, follow, follow_report, held

pytestmark = pytest.mark.browser

NUM_QUERIES = 100
# The systems, and the seeds of their results.
SYSTEMS = {"CLIP": 1, "CLIP-neg": 2, "CLIP-bnl": 3}


def result_of(system: str) -> Result:
    """Return made-up results of a system, the same each time."""
    rng = np.random.default_rng(SYSTEMS[system])
    ordered, tied, violations = rng.random((3, NUM_QUERIES), np.float32)
    all_rows = np.tile(np.arange(400, dtype=np.int32), (NUM_QUERIES, 1))
    first_page = rng.permuted(all_rows, axis=1)[:, :FIRST_PAGE]
    ranks = rng.integers(1, 400, NUM_QUERIES).astype(np.int32)
    measured = Measured(ranks, ordered, tied, violations, first_page)
    settings = {"model": system, "strategy": "plain", "seed": SYSTEMS[system]}
    return Result(system, settings, measured)


def query_about(number: int) -> JudgedQuery:
    """Return a query for one video; half of them have "not", and the others "without"."""
    wanted = f"a man is reading book {number}"
    cue = "not" if number % 2 else "without"
    return JudgedQuery(
        "composed",
        f"{wanted} and not dancing",
        row_array([number]),
        violating=row_array(range(200, 300)),
        wanted=wanted,
        unwanted=("dancing",),
        cue=cue,
    )


def report_of(*systems: str) -> Report:
    videos = load_gallery(ASSETS / "gallery" / "gallery.jsonl").videos
    video_ids = tuple(video.video_id for video in videos)
    queries = tuple(query_about(number) for number in range(NUM_QUERIES))
    embedded = EmbeddedVideos(np.zeros((0, 0), np.float32))
    benchmark = TextBenchmark("made up", video_ids, queries, lambda *_: embedded, {})
    return benchmark.report([result_of(system) for system in systems])


@pytest.fixture
def report_id(running_app: RunningApp) -> Iterator[str]:
    """A report, and another one on the same queries."""
    archive = Archive(running_app.data / "evaluation" / "reports")
    report = archive.add(report_of("CLIP", "CLIP-neg"))
    same_queries = archive.add(report_of("CLIP", "CLIP-bnl"))
    yield report
    archive.delete(report)
    archive.delete(same_queries)


def rows(page: Page) -> Locator:
    return page.locator(".nt-query a[data-show]")


def review(page: Page) -> Locator:
    return page.get_by_role("dialog", name="Review")


def progress(page: Page) -> Locator:
    return page.locator(".nt-review header b")


def open_the_second_page(page: Page, url: str) -> None:
    """Open a report's queries with "not" in the order of how much they became worse, at the second page."""
    page.goto(url)
    expect(rows(page)).to_have_count(20, timeout=MODELS_MS)
    choose(page, "evaluate-order", "worsened")
    choose(page, "evaluate-cue", "not (50)")
    expect(page.locator(".nt-list")).to_contain_text("50 of 100 queries")
    page.get_by_role("link", name="next").click()
    expect(page.locator(".nt-list")).to_contain_text("page 2 of 3")


def scroll_down(page: Page) -> float:
    """Scroll to the tenth query; return how far."""
    rows(page).nth(9).scroll_into_view_if_needed()
    page.wait_for_function("history.state?.scroll === scrollY")
    scroll: float = page.evaluate("scrollY")
    assert scroll > 0
    expect(page.locator("img.nt-thumb[src$='.webp']")).to_have_count(40)
    return scroll


def review_a_query_and_its_neighbour(page: Page, texts: list[str]) -> None:
    question = page.locator(".nt-question")
    rows(page).nth(9).click()
    expect(question).to_have_text(texts[9])
    expect(progress(page)).to_have_text("query 30 of 50")
    for side in page.locator(".nt-sides section").all():
        expect(side.locator("video")).to_have_count(6)

    page.keyboard.press("ArrowRight")
    expect(question).to_have_text(texts[10])
    page.keyboard.press("ArrowLeft")
    expect(progress(page)).to_have_text("query 30 of 50")


def write_a_tag_and_a_note(page: Page) -> None:
    review(page).get_by_label("Tag").fill("ambiguous")
    page.keyboard.press("Tab")
    page.keyboard.type("who ", delay=20)
    # The tag is saved while the note is being typed.
    expect(page.locator(".nt-saved")).to_have_text("saved")
    expect(page.locator(".nt-listed .nt-tag")).to_have_text("ambiguous")

    page.keyboard.type("dances?", delay=20)
    # This moves the caret.
    page.keyboard.press("ArrowLeft")
    # This leaves the field, which saves it.
    page.keyboard.press("Escape")
    expect(page.locator(".nt-saved")).to_have_text("saved")
    expect(page.locator(".nt-listed .nt-query i")).to_have_text("who dances?")


def search_for_something_else_and_come_back(page: Page) -> None:
    follow(page)
    expect(review(page)).not_to_be_visible()
    follow_report(page)
    expect(progress(page)).to_have_text("query 30 of 50")
    expect(review(page).get_by_label("Note")).to_have_value("who dances?")
    expect(review(page).get_by_label("Tag")).to_have_value("ambiguous")


def open_it_in_search(page: Page) -> None:
    """Open the query in Search: the review is closed, so that one can type there."""
    page.get_by_role("link", name="Open in Search").click()
    legend = page.locator(".nt-legend")
    expect(legend).to_contain_text("relevant in the evaluation", timeout=MODELS_MS)
    page.locator("#query textarea").focus()
    expect(page.locator("#query textarea")).to_be_focused()


@pytest.mark.slow
def test_step_through_queries_write_a_note_and_come_back(
    own_page: Page, running_app: RunningApp, report_id: str
) -> None:
    page = own_page
    open_the_second_page(page, f"{running_app.url}?report={report_id}")
    url_of_list = page.url
    scroll = scroll_down(page)
    texts = rows(page).all_inner_texts()

    review_a_query_and_its_neighbour(page, texts)
    write_a_tag_and_a_note(page)
    search_for_something_else_and_come_back(page)
    open_it_in_search(page)

    # Back to the review, and from there to the list, where it was left.
    page.go_back()
    expect(review(page)).to_be_visible()
    expect(page.locator(".nt-question")).to_have_text(texts[9])
    page.go_back()
    expect(review(page)).not_to_be_visible()
    assert page.url == url_of_list
    expect(page.locator("#evaluate-cue input")).to_have_value("not (50)")
    expect(page.locator(".nt-list")).to_contain_text("page 2 of 3")
    page.wait_for_function("scroll => Math.abs(scrollY - scroll) < 2", arg=scroll)
    expect(page.locator(".nt-listed .nt-tag")).to_have_text("ambiguous")


@pytest.mark.slow
def test_find_queries_review_one_and_return_from_another_tab(page: Page, report_id: str) -> None:
    follow_report(page, f"?report={report_id}")
    expect(rows(page)).to_have_count(20)
    click_twice_quickly(page)
    page.locator("#evaluate-find textarea").press_sequentially("book 7")
    expect(page.locator(".nt-list")).to_contain_text("19 of 100 queries")
    # An answer to an older click must not show it.
    expect(review(page)).not_to_be_visible()
    expect(page).not_to_have_url(re.compile("query="))

    choose(page, "evaluate-second", "CLIP")
    expect(page.locator(".nt-heads")).to_have_text(re.compile("CLIP$"))
    expect(page.locator(".nt-list")).to_contain_text("19 of 100 queries")

    rows(page).first.click()
    expect(page.locator(".nt-sides h3").nth(1)).to_contain_text("CLIP")
    page.keyboard.press("Escape")
    expect(page.locator("dialog[open]")).to_have_count(0)
    expect(rows(page).first).to_be_focused()

    page.get_by_role("tab", name="Search").click()
    expect(page).to_have_url(re.compile(r"\?q="))
    page.get_by_role("tab", name="Evaluate").click()
    expect(page).to_have_url(re.compile("find=book"))
    expect(page.locator(".nt-list")).to_contain_text("19 of 100 queries")


def click_twice_quickly(page: Page) -> None:
    """Of two clicks the newer one decides what is shown."""
    rows(page).first.click()
    expect(progress(page)).to_contain_text("query 1 of")
    with held(page, "**/gradio_api/queue/join*") as answers:
        page.keyboard.press("ArrowRight")
        answers.wait_for_one()
        page.get_by_role("button", name="Next query").click()
        page.keyboard.press("Escape")
    expect(review(page)).not_to_be_visible()
