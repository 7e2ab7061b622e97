"""Strangers against the running app, over raw HTTP: every event that the page has."""

import re
from collections.abc import Iterable
from typing import Any

import httpx
import pytest

from tests.conftest import STRANGER, RunningApp
from tests.support.app_calls import token_of
from tests.support.raw_client import Event, RawClient, refusal

# Guarded events that would train if the owner sent them.
TRAINING: tuple[Event, ...] = (
    ("train-start", "click"),
    ("train-choice-stop", "click"),
    ("train-choice-afterwards", "click"),
    ("watch", "start"),
)
# Event -> what it needs permission for, and a value for its first input.
GUARDED: dict[Event, tuple[str, Any]] = {
    ("model-add", "click"): ("import models and videos", "/etc/hostname"),
    ("model-source", "submit"): ("download models", "ViT-B-32 / none"),
    ("offer", "click"): ("download models", None),
    ("model-cancel", "click"): ("download models", None),
    ("model-upload", "upload"): ("import models and videos", None),
    ("search-index", "start"): ("import models and videos", None),
    ("search-index", "get"): ("import models and videos", None),
    ("open-drawings", "get"): ("import models and videos", "none"),
    ("form-drawings", "get"): ("name files of this machine", "folder"),
    ("library-add", "click"): ("name files of this machine", "folder"),
    ("library-update", "click"): ("import models and videos", "none"),
    ("library-cancel", "click"): ("import models and videos", "none"),
    ("library-more", "upload"): ("import models and videos", "none"),
    ("library-rename", "click"): ("import models and videos", "none"),
    ("library-move", "click"): ("name files of this machine", "none"),
    ("library-new-path", "submit"): ("name files of this machine", "none"),
    ("library-retry", "click"): ("import models and videos", "none"),
    ("library-remove-now", "click"): ("delete runs, reports and libraries", "none"),
    ("evaluate-start", "click"): ("name files of this machine", "/etc"),
    ("evaluate-delete-now", "click"): ("delete runs, reports and libraries", "none"),
    ("evaluate-save-name", "click"): ("write notes on reports", "none"),
    ("evaluate-name", "submit"): ("write notes on reports", "none"),
    ("review", "note"): ("write notes on reports", None),
    ("train-start", "click"): ("train models", None),
    ("train-choice-stop", "click"): ("train models", None),
    ("train-choice-afterwards", "click"): ("train models", None),
    ("train-runs", "withdraw"): ("train models", None),
    ("train-stop", "click"): ("train models", "none"),
    ("train-resume", "click"): ("train models", "none"),
    ("train-resume-lower", "click"): ("train models", "none"),
    ("train-delete-now", "click"): ("delete runs, reports and libraries", "none"),
    ("teach", "click"): ("train models", None),
    ("teach-choice-stop", "click"): ("train models", None),
    ("teach-choice-afterwards", "click"): ("train models", None),
    ("library-teach", "click"): ("train models", None),
    ("library-teach-choice-stop", "click"): ("train models", None),
    ("library-teach-choice-afterwards", "click"): ("train models", None),
    ("watch", "start"): ("train models", None),
    ("watch", "instead"): ("train models", None),
    ("watch", "afterwards"): ("train models", None),
    ("watch", "withdraw"): ("train models", None),
    ("watch", "stop"): ("train models", None),
    ("train-empty-trash", "click"): ("delete runs, reports and libraries", "none"),
}
HARMLESS = [event for event in GUARDED if event not in TRAINING]
# elem_ids of the components whose events everyone may send.
OPEN_TARGETS = """
    request systems columns detail understood watch reference gallery closing recommended
    model-source library-first-model library-model open-drawings
    library-new library-list library-remove library-keep library-posters
    library-opened evaluate-opened train-opened more-models-opened more-models
    evaluate-cancel evaluate-new evaluate-reports evaluate-delete evaluate-keep evaluate-queries
    evaluate-report evaluate-measure review
    train-preset train-presets train-new train-run train-runs train-delete train-keep
    train-beside train-base
""".split()
# Handlers of events without a component of their own: load, tick, success, and the public API.
OPEN_HANDLERS = """
    on_visit on_search on_open on_opened on_poll on_indexing on_tick lambda
    on_address on_offer on_model on_select _show send_part
    search system_names systems evaluate
""".split()


@pytest.fixture(scope="module")
def owner(running_app: RunningApp) -> RawClient:
    authorization = f"Bearer {token_of(running_app)}"
    return RawClient(running_app.url, {**STRANGER, "Authorization": authorization})


def values_for(client: RawClient, event: Event) -> list[Any]:
    """Return the page's values of an event, but the first as GUARDED gives it."""
    _permission, first = GUARDED[event]
    values = client.values(client.events[event])
    if values and first is not None:
        values[0] = first
    return values


def refusals_of(client: RawClient, events: Iterable[Event]) -> dict[Event, str]:
    """Send guarded events, all before the first answer is read; return what they are refused with.

    Each event has a session of its own, which is named like the event.
    """
    event_ids = {}
    for event in events:
        values = values_for(client, event)
        session = ":".join(event)
        event_ids[event] = client.join(client.events[event], values, session=session)

    refusals = {}
    for event, event_id in event_ids.items():
        session = ":".join(event)
        (message,) = client.ends(session, [event_id])
        refusals[event] = refusal(message)
    return refusals


@pytest.fixture(scope="module")
def stranger_refusals(stranger: RawClient) -> dict[Event, str]:
    return refusals_of(stranger, GUARDED)


@pytest.fixture(scope="module")
def owner_refusals(owner: RawClient) -> dict[Event, str]:
    """What the owner's harmless events are refused with; the values of most are wrong."""
    return refusals_of(owner, HARMLESS)


def reason_of(event: Event) -> str:
    """Return how the refusal of a guarded event begins."""
    permission, _first = GUARDED[event]
    return f"Only the owner may {permission} here"


@pytest.mark.parametrize("event", GUARDED, ids=":".join)
def test_a_stranger_is_refused_with_a_reason(
    stranger_refusals: dict[Event, str], event: Event
) -> None:
    assert stranger_refusals[event].startswith(reason_of(event))


@pytest.mark.parametrize("event", HARMLESS, ids=":".join)
def test_the_owner_is_not_refused_for_it(owner_refusals: dict[Event, str], event: Event) -> None:
    assert reason_of(event) not in owner_refusals[event]


def test_a_stranger_names_no_folder_of_pictures_plus_texts(stranger: RawClient) -> None:
    event = ("evaluate-start", "click")
    values = values_for(stranger, event)
    values[0] = "covr:/etc"

    error = stranger.error(event, values)

    assert error.startswith("Only the owner may name files of this machine here")


def is_open(event: Event) -> bool:
    target, _event_name = event
    # Gradio numbers handlers of the same name.
    handler = re.sub(r"_\d+$", "", target)
    return target in OPEN_TARGETS or handler in OPEN_HANDLERS


def test_every_event_is_known_to_be_guarded_or_open(stranger: RawClient) -> None:
    unguarded = set(stranger.events) - set(GUARDED)
    assert [event for event in unguarded if not is_open(event)] == []


def test_every_guarded_event_is_on_the_page(stranger: RawClient) -> None:
    assert set(GUARDED) <= set(stranger.events)


def test_pages_of_other_sites_get_nothing(running_app: RunningApp) -> None:
    search = f"{running_app.url}api/search"
    headers = {"Origin": "http://evil.example"}
    answer = httpx.post(search, json={"query": "a dog"}, headers=headers)
    assert answer.status_code == 403


def test_the_app_answers_to_no_other_name(running_app: RunningApp) -> None:
    answer = httpx.get(running_app.url, headers={"Host": "evil.example"})
    assert answer.status_code == 421


def test_the_owner_s_link_opens_the_page_as_the_owner(running_app: RunningApp) -> None:
    link = f"{running_app.url}?token={token_of(running_app)}"
    headers = {**STRANGER, "accept": "text/html"}
    with httpx.Client(headers=headers, follow_redirects=True) as browser:
        page = browser.get(link)
        cookies = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())

    assert "token" not in str(page.url)
    signed_in = RawClient(running_app.url, {**STRANGER, "Cookie": cookies})
    assert "Only the owner" not in signed_in.error(("train-empty-trash", "click"), ["none"])
