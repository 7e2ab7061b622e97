"""Mistakes on the command line are answered as docs/mistakes.md says: one line, an exit code, no traceback."""

from pathlib import Path

import pytest

from tests.mistakes import MISTAKES, PAGE, answer, prepare, row


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mistakes").resolve()
    prepare(folder)
    return folder


def test_the_page_has_every_mistake_and_no_other() -> None:
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `nt2vr")]
    assert [line.split("`")[1] for line in rows] == list(MISTAKES)


@pytest.mark.slow
@pytest.mark.parametrize("typed", MISTAKES)
def test_a_mistake_is_answered_as_documented(typed: str, folder: Path) -> None:
    told, status = answer(typed, folder)
    assert row(typed, told, status) in PAGE.read_text(encoding="utf-8"), "run python -m tests.mistakes --write"
    assert status in (0, 2) and "Traceback" not in told and "Errno" not in told
