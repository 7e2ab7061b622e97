"""Error messages on the page: one sentence, never a traceback."""

import functools
import html
import logging
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import gradio as gr

from nt2vr.errors import Nt2vrError

logger = logging.getLogger(__name__)
P = ParamSpec("P")
R = TypeVar("R")


def user_errors(handler: Callable[P, R]) -> Callable[P, R]:
    """Decorate a handler so that its errors become messages in the page.

    An Nt2vrError is the person's to fix and is shown as it is; anything unexpected is only logged, with its traceback.
    """

    @functools.wraps(handler)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return handler(*args, **kwargs)
        except Nt2vrError as error:  # the message may quote what a person typed, and toasts render HTML
            raise gr.Error(html.escape(str(error), quote=False), print_exception=False) from error
        except gr.Error:
            raise
        except Exception as error:
            logger.exception("A handler failed.")
            raise gr.Error("Something went wrong; the log has the details.", print_exception=False) from error

    return wrapped
