"""What a person does with references in examples, and with reports of pictures plus texts."""

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest
from playwright.sync_api import Page, expect

from nt2vr.evaluation.archive import Archive
from tests.conftest import RunningApp
from tests.support.old_composed_report import write_covr_file
from tests.support.page_actions import (
    ANSWERS,
    MODELS_MS,
    SHOWN,
    choose,
    columns,
    follow,
    follow_report,
    held,
    serious,
)

pytestmark = pytest.mark.browser


@pytest.fixture
def archive(running_app: RunningApp) -> Archive:
    """The app's reports; an old one of pictures plus texts, named "other", has been moved to them."""
    composed = running_app.data / "evaluation" / "composed"
    write_covr_file(composed, "other", created="2026-11-21T10:00:00+00:00")
    # The archive moves old reports when it is made.
    return Archive(running_app.data / "evaluation" / "reports")


@pytest.fixture
def my_report(archive: Archive) -> Iterator[str]:
    """A newer report of pictures plus texts, named "mine"."""
    (other,) = (entry for entry in archive.entries() if "other" in entry.report_id)
    report = archive.load(other.report_id)
    my_id = archive.add(replace(report, name="mine", created="2036-11-22T10:00:00+00:00"))
    yield my_id
    archive.delete(my_id)


@pytest.mark.slow
def test_examples_and_reported_queries_open_with_their_reference(
    page: Page, archive: Archive, my_report: str
) -> None:
    follow(page)
    open_an_example(page)
    read_the_report(page, my_report)
    open_a_reported_query(page)
    delete_the_other_report(page, my_report)
    assert [entry.report_id for entry in archive.entries()] == [my_report]
    fill_the_form(page)


def open_an_example(page: Page) -> None:
    examples = page.get_by_role("list", name="Examples with a reference")
    examples.get_by_text("without the bird").click()
    # CLIP, CLIP fusion, CLIP parts.
    expect(columns(page)).to_have_count(3)
    expect(page.locator(".nt-reference")).to_have_count(1)
    expect(page).to_have_url(re.compile("q=without\\+the\\+bird.*like=7a5f6ffed9"))
    expect(page.get_by_text("✓ next to a reference")).to_be_visible()
    assert serious(page) == []


def read_the_report(page: Page, report_id: str) -> None:
    follow_report(page, f"?report={report_id}")
    table = page.get_by_role("article", name=f"Report {report_id}")
    expect(table.get_by_role("columnheader", name="violations@5")).to_be_visible()
    expect(page.locator("#evaluate-breakdowns")).to_be_hidden()
    expect(table.get_by_role("link", name="table.csv")).to_be_visible()
    assert serious(page) == []
    expect(table.get_by_role("columnheader", name="R@1 by kind of change")).to_be_visible()


def open_a_reported_query(page: Page) -> None:
    """Choose a kind of change, and open its only query in Search, with its reference."""
    rows = page.locator(".nt-listed:not(.nt-heads)")
    expect(rows).to_have_count(3)
    choose(page, "evaluate-kind", "remove actor")
    expect(rows).to_have_count(1)
    expect(page).to_have_url(re.compile("kind=remove\\+actor"))

    page.locator("#evaluate-queries").get_by_role("link", name="without the dog").click()
    expect(page.locator("#query textarea")).to_have_value("without the dog")
    expect(page.get_by_role("group", name="More like: reference.jpg")).to_be_visible()
    # CLIP, CLIP fusion, CLIP parts.
    expect(columns(page)).to_have_count(3)
    expect(page).not_to_have_url(re.compile("like="))


def delete_the_other_report(page: Page, my_report: str) -> None:
    """Ask to delete one report and turn to another, which is then deleted: a question is about the report shown."""
    page.evaluate(SHOWN, [1, MODELS_MS])
    with held(page, ANSWERS) as answers:
        page.get_by_role("tab", name="Evaluate").click()
        answers.wait_for_one()
        page.locator("#evaluate-delete").click()
    # The tab shows the same report anew.
    page.evaluate("shown")
    page.locator("#evaluate-keep").click()
    expect(page.locator("#evaluate-confirm")).to_be_hidden()

    page.locator("#evaluate-delete").click()
    page.locator(".nt-run", has_text="other, picture plus text").click()
    expect(page.get_by_role("article", name=f"Report {my_report}")).to_be_hidden()
    # The question was about the other report.
    expect(page.locator("#evaluate-confirm")).to_be_hidden()

    page.locator("#evaluate-delete").click()
    page.locator("#evaluate-delete-now").click()
    expect(page.locator("#evaluate-form")).to_be_visible()


def fill_the_form(page: Page) -> None:
    """Choose pictures plus texts as the data: a model and a number of queries are asked for instead of systems."""
    expect(page.locator("#evaluate-systems")).to_be_visible()
    expect(page.locator("#evaluate-model")).to_be_hidden()
    page.locator("#evaluate-data input").click()
    page.get_by_role("option", name=re.compile("Picture plus text")).click()
    expect(page.locator("#evaluate-model")).to_be_visible()
    expect(page.locator("#evaluate-per-kind")).to_be_visible()
    expect(page.locator("#evaluate-split")).to_be_visible()
    expect(page.locator("#evaluate-systems")).to_be_hidden()

    page.locator("#evaluate-data input").fill("covr:/nowhere")
    page.locator("#evaluate-data input").press("Enter")
    expect(page.locator("#evaluate-per-kind")).to_be_hidden()
    page.locator("#evaluate-start").click()
    expect(page.locator("#evaluate-job .nt-error")).to_contain_text("nowhere", timeout=MODELS_MS)
    choose(page, "evaluate-data", re.compile("^Gallery"))
    expect(page.locator("#evaluate-systems")).to_be_visible()
