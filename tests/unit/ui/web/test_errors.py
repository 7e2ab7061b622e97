"""Messages of handlers' errors in the page."""

import gradio as gr
import pytest
from gradio.context import LocalContext
from starlette.requests import HTTPConnection

from nt2vr.errors import GalleryError, QueryError
from nt2vr.ui.web.errors import user_errors, warn
from nt2vr.ui.web.permissions import IN_SCOPE, Permissions, Visitor, told

HERE = Permissions("a-token", {"paths": "everyone"})
ELSEWHERE = Permissions("a-token", {"paths": "owner"})
NAMING = "The manifest /home/ann/films/all.jsonl cannot be read."


def test_what_a_message_quotes_is_shown_and_never_run() -> None:
    @user_errors
    def fail() -> None:
        raise QueryError("<img src=x onerror=alert(1)> & 'a' is not a query.")

    with pytest.raises(gr.Error) as caught:
        fail()
    assert caught.value.message == "&lt;img src=x onerror=alert(1)&gt; &amp; 'a' is not a query."


def asked(permissions: Permissions) -> gr.Request:
    return gr.Request(HTTPConnection({"type": "http", "headers": [], IN_SCOPE: permissions}))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("visitor", "sentence"),
    [
        (asked(HERE), NAMING),
        (asked(ELSEWHERE), "The manifest all.jsonl cannot be read."),
        (None, "The manifest all.jsonl cannot be read."),
    ],
)
def test_a_handler_s_error_names_folders_only_to_who_may_name_them(
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
    assert [caught.value.message, *warnings] == [sentence] * 2


def test_a_route_outside_the_page_tells_the_same() -> None:
    connection: Visitor = asked(HERE).request
    assert told(NAMING, connection) == NAMING
    connection = asked(ELSEWHERE).request
    assert told(NAMING, connection) == "The manifest all.jsonl cannot be read."
