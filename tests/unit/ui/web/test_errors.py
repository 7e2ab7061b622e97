"""Messages of handlers' errors in the page."""

import gradio as gr
import pytest
from gradio.context import LocalContext
from gradio.helpers import special_args
from starlette.requests import HTTPConnection

from nt2vr.errors import GalleryError, QueryError
from nt2vr.ui.web.errors import FAILED, show_errors, user_errors, warn, with_errors_shown_at
from nt2vr.ui.web.permissions import IN_SCOPE, WITHHELD, Permissions, Visitor, as_visitor_may_read

HERE = Permissions("a-token", {"paths": "everyone"})
ELSEWHERE = Permissions("a-token", {"paths": "owner"})
NAMING = "The manifest /usr/my videos/all.jsonl cannot be read."


def test_what_a_message_quotes_is_shown_and_never_run() -> None:
    @user_errors
    def fail() -> None:
        raise QueryError("<img src=x onerror=alert(1)> & 'a' is not a query.")

    with pytest.raises(gr.Error) as caught:
        fail()
    assert caught.value.message == "&lt;img src=x onerror=alert(1)&gt; &amp; 'a' is not a query."


def test_an_error_stands_at_its_place_until_the_handler_succeeds() -> None:
    place = gr.HTML()
    output = gr.HTML()

    def add(text: str) -> dict[gr.HTML, str]:
        if not text:
            raise QueryError("Nothing is <typed>.")
        return {output: text}

    assert with_errors_shown_at(place, add)("") == {
        place: '<p role="alert">Nothing is &lt;typed&gt;.</p>'
    }
    assert with_errors_shown_at(place, add)("x") == {output: "x", place: ""}


def test_errors_of_all_handlers_of_a_page_are_shown() -> None:
    def refused(text: str, request: gr.Request) -> None:
        raise QueryError(f"{text} is not a query.")

    def broken() -> None:
        raise ZeroDivisionError

    async def tool() -> str:
        return "done"

    with gr.Blocks() as page:
        text = gr.Textbox()
        gr.Button().click(refused, text, None)
        gr.Button().click(broken, None, None)
        gr.Button().click(tool, None, None)
        gr.Button().click(None, None, None, js="() => {}")
    show_errors(page)
    first, second, third, last = (event.fn for event in page.fns.values())
    assert first is not None
    assert second is not None
    with pytest.raises(gr.Error, match="x is not a query"):
        first(*special_args(first, ["x"], gr.Request())[0])
    with pytest.raises(gr.Error, match=FAILED):
        second()
    assert third is tool
    assert last is None


def request_under(permissions: Permissions) -> gr.Request:
    return gr.Request(HTTPConnection({"type": "http", "headers": [], IN_SCOPE: permissions}))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("visitor", "sentence"),
    [(request_under(HERE), NAMING), (request_under(ELSEWHERE), WITHHELD), (None, WITHHELD)],
)
def test_errors_name_folders_only_to_who_may_name_them(
    visitor: gr.Request | None, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    @user_errors
    def fail() -> None:
        raise GalleryError(NAMING)

    warnings: list[str] = []
    monkeypatch.setattr(gr, "Warning", warnings.append)
    token = LocalContext.request.set(visitor)
    try:
        with pytest.raises(gr.Error) as caught:
            fail()
        warn(GalleryError(NAMING))
    finally:
        LocalContext.request.reset(token)
    # Routes outside the page have the request itself.
    route: Visitor = visitor.request if visitor else None
    assert [caught.value.message, *warnings, as_visitor_may_read(NAMING, route)] == [sentence] * 3


@pytest.mark.parametrize(
    "text", ["a dog and/or a cat", "List them: /api/systems.", "See https://usr/lib.", "24 / 7"]
)
def test_everyone_reads_a_sentence_without_a_path(text: str) -> None:
    assert as_visitor_may_read(text, None) == text


def test_a_withheld_message_is_in_the_log_once(caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(3):
        assert as_visitor_may_read("Something in /usr/secret place/x failed.", None) == WITHHELD
    assert [record.message for record in caplog.records] == [
        "Withheld from a visitor: Something in /usr/secret place/x failed."
    ]


def test_an_unforeseen_error_has_its_traceback_in_the_log_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    @user_errors
    def handler() -> None:
        raise RuntimeError("a bug")

    for _ in range(3):
        with pytest.raises(gr.Error, match=FAILED):
            handler()
    assert [record.exc_info is not None for record in caplog.records] == [True, False, False]
