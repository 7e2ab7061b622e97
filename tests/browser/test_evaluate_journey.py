"""What a person does on the Evaluate tab, on the gallery with the shipped systems."""

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from playwright.sync_api import Browser, Page, Response, expect

from nt2vr.evaluation.jobs import READY_MARK
from tests.browser.conftest import fresh_page
from tests.conftest import RunningApp
from tests.support.page_actions import MODELS_MS, SHOWN, choose, held, submit

pytestmark = pytest.mark.browser

# The models must be loaded, and the gallery embedded.
WAIT_MS = 240_000
# Of the systems offered; the others' models are loaded for the search already.
LEFT_OUT = (
    "CLIP-con",
    "CLIP boolean",
)


def open_tab(page: Page) -> None:
    page.get_by_role("tab", name="Evaluate").click()


@pytest.fixture
def reports(running_app: RunningApp) -> Iterator[Path]:
    """The app's report folder, without reports."""
    folder = running_app.data / "evaluation" / "reports"
    shutil.rmtree(folder, ignore_errors=True)
    yield folder
    shutil.rmtree(folder)


@pytest.mark.slow
def test_evaluate_read_filter_search_return_and_delete(
    own_page: Page, chromium: Browser, running_app: RunningApp, reports: Path, tmp_path: Path
) -> None:
    page = own_page
    page.goto(running_app.url)
    open_tab(page)
    leave_systems_out(page)
    start_cancel_and_start_again(page)
    expect(page.locator(".nt-table")).to_have_count(3, timeout=WAIT_MS)
    check_the_report(page, running_app)
    open_the_first_query(page)

    find_it_in_a_new_session(chromium, running_app)
    page.reload()
    open_tab(page)
    expect(page.locator(".nt-table")).to_have_count(3)
    evaluate_again(page)
    delete_the_report(page)
    assert list(reports.iterdir()) == []

    evaluate_a_missing_folder(page, tmp_path / "nowhere")
    assert "Traceback" not in running_app.log.read_text()


def open_the_first_query(page: Page) -> None:
    """Open the first query of the list, and from there in Search, which shows what was compared."""
    text, relevant_ids = filter_the_queries(page)
    page.locator(".nt-listed a").first.click()
    expect(page.locator(".nt-question")).to_have_text(text)
    parameters = parse_qs(urlsplit(page.url).query)
    compared = [parameters["first"][0], parameters["second"][0]]

    page.get_by_role("link", name="Open in Search").click()
    expect(page.locator("#query textarea")).to_have_value(text)
    check_the_marks(page, relevant_ids, compared)


def find_it_in_a_new_session(chromium: Browser, app: RunningApp) -> None:
    with fresh_page(chromium, app.url) as page:
        page.goto(f"{app.url}?systems=CLIP&k=4")
        open_tab(page)
        expect(page.locator(".nt-table")).to_have_count(3)


def evaluate_again(page: Page) -> None:
    """Start the same evaluation again, whose report replaces the first."""
    page.locator("#evaluate-new").click()
    leave_systems_out(page)
    page.locator("#evaluate-start").click()
    # This is the evaluation or its report: all values are stored, so it may be done.
    page.locator(".nt-run").first.click()
    expect(page.locator(".nt-table").first).to_be_visible(timeout=WAIT_MS)
    expect(page.locator(".nt-run")).to_have_count(1)


def delete_the_report(page: Page) -> None:
    """Ask to delete the report and keep it, ask and turn away, and then delete it."""
    page.locator("#evaluate-delete").click()
    page.locator("#evaluate-keep").click()
    page.locator("#evaluate-delete").click()
    page.locator("#evaluate-new").click()
    page.locator(".nt-run").click()
    expect(page.locator(".nt-table").first).to_be_visible()
    # A question about another view is not asked here.
    expect(page.locator("#evaluate-confirm")).to_be_hidden()

    page.locator("#evaluate-delete").click()
    page.locator("#evaluate-delete-now").click()
    expect(page.locator("#evaluate-form")).to_be_visible()
    expect(page.locator(".nt-run")).to_have_count(0)


def evaluate_a_missing_folder(page: Page, folder: Path) -> None:
    page.locator("#evaluate-data input").fill(str(folder))
    page.locator("#evaluate-data input").press("Enter")
    page.locator("#evaluate-start").click()
    expect(page.locator("#evaluate-job .nt-error")).to_contain_text(folder.name)


def leave_systems_out(page: Page) -> None:
    for system in LEFT_OUT:
        page.locator("#evaluate-systems .token", has_text=system).locator(".token-remove").click()


def start_cancel_and_start_again(page: Page) -> None:
    job = page.locator("#evaluate-job")
    start = page.locator("#evaluate-start")
    start.click()
    expect(job).to_contain_text("evaluating")
    expect(start).to_be_disabled()
    page.locator("#evaluate-cancel").click()
    expect(job).to_contain_text("cancelled", timeout=WAIT_MS)
    start.click()
    expect(job).to_contain_text("evaluating")
    # The evaluation goes on without the page.
    page.reload()
    open_tab(page)


def check_the_report(page: Page, app: RunningApp) -> None:
    table = page.locator(".nt-table")
    lines = table.first.locator("tbody th")
    systems = ["CLIP", "CLIP drop", "CLIP-bnl", "CLIP-neg"]
    expect(lines).to_contain_text(["oracle", *systems])
    clip_neg = table.nth(1).locator("tr", has_text="CLIP-neg")
    expect(clip_neg.locator("td").first).to_have_class("nt-best")
    expect(page.locator(".nt-findings li")).to_have_count(3)

    panels = page.locator(".nt-panel")
    expect(panels).to_have_count(3)
    expect(panels.nth(0).locator("th")).to_have_text(systems)
    expect(panels.nth(1).locator("th")).to_have_text(systems)
    # Plain captions have nothing to drop.
    expect(panels.nth(2).locator("th")).to_have_text(["CLIP", "CLIP-bnl", "CLIP-neg"])

    explained = page.locator(".nt-explains").first
    page.locator(".nt-term", has_text="MIR").first.focus()
    expect(explained).to_contain_text("MIR: Mean inverted rank")
    page.locator(".nt-term", has_text="zero-shot").first.click()
    expect(explained).to_contain_text("zero-shot: A model as it was pre-trained")
    # These are its card's notes.
    meanings = page.locator(".nt-report .nt-meanings").last
    expect(meanings).to_contain_text("CLIP-bnl: The paper finds")

    href = page.get_by_role("link", name="queries.csv").get_attribute("href")
    answer = httpx.get(f"{app.url}{href}")
    assert answer.status_code == 200
    assert answer.text.startswith("kind,text,cue,wanted,unwanted,num_relevant,CLIP,")


def filter_the_queries(page: Page) -> tuple[str, list[str]]:
    """Turn pages, sort and filter; return text and relevant videos of the first query of the unfiltered list."""
    rows = page.locator(".nt-listed:not(.nt-heads)")
    expect(rows).to_have_count(20)
    expect(rows.first).to_contain_text("A and not B")
    first_text = rows.first.locator("a").inner_text()
    page.get_by_role("link", name="next").click()
    expect(page.locator(".nt-list")).to_contain_text("page 2 of")
    choose(page, "evaluate-order", "worsened")
    expect(page.locator(".nt-list")).to_contain_text("page 1 of")
    expect(rows.first.locator(".nt-by")).to_have_class(re.compile("nt-down"))
    choose(page, "evaluate-kind", "negated")
    expect(rows.first).to_contain_text("negated")
    choose(page, "evaluate-kind", "A and not B")
    choose(page, "evaluate-order", "improved")
    expect(rows.first.locator("a")).to_have_text(first_text)
    page.get_by_label("fails everywhere").check()
    expect(rows.first.locator("a")).not_to_have_text(first_text)
    page.get_by_label("fails everywhere").uncheck()
    expect(rows.first.locator("a")).to_have_text(first_text)
    return first_text, rows.first.locator("code").all_text_contents()


def check_the_marks(page: Page, relevant_ids: list[str], systems: list[str]) -> None:
    """Search shows the systems that were compared, and marks the relevant clips of the query that was opened alone."""
    expect(page.locator(".nt-legend")).to_contain_text(
        "relevant in the evaluation", timeout=WAIT_MS
    )
    data_columns = page.locator("[data-column]")
    expect(data_columns).to_have_count(2)
    assert [column.get_attribute("data-column") for column in data_columns.all()] == systems
    marked = page.locator(".nt-clip", has=page.locator(".nt-judged"))
    marked_ids = {clip.get_attribute("data-id") for clip in marked.all()}
    assert not marked_ids.isdisjoint(relevant_ids)

    legend = page.locator(".nt-legend")
    page.locator("[data-flip]:visible").first.click()
    # Without its negation it is another query.
    expect(legend).to_have_count(0)
    page.locator("[data-flip]:visible").first.click()
    expect(legend).to_contain_text("relevant in the evaluation")
    submit(page, "a dog")
    expect(page.locator(".nt-legend")).to_have_count(0)


@contextmanager
def first_request_held(page: Page) -> Iterator[None]:
    """Open the tab, and hold its first request until the end of the block; then wait for the answer."""
    page.evaluate(SHOWN, [1, MODELS_MS])
    with held(page, "**/gradio_api/queue/join*", '"data":["?') as opening:
        open_tab(page)
        opening.wait_for_one()
        yield
        page.wait_for_timeout(500)
    page.evaluate("shown")


@contextmanager
def the_ready_report(reports: Path) -> Iterator[None]:
    """Have the app add the report that comes with it, as on the first opening of the tab."""
    mark = reports.parent / READY_MARK
    mark.unlink()
    try:
        yield
    finally:
        mark.touch()


def test_the_tab_opens_with_a_report_that_is_ready(
    own_page: Page, running_app: RunningApp, reports: Path
) -> None:
    with the_ready_report(reports):
        own_page.goto(running_app.url)
        open_tab(own_page)
        expect(own_page.locator(".nt-report h3")).to_contain_text("The built-in gallery")
        expect(own_page.locator(".nt-findings li").first).to_have_text(
            "When a query excludes a thing (“a doctor without a hut”), CLIP ranks a clip with it above one without "
            "it in 87 of 100 pairs; CLIP-neg in 8."
        )
        expect(own_page.locator("#evaluate-form")).to_be_hidden()
        own_page.set_viewport_size({"width": 390, "height": 844})
        own_page.locator(".nt-term", has_text="MIR").first.click()
        expect(own_page.locator(".nt-explains").first).to_contain_text("MIR: Mean inverted rank")
        assert own_page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


@pytest.mark.slow
def test_a_late_report_replaces_no_new_evaluation(
    own_page: Page, running_app: RunningApp, reports: Path
) -> None:
    page = own_page
    with the_ready_report(reports):
        page.goto(f"{running_app.url}?systems=CLIP&k=4")
        page.evaluate(SHOWN, [1, MODELS_MS])
        # The report is read from its archive meanwhile.
        open_tab(page)
        page.locator("#evaluate-new").click()
        page.evaluate("shown")
        expect(page.locator("#evaluate-form")).to_be_visible()
        expect(page.locator("#evaluate-systems .token")).not_to_have_count(0)
        expect(page.locator(".nt-report")).to_have_count(0)
        page.locator("#evaluate-new").click()
        expect(page.locator("#evaluate-form")).to_be_visible()


@pytest.mark.slow
def test_a_click_before_the_first_answer_wins(
    own_page: Page, running_app: RunningApp, reports: Path
) -> None:
    page = own_page
    refusals: list[str] = []

    def note_refusal(answer: Response) -> None:
        if not answer.ok:
            refusals.append(answer.url)

    page.on("response", note_refusal)
    with the_ready_report(reports):
        page.goto(f"{running_app.url}?systems=CLIP&k=4")
        with first_request_held(page):
            page.locator("#evaluate-new").click()
        expect(page.locator("#evaluate-form")).to_be_visible()
        expect(page.locator(".nt-report h3")).to_have_count(0)
        assert urlsplit(page.url).query == "report="
        assert refusals == []


@pytest.mark.slow
def test_a_report_picked_before_an_answer_stays(
    own_page: Page, running_app: RunningApp, reports: Path
) -> None:
    page = own_page
    with the_ready_report(reports):
        page.goto(f"{running_app.url}?systems=CLIP&k=4")
        open_tab(page)
        expect(page.locator(".nt-report h3")).to_be_visible()
        (folder,) = [path for path in reports.iterdir() if path.is_dir()]
        shutil.copytree(folder, folder.with_name(f"{folder.name}-2"))
        page.locator("#evaluate-new").click()
        runs = page.locator(".nt-run")
        expect(runs).to_have_count(2)
        page.get_by_role("tab", name="Search").click()
        with first_request_held(page):
            runs.nth(1).click()
        expect(runs.nth(1)).to_have_class(re.compile("nt-chosen"))
        expect(page.locator(".nt-report h3")).to_be_visible()
