"""What a person does on the Evaluate tab, on the gallery with the shipped systems."""

import re
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import fresh_page
from tests.conftest import free_port, run_app

pytestmark = pytest.mark.browser

WAIT_MS = 120_000  # the models must be loaded, and the gallery embedded


def open_tab(page: Page) -> None:
    page.get_by_role("tab", name="Evaluate").click()


def choose(page: Page, elem_id: str, name: str) -> None:
    page.locator(f"#{elem_id} input").click()
    page.get_by_role("option", name=name, exact=True).click()


def test_evaluate_read_the_table_filter_open_a_query_in_search_find_it_all_again_and_delete_it(
    chromium: Browser, tmp_path: Path
) -> None:
    with run_app(tmp_path, free_port()) as app, fresh_page(chromium, app.url) as page:
        page.goto(app.url)
        open_tab(page)
        page.locator("#evaluate-start").click()
        expect(page.locator("#evaluate-job")).to_contain_text("evaluating")
        expect(page.locator("#evaluate-start")).to_be_disabled()
        page.reload()  # the evaluation goes on without the page
        open_tab(page)
        page.locator("#evaluate-cancel").click()
        expect(page.locator("#evaluate-job")).to_contain_text("cancelled", timeout=WAIT_MS)
        page.locator("#evaluate-start").click()
        table = page.locator(".nt-table")
        expect(table).to_have_count(2, timeout=WAIT_MS)

        lines = table.first.locator("tbody th")
        systems = ["CLIP", "CLIP drop", "CLIP*", "CLIP-snl", "CLIP-bnl", "CLIP-neg", "CLIP boolean"]
        expect(lines).to_contain_text(["oracle", *systems])
        expect(table.nth(1).locator("tr", has_text="CLIP-neg").locator("td").first).to_have_class("nt-best")
        expect(page.locator(".nt-points circle")).to_have_count(len(systems))
        expect(page.locator(".nt-explained")).to_contain_text("CLIP-bnl: The paper finds")  # its card's notes
        href = page.get_by_role("link", name="queries.csv").get_attribute("href")
        answer = httpx.get(f"{app.url}{href}")
        assert answer.status_code == 200 and answer.text.startswith("kind,text,cue,wanted,unwanted,num_relevant,CLIP,")

        rows = page.locator(".nt-listed:not(.nt-heads)")
        expect(rows).to_have_count(20)
        expect(rows.first).to_contain_text("A and not B")
        first = rows.first.locator("a").inner_text()
        page.get_by_role("button", name="next").click()
        expect(page.locator(".nt-list")).to_contain_text("page 2 of")
        choose(page, "evaluate-order", "worsened")
        expect(page.locator(".nt-list")).to_contain_text("page 1 of")
        expect(rows.first.locator(".nt-by")).to_have_class(re.compile("nt-down"))
        choose(page, "evaluate-kind", "negated")
        expect(rows.first).to_contain_text("negated")
        choose(page, "evaluate-kind", "A and not B")
        choose(page, "evaluate-order", "improved")
        expect(rows.first.locator("a")).to_have_text(first)
        page.get_by_label("fails everywhere").check()
        expect(rows.first.locator("a")).not_to_have_text(first)
        page.get_by_label("fails everywhere").uncheck()
        expect(rows.first.locator("a")).to_have_text(first)

        ids = rows.first.locator("code").all_text_contents()
        rows.first.locator("a").click()
        expect(page.locator("#query textarea")).to_have_value(first)
        expect(page.locator(".nt-legend")).to_contain_text("relevant in the evaluation", timeout=WAIT_MS)
        expect(page.locator(".nt-column h3")).to_contain_text(["CLIP", "CLIP-neg"])
        marked = page.locator(".nt-clip", has=page.locator(".nt-judged"))
        assert {clip.get_attribute("data-id") for clip in marked.all()} & set(ids)
        page.locator("#query textarea").fill("a dog")
        page.locator("#query textarea").press("Enter")
        expect(page.locator(".nt-legend")).to_have_count(0)  # these were right for another query

        page.reload()
        open_tab(page)
        expect(table).to_have_count(2)
        page.locator("#evaluate-new").click()
        page.locator("#evaluate-start").click()
        page.locator(".nt-run").first.click()  # what is under way, though all is kept and it may be done by now
        expect(table.first).to_be_visible(timeout=WAIT_MS)
        expect(page.locator(".nt-run")).to_have_count(1)  # the same again is the same report
        page.locator("#evaluate-delete").click()
        page.locator("#evaluate-keep").click()
        page.locator("#evaluate-delete").click()
        page.locator("#evaluate-delete-now").click()
        expect(page.locator("#evaluate-form")).to_be_visible()
        expect(page.locator(".nt-run")).to_have_count(0)

        page.locator("#evaluate-data input").fill(str(tmp_path / "nowhere"))
        page.locator("#evaluate-data input").press("Enter")
        page.locator("#evaluate-start").click()
        expect(page.locator("#evaluate-job .nt-error")).to_contain_text("nowhere")
        assert "Traceback" not in app.log.read_text()
