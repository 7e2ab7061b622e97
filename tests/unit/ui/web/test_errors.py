"""Messages of handlers' errors in the page."""

import gradio as gr
import pytest

from nt2vr.errors import QueryError
from nt2vr.ui.web.errors import user_errors


def test_what_a_message_quotes_is_shown_and_never_run() -> None:
    @user_errors
    def fail() -> None:
        raise QueryError("<img src=x onerror=alert(1)> & 'a' is not a query.")

    with pytest.raises(gr.Error) as caught:
        fail()
    assert caught.value.message == "&lt;img src=x onerror=alert(1)&gt; &amp; 'a' is not a query."
