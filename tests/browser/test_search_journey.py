"""What a person does on the Search tab."""

import base64
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page, expect

from nt2vr.ui.search.state import DEFAULT_QUERY
from tests.browser.conftest import fresh_page
from tests.conftest import RunningApp
from tests.support.page_actions import (
    MODELS_MS,
    columns,
    follow,
    open_menu,
    open_search,
    reopen,
    submit,
)

pytestmark = pytest.mark.browser

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


@pytest.fixture
def playing_page(chromium: Browser, running_app: RunningApp) -> Iterator[Page]:
    with fresh_page(chromium, running_app.url, plays=True) as page:
        yield page


def test_type_a_query_see_clips_and_find_more(playing_page: Page, running_app: RunningApp) -> None:
    page = playing_page
    open_search(page, running_app.url)
    first = columns(page).first
    last = columns(page).last
    # The box is around a dog.
    expect(first.locator(".nt-box:visible").first).to_be_visible()
    expect(last.locator(".nt-box")).to_have_count(0)
    first.locator(".nt-clip").first.hover()
    expect(last.locator(".nt-there")).to_have_text(re.compile(r"that clip: #\d\d"))

    submit(page, "a woman is riding a horse, no elephant")
    expect(page.locator(".nt-scope")).to_have_text("elephant", timeout=MODELS_MS)
    expect(page.locator("#parts .nt-chip.nt-good")).to_have_text("a woman is riding a horse")
    expect(first.locator(".nt-clip")).to_have_count(8)
    expect(first.locator(".nt-badge")).to_have_text(re.compile(r"\d of 8 right"))

    video = first.locator("video").first
    before = video.evaluate("video => video.currentTime")
    page.wait_for_function(
        "([video, before]) => video.currentTime !== before", arg=[video.element_handle(), before]
    )

    first.locator(".nt-clip").first.click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    # Its captions.
    expect(dialog.locator("li")).to_have_count(6)
    # Its rank in every column.
    expect(dialog.locator("tr")).to_have_count(3)
    expect(dialog.locator("tr").first).to_contain_text("#1")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)


@pytest.mark.slow
def test_clips_become_references_wanted_or_not_that_a_link_keeps(page: Page) -> None:
    chips = page.get_by_role("group", name=re.compile("(More|Less) like: "))
    status = page.get_by_role("status")
    ids = columns(page).first.locator(".nt-clip")
    follow(page, "?q=not+dancing&systems=CLIP|CLIP+drop|CLIP+boolean")
    # CLIP returns dancers.
    picked = ids.first.get_attribute("data-id")
    assert picked
    ids.first.press("Enter")
    page.get_by_role("button", name="More like this").click()
    expect(chips).to_have_count(1)
    expect(status.filter(has_text="1 of 4 references")).to_have_count(1)
    expect(page).to_have_url(re.compile(f"like={picked}&weight=0.5"))
    assert picked not in [clip.get_attribute("data-id") for clip in ids.all()]
    expect(page.get_by_text("The picture shows “dancing”, which the text excludes")).to_be_visible()

    video_id = ids.first.get_attribute("data-id")
    ids.first.press("Enter")
    page.get_by_role("button", name="Less like this").click()
    expect(page).to_have_url(re.compile(f"like={picked}&unlike={video_id}&weight=0.5%7C0.5"))
    page.get_by_role("slider", name="Weight of").first.press("ArrowRight")
    expect(page).to_have_url(re.compile("weight=0.55%7C0.5"))
    reopen(page)
    expect(chips).to_have_count(2)
    expect(chips.first).to_contain_text("55 %")

    chips.first.get_by_role("button", name="more like this").press("Enter")
    expect(page).to_have_url(re.compile(f"[&]unlike={picked}%7C{video_id}"))
    chips.get_by_role("button", name="Remove").first.press("Enter")
    expect(chips).to_have_count(1)
    expect(chips.get_by_role("button", name="Remove")).to_be_focused()
    chips.get_by_role("button", name="Remove").press("Enter")
    expect(page).not_to_have_url(re.compile("like="))
    expect(ids.first).to_have_attribute("data-id", picked)


COUNT_ANSWERS = """() => {
  window.answers = 0;
  document.addEventListener("nt-answered", () => { answers += 1; });
}"""
# Pastes or drops a file into the query.
GIVE = """([kind, name, type, content]) => {
  const bytes = Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0));
  const data = new DataTransfer();
  data.items.add(new File([bytes], name, { type }));
  const target = document.querySelector("#query textarea");
  const options = { bubbles: true, cancelable: true };
  if (kind === "paste") target.dispatchEvent(new ClipboardEvent(kind, { ...options, clipboardData: data }));
  else target.dispatchEvent(new DragEvent(kind, { ...options, dataTransfer: data }));
}"""


def in_base64(content: bytes) -> str:
    return base64.b64encode(content).decode()


@pytest.mark.slow
def test_pictures_are_pasted_videos_dropped_and_texts_refused(
    page: Page, write_video: Callable[..., Path]
) -> None:
    chips = page.locator(".nt-reference")
    follow(page)
    page.evaluate(COUNT_ANSWERS)

    video = write_video("video.webm", [0, 60, 120]).read_bytes()
    page.evaluate(GIVE, ["drop", "video.webm", "video/webm", in_base64(video)])
    expect(chips).to_have_count(1)
    page.wait_for_function("answers === 1")

    page.evaluate(GIVE, ["paste", "picture.png", "image/png", PIXEL])
    expect(chips).to_have_count(2)
    expect(page.get_by_text("nothing that was uploaded")).to_be_visible()
    expect(page).not_to_have_url(re.compile("like="))
    # An answer takes older messages away.
    page.wait_for_function("answers === 2")

    page.evaluate(GIVE, ["drop", "text.mp4", "video/mp4", in_base64(b"no video")])
    expect(page.get_by_text("text.mp4 is not a readable video").first).to_be_visible()
    expect(chips).to_have_count(2)


def test_a_link_is_restored_and_an_empty_query_refused(
    own_page: Page, running_app: RunningApp
) -> None:
    page = own_page
    page.goto(running_app.url + "?q=a+dog,+no+cat&systems=CLIP+drop|CLIP&k=6")
    query = page.locator("#query textarea")
    expect(query).to_have_value("a dog, no cat")
    expect(columns(page)).to_have_count(2, timeout=MODELS_MS)
    expect(page.locator(".nt-column h3").first).to_contain_text("drop")
    expect(columns(page).first.locator(".nt-clip")).to_have_count(6)

    submit(page, "   ")
    expect(page.get_by_role("alert")).to_contain_text("Type what the clip should show")
    # What was shown stays.
    expect(columns(page)).to_have_count(2)
    expect(page.locator(".nt-excluded")).to_have_text("You said no cat.")
    submit(page, "a dog")
    expect(page.locator("#parts .nt-chip.nt-good")).to_have_text("a dog")
    expect(page.get_by_role("alert")).to_have_count(0)

    # Known words are offered while typing.
    offers = page.locator(".nt-words button")
    query.fill("")
    query.press_sequentially("a man playing the gui")
    offers.get_by_text("guitar").click()
    expect(query).to_have_value("a man playing the guitar ")
    expect(offers).to_have_count(0)
    page.get_by_text("Surprise me").click()
    expect(query).to_have_value(re.compile(" and not |, not |, no "))
    expect(page).to_have_url(re.compile(r"q=.+\+no"))


@pytest.mark.slow
def test_a_strategy_s_slider_and_link_keep_its_strength(page: Page) -> None:
    follow(page, "?q=a+dog,+no+cat&systems=CLIP+anchored|CLIP+anchored+λ+1|CLIP+spherical+t+0.9")
    open_menu(page, "Correct this")
    slider = page.locator("#lambda input[type=range]")
    expect(slider).to_be_visible()
    # CLIP's card says so.
    expect(slider).to_have_value("1.1")
    for hidden_slider in ("#alpha", "#beta", "#t"):
        expect(page.locator(hidden_slider)).to_be_hidden()
    expect(page).not_to_have_url(re.compile("lambda"))
    slider.press("ArrowRight")
    slider.dispatch_event("pointerup")
    expect(page).to_have_url(re.compile("lambda=1.2"))
    reopen(page)
    expect(slider).to_have_value("1.2")


def link_to(text: str) -> str:
    return f"?systems=CLIP&k=4&q={quote(text)}+not+a+dog"


def expect_text_alone(page: Page, text: str) -> None:
    """Expect that a text is shown, and that no script of it has changed the title."""
    expect(page.locator(".nt-sentence")).to_contain_text(text, timeout=MODELS_MS)
    expect(columns(page)).to_have_count(1)
    expect(page).to_have_title("nT2VR")


@pytest.mark.slow
def test_text_from_a_link_is_never_run(own_page: Page, running_app: RunningApp) -> None:
    page = own_page
    run = "document.title='run'"
    runs_script = f"<img src=x onerror={run}> ${{{run}}} `+({run})+` ${{1+1}}"
    page.goto(running_app.url + link_to(runs_script))
    expect_text_alone(page, runs_script)

    breaks_script = "\\u ${"
    follow(page, link_to(breaks_script))
    expect_text_alone(page, breaks_script)


def test_the_negation_is_switched_by_click_and_by_key(
    page: Page,
) -> None:
    cue = page.locator(".nt-excluded [data-flip]")
    stayed = page.locator(".nt-stayed")
    badges = page.locator(".nt-column .nt-badge")
    expect(cue).to_have_attribute("aria-pressed", "false")
    expect(stayed).to_have_count(0)
    cue.click()
    expect(stayed).to_have_text(
        ["8 of 8 clips stayed", "8 of 8 clips stayed", "0 of 8 clips stayed"]
    )
    notice = "CLIP-bnl: 8 clips stayed, 0 are new. CLIP-neg: 0 clips stayed, 8 are new."
    expect(page.get_by_role("status").filter(has_text=notice)).to_have_count(1)
    expect(badges).to_have_text(["8 of 8 right", "8 of 8 right", "8 of 8 right"])
    # Nothing is excluded.
    expect(page.locator(".nt-more")).to_have_count(0)
    expect(page.locator("#query textarea")).to_have_value(DEFAULT_QUERY)
    reopen(page)
    expect(cue).to_have_attribute("aria-pressed", "true")
    expect(stayed).to_have_count(3)
    page.locator("#query textarea").blur()
    page.keyboard.press("0")
    expect(cue).to_have_attribute("aria-pressed", "false")
    expect(badges).to_have_text(["0 of 8 right", "0 of 8 right", "8 of 8 right"])
    expect(stayed).to_have_count(3)
    assert "flip" not in page.url
    cue.click()
    expect(cue).to_have_attribute("aria-pressed", "true")
    # Another sentence has its negation in the same place.
    submit(page, "a dog, no cat")
    expect(cue).to_have_attribute("aria-pressed", "false")
    expect(stayed).to_have_count(0)
