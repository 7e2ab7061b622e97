"""Errors as messages in the page: one sentence, never a traceback."""

import functools
import html
import inspect
import logging
from collections.abc import Callable
from typing import Any

import gradio as gr
from gradio.context import LocalContext

from nt2vr.errors import Nt2vrError
from nt2vr.ui.web.permissions import Visitor, told

FAILED = "Something went wrong; the log has the details."

logger = logging.getLogger(__name__)


def told_of(error: Exception, visitor: Visitor) -> str:
    """Return what a visitor is told of an error; of any but an Nt2vrError the log has the details."""
    if isinstance(error, Nt2vrError):
        return told(str(error), visitor)
    logger.error("A request failed.", exc_info=error)
    return FAILED


def user_errors(handler: Callable[..., Any]) -> Callable[..., Any]:
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


def tell_errors(page: gr.Blocks) -> None:
    """Wrap all of a page's handlers with `user_errors`, but tools for agents, which are async and tell their own."""
    for event in page.fns.values():
        if event.fn is not None and not inspect.iscoroutinefunction(event.fn):
            event.fn = user_errors(event.fn)


def warn(error: Nt2vrError) -> None:
    gr.Warning(sentence(error))


def problem(error: Nt2vrError) -> str:
    """Return an error as HTML for a place in the page, above what stays as it is."""
    return f'<p role="alert">{sentence(error)}</p>'


def problem_place(elem_id: str) -> gr.HTML:
    return gr.HTML(elem_id=elem_id, elem_classes="nt-problem")


def told_at(place: gr.HTML, handler: Callable[..., dict[Any, Any]]) -> Callable[..., dict[Any, Any]]:
    """Return a handler whose errors stand at a place of the page until it succeeds, and change nothing else there."""

    @functools.wraps(handler)
    def wrapped(*args: Any, **kwargs: Any) -> dict[Any, Any]:
        try:
            return {**handler(*args, **kwargs), place: ""}
        except Nt2vrError as error:
            return {place: problem(error)}

    return wrapped


def sentence(error: Exception) -> str:
    """Word an error for the visitor of the event, as HTML: it may name paths and quote the query."""
    return html.escape(told_of(error, LocalContext.request.get(None)), quote=False)
