"""Errors as messages in the page: one sentence, never a traceback."""

import functools
import html
import inspect
import logging
import traceback
from collections.abc import Callable
from typing import Any

import gradio as gr
from gradio.context import LocalContext

from nt2vr.errors import Nt2vrError
from nt2vr.ui.web.permissions import Visitor, as_visitor_may_read

# Of an event.
Handler = Callable[..., Any]
FAILED = "Something went wrong; the log has the details."

logger = logging.getLogger(__name__)
# Type and place of each error that the log has in full.
_logged: set[tuple[str, str]] = set()


def error_text(error: Exception, visitor: Visitor) -> str:
    """Return the text of an error that a visitor may read.

    It is general unless the error is an Nt2vrError; the log has the details.
    """
    if isinstance(error, Nt2vrError):
        return as_visitor_may_read(str(error), visitor)
    _log_details(error)
    return FAILED


def _log_details(error: Exception) -> None:
    """Log an unforeseen error.

    It has its traceback once per place, so that nobody can fill the log with it.
    """
    place = ""
    # The last frame, if there is one.
    for frame in traceback.extract_tb(error.__traceback__, limit=-1):
        place = f"{frame.filename}:{frame.lineno}"
    key = (type(error).__name__, place)
    if key in _logged:
        logger.error("A request failed again: %s at %s", *key)
        return
    _logged.add(key)
    logger.error("A request failed.", exc_info=error)


def user_errors(handler: Handler) -> Handler:
    """Turn a handler's errors into messages of the page."""

    @functools.wraps(handler)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        try:
            return handler(*args, **kwargs)
        except gr.Error:
            raise
        except Exception as error:
            raise gr.Error(sentence(error), print_exception=False) from error

    return wrapped


def show_errors(page: gr.Blocks) -> None:
    """Wrap all handlers of a page with `user_errors`."""
    for event in page.fns.values():
        # The tools for agents are async, and word their own errors.
        if event.fn is not None and not inspect.iscoroutinefunction(event.fn):
            event.fn = user_errors(event.fn)


def warn(error: Nt2vrError) -> None:
    gr.Warning(sentence(error))


def problem(error: Nt2vrError) -> str:
    """Return an error as HTML for a `problem_place`."""
    return f'<p role="alert">{sentence(error)}</p>'


def problem_place(elem_id: str) -> gr.HTML:
    """Build a place for errors in the page, above what stays as it is."""
    return gr.HTML(elem_id=elem_id, elem_classes="nt-problem")


def with_errors_shown_at(place: gr.HTML, handler: Handler) -> Handler:
    """Return a handler whose errors stand at a place of the page until it succeeds.

    An error changes nothing else there.
    """

    @functools.wraps(handler)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        try:
            return {**handler(*args, **kwargs), place: ""}
        except Nt2vrError as error:
            return {place: problem(error)}

    return wrapped


def sentence(error: Exception) -> str:
    """Return the text of an error as HTML, as the visitor of the event may read it."""
    visitor = LocalContext.request.get(None)
    # The text may quote what was typed.
    return html.escape(error_text(error, visitor), quote=False)
