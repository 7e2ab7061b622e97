"""Progress in words, and background jobs."""

from threading import Event

import pytest

from nt2vr.errors import ConfigError
from nt2vr.progress import Progress, Runner, duration_text, percent_text

LIMIT_S = 30.0


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "1 s"), (0.2, "1 s"), (89, "89 s"), (90, "2 min"), (300, "5 min"), (9000, "2.5 h")],
)
def test_a_duration_is_said_as_exactly_as_it_is_known(seconds: float, text: str) -> None:
    assert duration_text(seconds) == text


@pytest.mark.parametrize(("done", "total", "text"), [(0, 0, "0"), (1, 3, "33.3"), (5, 4, "100.0")])
def test_a_bar_is_never_wider_than_its_room(done: int, total: int, text: str) -> None:
    assert percent_text(done, total) == text


class Held:
    """Work that ends once it may."""

    def __init__(self) -> None:
        self.begun = Event()
        self.go = Event()

    def __call__(self, progress: Progress) -> str:
        self.begun.set()
        assert self.go.wait(LIMIT_S)
        progress(1, 1, "waiting")
        return "done"


def test_a_busy_runner_refuses_unless_it_queues() -> None:
    runner = Runner[str]("check")
    held = Held()
    ended = runner.run(held, "a")
    assert held.begun.wait(LIMIT_S) and runner.jobs[0].state == "running"
    with pytest.raises(ConfigError, match=r"\(a\)"):
        runner.run(held, "b")
    held.go.set()
    assert (ended.result(LIMIT_S).result, runner.run(held, "b").result(LIMIT_S).number) == (
        "done",
        2,
    )


def test_waiting_jobs_run_in_order_and_equal_ones_once() -> None:
    runner = Runner[str]("check", queues=True)
    held = Held()
    runner.run(held, "a")
    assert held.begun.wait(LIMIT_S)
    ended = [runner.run(held, name) for name in ("b", "c", "b")]
    assert ended[0] is ended[2] and [job.state for job in runner.jobs] == [
        "running",
        "waiting",
        "waiting",
    ]
    runner.cancel(1)
    runner.cancel(3)
    assert ended[1].result(LIMIT_S).state == "stopped"
    held.go.set()
    # Cancelling the first job has not stopped it.
    assert ended[0].result(LIMIT_S).state == "finished"
    assert [job.state for job in runner.jobs] == ["stopped", "finished", "stopped"]


def test_the_last_job_of_each_library_is_remembered() -> None:
    runner = Runner[str]("check")
    runner.run(lambda _: "done", "b", key="b").result(LIMIT_S)
    for _ in range(3):
        runner.run(lambda _: "done", "a", key="a").result(LIMIT_S)
    assert [job.number for job in runner.jobs] == [1, 4]


def test_rate_and_remaining_time_are_those_of_the_step(monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = 100.0
    monkeypatch.setattr("nt2vr.progress.time.monotonic", lambda: now_s)
    runner = Runner[str]("check")

    def work(progress: Progress) -> str:
        nonlocal now_s
        # Fifty were there before.
        progress(50, 100, "reading files: a")
        now_s += 10
        progress(60, 100, "reading files: b")
        (job,) = runner.jobs
        assert job.per_second == 1.0
        assert job.remaining_s == 40.0
        assert job.doing == "reading files"
        assert job.current == "b"
        progress(0, 100, "reading clips")
        (job,) = runner.jobs
        assert job.per_second == 0.0
        assert job.remaining_s is None
        assert job.current == ""
        return "done"

    job = runner.run(work, "a").result(LIMIT_S)
    assert (job.state, job.error) == ("finished", "")


def test_equal_jobs_of_two_pages_cannot_cancel_each_other() -> None:
    runner = Runner[int]("job", queues=True)
    go = Event()
    runner.run(lambda progress: int(go.wait(LIMIT_S)), "first", session="a")
    runner.run(lambda progress: 1, "second", session="a")
    assert [job.session for job in runner.jobs] == ["a", "a"]
    ended = runner.run(lambda progress: 1, "second", session="b")
    assert [job.session for job in runner.jobs] == ["a", ""]
    go.set()
    assert ended.result(LIMIT_S).state == "finished"
