"""What a person does with references in examples, and with reports of composed retrieval."""

import re

import pytest
from playwright.sync_api import Page, expect

from nt2vr.evaluation.covr.report import CovrArchive, CovrReport, CovrRow
from nt2vr.world.scenes import sample_scenes
from tests.browser.actions import ANSWERS, MODELS_MS, choose, columns, held, open_search, serious
from tests.conftest import RunningApp

pytestmark = pytest.mark.browser


def test_an_example_is_one_click_and_a_reports_query_opens_with_its_reference_until_the_report_is_deleted(
    page: Page, running_app: RunningApp
) -> None:
    archive = CovrArchive(running_app.data / "evaluation" / "composed")
    scene = sample_scenes("test", 1, 0)[0].to_dict()
    metrics = {"R@1": 50.0, "R@5": 60.0, "R@10": 70.0, "R@50": 80.0, "violations@5": 20.0}
    systems = {name: {"remove actor": metrics, "all kinds": metrics} for name in ("sum", "slerp", "parts", "fusion")}
    row = CovrRow("remove actor", "without the dog", {"scene": scene}, {**dict.fromkeys(systems, 4), "fusion": 1})
    other = archive.add(CovrReport("other", "CLIP", {}, systems, [row], 3, "2026-11-21T10:00:00+00:00"))
    mine = archive.add(CovrReport("mine", "CLIP", {}, systems, [row], 3, "2026-11-22T10:00:00+00:00"))
    chips = page.locator(".nt-reference")
    try:
        open_search(page, running_app.url)
        page.get_by_role("list", name="Examples with a reference").get_by_text("without the dog").click()
        expect(columns(page)).to_have_count(4)
        expect(chips).to_have_count(1)
        expect(page).to_have_url(re.compile("q=without\\+the\\+dog.*like=4a7dd0ba98"))
        expect(page.get_by_text("✓ next to a reference")).to_be_visible()
        assert serious(page) == []

        page.get_by_role("tab", name="Evaluate").click()
        page.get_by_text("With a picture: composed retrieval").click()
        table = page.get_by_role("article", name="Composed retrieval: mine")
        expect(table.get_by_role("columnheader", name="violations@5")).to_be_visible(timeout=MODELS_MS)
        assert serious(page) == []
        page.locator("#composed-queries").get_by_role("link", name="without the dog").click()
        expect(page.locator("#query textarea")).to_have_value("without the dog")
        expect(page.get_by_role("group", name="More like: reference.jpg")).to_be_visible()
        expect(columns(page)).to_have_count(4)
        expect(page).not_to_have_url(re.compile("like="))

        with held(page, ANSWERS) as answers:
            page.get_by_role("tab", name="Evaluate").click()
            answers.wait_for_one()
            page.locator("#composed-delete").click()
        page.wait_for_timeout(1000)  # the tab is shown anew, with the same report
        page.locator("#composed-keep").click()
        expect(page.locator("#composed-confirm")).to_be_hidden()
        page.locator("#composed-delete").click()
        choose(page, "composed-report-id", "other · CLIP · 1 query · 2026-11-21 10:00")
        expect(table).to_be_hidden()
        expect(page.locator("#composed-confirm")).to_be_hidden()  # the question was about the other report
        page.locator("#composed-delete").click()
        page.locator("#composed-delete-now").click()
        expect(table).to_be_visible()
        assert archive.ids() == [mine]
    finally:
        for report_id in (mine, other):
            (archive.folder / f"{report_id}.json").unlink(missing_ok=True)
