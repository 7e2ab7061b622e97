"""Names that would be a script, wherever people or files give any: shown, never run."""

import json
import shutil
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from nt2vr.evaluation.archive import Archive, Remark
from nt2vr.library.libraries import Libraries
from nt2vr.search.strategies import System
from tests.browser.test_library_journey import open_library_tab, wait_until_ready
from tests.conftest import RunningApp
from tests.support.page_actions import MODELS_MS, columns, follow
from tests.support.paths import GRADIO_MEDIA
from tests.support.word_encoder import report_of

pytestmark = pytest.mark.browser

LION = GRADIO_MEDIA / "images" / "lion.jpg"
RUN = "(window.hacked=1)"
PAYLOADS = (
    f"<img src=x onerror={RUN}>",
    f"${{{RUN}}} `+{RUN}+`",
    f'" onmouseover="{RUN}" autofocus onfocus="{RUN}',
    f"'-{RUN}-' {{{{value}}}} <svg onload={RUN}>",
)


@pytest.fixture
def hostile(running_app: RunningApp) -> Iterator[Path]:
    """A manifest in the app's home, a report and an unreadable one, that name everything so; removed afterwards."""
    folder = running_app.data.parent / "hostile"
    manifest = write_videos(folder)
    archive = Archive(running_app.data / "evaluation" / "reports")
    report = add_report(archive)
    unreadable = archive.folder / PAYLOADS[0]
    unreadable.mkdir()
    (unreadable / "report.json").write_text("[" * 20_000)
    yield manifest
    archive.delete(report)
    shutil.rmtree(unreadable, ignore_errors=True)
    libraries = Libraries(running_app.data / "libraries")
    for info in libraries.infos():
        libraries.remove(info.id)
    shutil.rmtree(folder)


def write_videos(folder: Path) -> Path:
    """Write a picture and an unreadable video per payload; return the manifest of all."""
    folder.mkdir()
    lines = []
    for number, payload in enumerate(PAYLOADS):
        picture = f"{number} {payload}.jpg"
        shutil.copy(LION, folder / picture)
        line = {"video_id": payload, "path": picture, "captions": [f"a lion {payload}"]}
        lines.append(json.dumps(line))
        # It is skipped, and the reason names it.
        unreadable = f"{number} {payload}.mp4"
        (folder / unreadable).write_bytes(b"no video")
        line = {"video_id": f"no {payload}", "path": unreadable, "captions": [payload]}
        lines.append(json.dumps(line))
    manifest = folder / "all.jsonl"
    manifest.write_text("\n".join(lines))
    return manifest


def add_report(archive: Archive) -> str:
    """Add a report whose name, notes, source and remarks are payloads; return its id."""
    report = report_of(System("words"), System("words", "drop"), name=" ".join(PAYLOADS))
    notes = tuple(f"words: {payload}" for payload in PAYLOADS)
    source = {**report.source, "remarks": PAYLOADS}
    report_id = archive.add(replace(report, notes=notes, source=source))
    for query, payload in enumerate(PAYLOADS):
        archive.annotate(report_id, query, Remark(payload[:40], payload))
    return report_id


# Loads a picture that is not there: pictures of payloads have failed by then, too.
FAIL_TO_LOAD = """() => new Promise((done) => {
  const probe = new Image();
  probe.onerror = () => requestAnimationFrame(() => requestAnimationFrame(done));
  probe.src = `x?${Math.random()}`;
})"""


def was_run(page: Page) -> bool:
    """Say whether a payload's script has run, after everything that could start it."""
    page.mouse.move(300, 300)
    page.evaluate(FAIL_TO_LOAD)
    return bool(page.evaluate("'hacked' in window"))


@pytest.mark.slow
def test_a_script_as_a_name_is_shown_and_never_run(
    page: Page, running_app: RunningApp, hostile: Path
) -> None:
    open_library_tab(page)
    page.get_by_label("Manifest with captions").check()
    page.locator("#library-path").get_by_role("textbox").fill(str(hostile))
    page.locator("#library-name").get_by_role("textbox").fill(PAYLOADS[0])
    page.get_by_role("button", name="Add and index").click()
    wait_until_ready(page, PAYLOADS[0])
    page.locator(".nt-skipped summary", has_text="4 skipped").click()
    # It is among the skipped.
    expect(page.get_by_text(f"no {PAYLOADS[1]}").first).to_be_visible()
    assert not was_run(page)

    (info,) = Libraries(running_app.data / "libraries").infos()
    follow(page, f"?q=a+lion&gallery={info.id}")
    column = columns(page).first
    poster = column.locator("[src*='media/'], [poster*='media/']").first
    expect(poster).to_be_visible(timeout=MODELS_MS)
    assert "window.hacked" in column.inner_html()
    column.get_by_role("button").first.click()
    assert not was_run(page)


@pytest.mark.slow
def test_a_script_as_a_story_is_shown_and_never_run(
    own_page: Page, running_app: RunningApp
) -> None:
    page = own_page
    stories = []
    for payload in PAYLOADS:
        story = {"query": f"a lion {payload}", "systems": ["CLIP", payload]}
        stories.append({**story, "k": payload, "note": payload})
    link = urlsafe_b64encode(json.dumps(stories).encode()).decode()
    page.goto(f"{running_app.url}?stage=1&stories={link}")
    expect(columns(page).first).to_be_visible(timeout=MODELS_MS)
    with page.expect_popup() as notes:
        page.keyboard.press("n")
    for number, payload in enumerate(PAYLOADS, 1):
        expect(page.locator(".nt-place")).to_have_text(f"{number} of {len(PAYLOADS)}")
        expect(notes.value.locator("p").first).to_have_text(payload)
        assert not was_run(notes.value)
        expect(page.locator(".nt-sentence")).to_contain_text("window.hacked")
        assert not was_run(page)
        page.keyboard.press("ArrowRight")

    page.locator("[data-do=stories]").click()
    note = page.get_by_role("dialog", name="Stories").get_by_label("Note for the speaker")
    expect(note).to_have_count(len(PAYLOADS))
    assert not was_run(page)
