"""What a handler of the page says when something goes wrong: one sentence, never a traceback."""

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


def shown(handler: Callable[P, R]) -> Callable[P, R]:
    """Turn errors into a message in the page: a person's own as they are, ours with the traceback in the log alone."""

    @functools.wraps(handler)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return handler(*args, **kwargs)
        except Nt2vrError as error:  # the message may hold what a person typed, and the page renders HTML in it
            raise gr.Error(html.escape(str(error), quote=False), print_exception=False) from error
        except gr.Error:
            raise
        except Exception as error:
            logger.exception("A handler failed.")
            raise gr.Error("Something went wrong here; the log has the details.", print_exception=False) from error

    return wrapped
