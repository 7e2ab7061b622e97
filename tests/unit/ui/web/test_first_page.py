"""When models are loaded: not while the first browser reads the page."""

import threading
import time
from collections.abc import Callable

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from nt2vr.ui.web.first_page import FirstPage

PATIENCE_S = 0.4


def client_of(first_page: FirstPage) -> TestClient:
    """Return a client of an app that has a page, and answers programs."""
    routes = [Route(path, lambda _: PlainTextResponse("")) for path in ("/", "/health")]
    return TestClient(first_page.noting(Starlette(routes=routes)))


def waited_s(first_page: FirstPage, meanwhile: Callable[[], object]) -> float:
    """Return how long the models wait while something happens after half of the patience."""
    timer = threading.Timer(PATIENCE_S / 2, meanwhile)
    timer.start()
    start_s = time.monotonic()
    first_page.wait()
    timer.join()
    return time.monotonic() - start_s


def test_without_a_browser_models_wait_some_seconds() -> None:
    first_page = FirstPage(lambda: False, PATIENCE_S)
    health = client_of(first_page)
    assert PATIENCE_S <= waited_s(first_page, lambda: health.get("/health")) < 1.4 * PATIENCE_S


def test_a_page_being_read_has_the_processor_alone() -> None:
    first_page = FirstPage(lambda: False, PATIENCE_S)
    browser = client_of(first_page)
    headers = {"Accept": "text/html,*/*"}
    assert waited_s(first_page, lambda: browser.get("/", headers=headers)) >= 1.5 * PATIENCE_S


@pytest.mark.parametrize("is_page_open", [False, True])
def test_a_search_has_models_loaded_at_once(is_page_open: bool) -> None:
    searched = threading.Event()
    first_page = FirstPage(searched.is_set, 60)
    if is_page_open:
        client_of(first_page).get("/", headers={"Accept": "text/html"})
    assert waited_s(first_page, searched.set) < 10
