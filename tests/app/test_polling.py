"""The timers of the tabs that follow a job in the background."""

import uuid

import pytest

from tests.conftest import STRANGER, RunningApp
from tests.support.raw_client import RawClient


@pytest.mark.parametrize("button", ["evaluate-start", "library-update"])
def test_a_late_tick_turns_the_timer_off(running_app: RunningApp, button: str) -> None:
    # The answer of an earlier tick can arrive last: it shows a job as under way, and turns the
    # timer on again.
    client = RawClient(running_app.url, STRANGER)
    components = client.config["components"]
    button_id = next(c["id"] for c in components if c["props"].get("elem_id") == button)
    timers = {c["id"] for c in components if c["type"] == "timer"}
    ticks = [event for (_, name), event in client.events.items() if name == "tick"]
    (tick,) = (event for event in ticks if button_id in event["outputs"])
    session = uuid.uuid4().hex
    for _ in range(2):
        answers = client.send_to(tick, session=session)["output"]["data"]
        (timer,) = (
            answer
            for number, answer in zip(tick["outputs"], answers, strict=True)
            if number in timers
        )
        assert timer["active"] is False
