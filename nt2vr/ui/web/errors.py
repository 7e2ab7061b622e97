"""Errors as messages in the page: one sentence, never a traceback."""

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
    """Turn a handler's errors into messages: an Nt2vrError is shown as is, others are logged with a traceback."""

    @functools.wraps(handler)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return handler(*args, **kwargs)
        except Nt2vrError as error:  # may quote the query, and toasts render HTML
            raise gr.Error(html.escape(str(error), quote=False), print_exception=False) from error
        except gr.Error:
            raise
        except Exception as error:
            logger.exception("A handler failed.")
            raise gr.Error("Something went wrong; the log has the details.", print_exception=False) from error

    return wrapped
