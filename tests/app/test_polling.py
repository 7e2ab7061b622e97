"""The timers of the tabs that follow a job in the background."""

import uuid
from typing import Any

import pytest

from tests.support.raw_client import RawClient


def tick_that_updates(client: RawClient, elem_id: str) -> dict[str, Any]:
    """Return the event of the timer that updates a component."""
    component = client.component(elem_id)
    assert component
    for (_, event_name), dependency in client.events.items():
        if event_name == "tick" and component["id"] in dependency["outputs"]:
            return dependency
    raise AssertionError(elem_id)


@pytest.mark.parametrize("button", ["evaluate-start", "library-update"])
def test_a_late_tick_turns_the_timer_off(stranger: RawClient, button: str) -> None:
    # The answer of an earlier tick can arrive last: it shows a job as under way, and turns the
    # timer on again.
    tick = tick_that_updates(stranger, button)
    output_types = [stranger.components[number]["type"] for number in tick["outputs"]]
    timer = output_types.index("timer")
    session = uuid.uuid4().hex

    for _ in range(2):
        updates = stranger.send_to(tick, session=session)["output"]["data"]
        assert updates[timer]["active"] is False
