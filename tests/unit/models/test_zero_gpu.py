"""The seam for ZeroGPU, with a stand-in of `spaces` that forks and pickles as ZeroGPU does."""

import multiprocessing
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from nt2vr.models import device
from nt2vr.models.device import on_gpu
from nt2vr.models.encoder import Encoder
from tests.support.paths import ROOT


class FakeEncoder:
    """Knows where it is; cannot be pickled."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.device = "cpu"

    def move_to(self, device: str) -> None:
        self.device = device

    def __reduce__(self) -> str:
        raise TypeError("a model must not be pickled")


def encoder(name: str) -> Encoder:
    return cast(Encoder, FakeEncoder(name))


def describe(model: Encoder, text: str, times: int = 1) -> tuple[str, str, int, str]:
    return model.name, cast(Any, model).device, os.getpid(), text * times


class FakeSpaces:
    """`spaces.GPU` with one worker, forked at the first call and reused."""

    def __init__(self) -> None:
        self.worker: Any = None
        self.process: Any = None
        self.fails = False

    def GPU(self, duration: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        def decorate(task: Callable[..., Any]) -> Callable[..., Any]:
            context = multiprocessing.get_context("fork")

            def work(pipe: Any) -> None:
                while True:
                    pipe.send(task(*pipe.recv()))

            def lent(*arguments: Any) -> Any:
                if self.fails:
                    raise RuntimeError("quota")
                if self.worker is None:
                    ours, theirs = context.Pipe()
                    self.process = context.Process(target=work, args=(theirs,), daemon=True)
                    self.process.start()
                    self.worker = ours
                self.worker.send(arguments)
                return self.worker.recv()

            return lent

        return decorate


@pytest.fixture
def spaces(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeSpaces]:
    fake = FakeSpaces()
    monkeypatch.setitem(sys.modules, "spaces", cast(Any, SimpleNamespace(GPU=fake.GPU)))
    monkeypatch.setenv("SPACES_ZERO_GPU", "true")
    monkeypatch.setattr(device, "GPU", "borrowed")
    yield fake
    if fake.process is not None:
        # It holds copies of this process's pipes, also of that which ends the browser's driver.
        fake.process.kill()
        fake.process.join()


def test_elsewhere_the_function_is_itself() -> None:
    assert on_gpu(describe) is describe


def test_a_call_runs_on_the_borrowed_process_s_gpu(spaces: FakeSpaces) -> None:
    model = encoder("a")
    name, device, process, text = on_gpu(describe)(model, "x", times=2)
    assert name == "a"
    assert device == "borrowed"
    assert text == "xx"
    assert process != os.getpid()
    # It is in this process.
    assert cast(Any, model).device == "cpu"


def test_a_younger_model_runs_in_this_process(spaces: FakeSpaces) -> None:
    lent = on_gpu(describe)
    first = encoder("a")
    second = encoder("b")
    lent(first, "x")
    assert lent(second, "x") == ("b", "cpu", os.getpid(), "x")
    assert lent(first, "x")[:2] == ("a", "borrowed")


def test_without_a_gpu_the_call_runs_here(
    spaces: FakeSpaces, caplog: pytest.LogCaptureFixture
) -> None:
    spaces.fails = True
    assert on_gpu(describe)(encoder("a"), "x") == ("a", "cpu", os.getpid(), "x")
    assert "No GPU could be borrowed (quota)." in caplog.text


@pytest.mark.slow
def test_spaces_is_imported_before_torch_and_knows_the_search(
    tmp_path: Path,
) -> None:
    (tmp_path / "spaces.py").write_text(
        "import sys\nassert 'torch' not in sys.modules\nknown = []\n"
        "def GPU(duration):\n    return lambda task: known.append(task) or task\n"
    )
    code = (
        "import nt2vr.ui.page, spaces, sys  # as `nt2vr serve` does before it starts anything\n"
        "assert len(spaces.known) == 3  # queries, texts alone, and pictures alone\n"
        "assert 'torch' not in sys.modules"
    )
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}:{ROOT}", "SPACES_ZERO_GPU": "true"}
    result = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
