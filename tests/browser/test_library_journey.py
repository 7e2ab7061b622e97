"""What a person does with videos of their own: upload or name them, search them, open evaluated queries there."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from nt2vr.library.libraries import Libraries
from nt2vr.ui.search.state import DEFAULT_QUERY
from tests.conftest import RunningApp
from tests.support.page_actions import MODELS_MS, choose, columns, follow, reopen, serious, submit
from tests.support.paths import GRADIO_MEDIA
from tests.support.tiny_models import write_tiny

pytestmark = pytest.mark.browser

LION = GRADIO_MEDIA / "images" / "lion.jpg"
CHEETAH = GRADIO_MEDIA / "images" / "cheetah.jpg"
EARTH = GRADIO_MEDIA / "videos" / "world.mp4"


@pytest.fixture(autouse=True)
def libraries(running_app: RunningApp) -> Iterator[Libraries]:
    """The app's libraries, removed afterwards."""
    libraries = Libraries(running_app.data / "libraries")
    yield libraries
    for info in libraries.infos():
        libraries.remove(info.id)


@pytest.fixture
def videos(running_app: RunningApp) -> Iterator[Path]:
    """Captioned files in the home folder of the app, where libraries may be named."""
    folder = running_app.data.parent / "videos"
    folder.mkdir()
    captions = {
        LION: ["a lion is resting on a rock", "a lion lies in the sun"],
        CHEETAH: ["a cheetah is running", "a cheetah runs and does not rest"],
        EARTH: ["the earth is turning at night"],
    }
    for file in captions:
        shutil.copy(file, folder)
    lines = []
    for file, caption in captions.items():
        video = {"video_id": file.stem, "path": file.name, "captions": caption}
        lines.append(json.dumps(video))
    (folder / "videos.jsonl").write_text("\n".join(lines))
    yield folder
    shutil.rmtree(folder)


def open_library_tab(page: Page) -> None:
    page.get_by_role("tab", name="Library").click()
    expect(page.get_by_role("button", name="Add and index")).to_be_visible()


def wait_until_ready(page: Page, name: str) -> None:
    button = page.get_by_role("group", name="Libraries").get_by_role("button").filter(has_text=name)
    expect(button).to_contain_text("ready", timeout=MODELS_MS)


def add_videos(page: Page, videos: Path) -> None:
    open_library_tab(page)
    # The tab lists models as it opens.
    expect(page.locator("#library-first-model input")).to_have_value("tiny")
    page.get_by_label("Manifest with captions").check()
    page.locator("#library-path").get_by_role("textbox").fill(str(videos / "videos.jsonl"))
    page.locator("#library-name").get_by_role("textbox").fill("Videos")
    page.get_by_role("button", name="Add and index").click()
    wait_until_ready(page, "Videos")


@pytest.mark.slow
def test_files_are_uploaded_searched_by_their_moments_renamed_and_removed(
    page: Page, libraries: Libraries, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.mp4"
    broken.write_bytes(EARTH.read_bytes()[:3000])

    upload(page, [LION, EARTH, broken])
    search_the_upload(page)
    step_through_moments(page)
    change_galleries(page)
    rename_the_library(page)
    remove_the_library(page)

    assert libraries.infos() == []
    assert LION.is_file()


def upload(page: Page, files: list[Path]) -> None:
    """Upload a picture, a video and a broken one as the library "Mine"."""
    open_library_tab(page)
    page.get_by_label("Upload files").check()
    page.get_by_role("button", name="Add and index").click()
    # And no field turns red.
    expect(page.locator("#library-problem")).to_contain_text("No file is uploaded yet")

    uploads = page.locator("#library-files")
    uploads.locator("input[type=file]").set_input_files(files)
    expect(uploads.get_by_role("button", name="Remove this file")).to_have_count(3)
    expect(page.locator("#library-problem")).to_be_hidden()
    expect(page.locator("#form-drawings")).to_contain_text("CLIP knows only drawings")
    get_model = page.get_by_role("button", name="Get ViT-B-32 / openai and index with it")
    expect(get_model).to_be_visible()

    page.locator("#library-name").get_by_role("textbox").fill("Mine")
    page.get_by_role("button", name="Add and index").click()
    wait_until_ready(page, "Mine")
    # A long video has one picture.
    expect(page.get_by_role("list", name="Some of its clips").locator("img")).to_have_count(2)
    page.locator(".nt-skipped summary", has_text="1 skipped").click()
    expect(page.locator(".nt-skipped")).to_contain_text("broken.mp4 is not a readable video")


def search_the_upload(page: Page) -> None:
    page.get_by_role("link", name="Search this library").click()
    expect(page.locator("#search-index")).to_contain_text("knows only drawings", timeout=MODELS_MS)
    expect(page.get_by_role("button", name="Get ViT-B-32 / openai and index again")).to_be_visible()
    expect(page.locator("#head")).to_contain_text("Mine · 4 clips")
    expect(page.locator("#query textarea")).to_have_value("lion")
    expect(page.get_by_role("list", name="Examples", exact=True)).to_contain_text("world")
    expect(page.locator("#picture-examples")).to_be_hidden()

    submit(page, "the earth")
    expect(page).to_have_url(re.compile("q=the.earth"), timeout=MODELS_MS)
    expect(page.locator(".nt-reason")).to_contain_text("these clips have no captions")


def hit_of_the_earth(page: Page) -> Locator:
    return columns(page).first.locator(".nt-clip", has_text="0:00–0:30")


def step_through_moments(page: Page) -> None:
    """Enlarge a long video, go to its last window, and load the page's own link."""
    # Its three windows are one hit.
    expect(hit_of_the_earth(page)).to_have_count(1)
    hit_of_the_earth(page).click()
    moments = page.get_by_role("group", name="Where in the video").get_by_role("button")
    expect(moments).to_have_count(3)
    moments.last.click()
    expect(page.locator(".nt-timeline b")).to_have_text("0:20–0:30")
    expect(page.locator(".nt-file")).to_contain_text("world.mp4 0:20–0:30 of 0:30")
    page.keyboard.press("Escape")

    reopen(page)
    expect(page.locator("#gallery input")).to_have_value("Mine")
    expect(hit_of_the_earth(page)).to_have_count(1)


def change_galleries(page: Page) -> None:
    """Go to the built-in world and back: each gallery has a query of its own."""
    choose(page, "gallery", "Built-in world")
    expect(page.locator("#query textarea")).to_have_value(DEFAULT_QUERY)
    expect(page.locator("#head")).to_contain_text("built-in world")
    # Not as the library's query was understood.
    expect(page.locator(".nt-excluded")).to_contain_text("a dog")
    expect(columns(page).first.locator(".nt-badge")).to_contain_text("0 of 8 right")

    choose(page, "gallery", "Mine")
    expect(page.locator("#query textarea")).to_have_value("the earth")


def rename_the_library(page: Page) -> None:
    page.get_by_role("tab", name="Library").click()
    assert serious(page) == []
    page.locator("#library-new-name").get_by_role("textbox").fill("Ours")
    page.get_by_role("button", name="Rename").click()
    expect(page.get_by_role("group", name="Libraries")).to_contain_text("Ours")


def remove_the_library(page: Page) -> None:
    libraries = page.get_by_role("group", name="Libraries").get_by_role("button")
    page.locator("#library-remove").click()
    page.locator("#library-new").click()
    # Otherwise its answer may come after the next click.
    expect(page.locator("#library-remove")).to_be_hidden()
    libraries.click()
    expect(page.locator("#library-remove")).to_be_visible()
    # A question about another view is not asked here.
    expect(page.locator("#library-confirm")).to_be_hidden()

    page.locator("#library-remove").click()
    page.locator("#library-remove-now").click()
    expect(libraries).to_have_count(0)


@pytest.fixture
def tiny_model(running_app: RunningApp) -> Iterator[None]:
    """A model "tiny" in the app, removed afterwards with all reports."""
    folder = running_app.data / "models" / "tiny"
    write_tiny(folder, "tiny")
    yield
    shutil.rmtree(folder)
    shutil.rmtree(running_app.data / "evaluation" / "reports", ignore_errors=True)


@pytest.mark.slow
def test_a_model_without_an_index_asks_first(page: Page, videos: Path, tiny_model: None) -> None:
    follow(page)
    add_videos(page, videos)
    page.get_by_role("link", name="Search this library").click()
    expect(page.locator("#gallery input")).to_have_value("Videos", timeout=MODELS_MS)
    # Of the one model that knows more than drawings.
    expect(columns(page)).to_have_count(2, timeout=MODELS_MS)
    expect(page.locator("#query textarea")).to_have_value("a cheetah is running")
    expect(page.locator("#search-index")).to_be_hidden()

    index_by_clip(page)
    open_an_evaluated_query(page)
    find_moved_videos(page, videos)


def index_by_clip(page: Page) -> None:
    """Choose a model that has not indexed the library, and index it when asked."""
    choose(page, "systems", "CLIP")
    page.keyboard.press("Escape")
    question = page.get_by_text("Videos is not indexed by CLIP yet: 3 clips")
    expect(question).to_be_visible(timeout=MODELS_MS)
    expect(columns(page)).to_have_count(0)

    page.get_by_role("button", name="Index now").click()
    expect(columns(page)).to_have_count(3, timeout=MODELS_MS)
    expect(page.locator("#search-index")).to_have_text(re.compile("CLIP knows only drawings"))


def find_moved_videos(page: Page, videos: Path) -> None:
    """Move the folder of the videos, and say where it is: its clips stay, and what is missing is named."""
    moved = videos.rename(videos.with_name("moved-videos"))
    (moved / LION.name).unlink()
    try:
        page.keyboard.press("Escape")
        page.get_by_role("tab", name="Library").click()
        place = page.locator("#library-new-path").get_by_role("textbox")
        place.fill(str(moved.parent))
        page.get_by_role("button", name="Find its files").click()
        expect(page.locator("#open-problem")).to_contain_text("has no videos.jsonl")
        place.fill(str(moved))
        page.get_by_role("button", name="Find its files").click()
        expect(page.locator(".nt-library .nt-remark")).to_contain_text(
            re.compile("2 of 3 files.*Missing: lion")
        )
        expect(place).to_be_hidden()
        expect(page.get_by_role("button", name="Move…")).to_be_visible()
        wait_until_ready(page, "Videos")
    finally:
        moved.rename(videos)


def open_an_evaluated_query(page: Page) -> None:
    """Evaluate the videos, and open a query in Search: their captions are there, and the relevant clip is starred."""
    page.get_by_role("tab", name="Evaluate").click()
    page.locator("#evaluate-data input").click()
    page.get_by_role("option", name=re.compile("^Videos")).click()
    page.get_by_role("button", name="Evaluate", exact=True).click()
    row = page.locator("#evaluate-queries a", has_text="a lion is resting on a rock").first
    page.locator("#evaluate-kind input").wait_for(timeout=MODELS_MS)
    expect(row).to_be_visible(timeout=MODELS_MS)
    row.click()
    page.get_by_role("link", name="Open in Search").click()
    expect(page.locator("#gallery input")).to_have_value("Videos")
    starred = columns(page).first.locator(".nt-clip:has(.nt-judged)")
    expect(starred).to_have_count(1, timeout=MODELS_MS)
    expect(starred).to_have_attribute("data-id", "lion")
    expect(columns(page).first.locator(".nt-badge")).to_have_text("1 of 3 right by captions")
    starred.click()
    expect(page.get_by_role("dialog").locator("li")).to_have_count(2)
