"""open_clip is imported without PyTorch's compiler, which works as ever once it is asked for."""

import subprocess
import sys

import pytest

WITHOUT_IT = """
import sys
import nt2vr.models.pooling
assert "open_clip" in sys.modules
assert "torch._dynamo" not in sys.modules
"""
USES_IT = """
import torch
from torchvision.ops import roi_align

boxes = torch.tensor([[0, 0.0, 0.0, 4.0, 4.0]])
assert roi_align(torch.ones(1, 1, 8, 8), boxes, 2).shape == (1, 1, 2, 2)
compiled = torch.compile(lambda numbers: numbers + 1, backend="eager")
assert compiled(torch.ones(1)).item() == 2
layer = torch.nn.Linear(2, 1)
torch.optim.AdamW(layer.parameters()).step()
assert "torch._dynamo" in sys.modules
"""
STILL_NEEDED = """
import sys
import open_clip
assert "torch._dynamo" in sys.modules, "open_clip leaves the compiler alone: remove without_compiler"
"""


def run(program: str) -> None:
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.slow
def test_open_clip_is_imported_without_the_compiler() -> None:
    run(WITHOUT_IT)


@pytest.mark.slow
def test_the_compiler_works_once_it_is_used() -> None:
    run(WITHOUT_IT + USES_IT)


@pytest.mark.slow
def test_open_clip_imports_the_compiler_by_itself() -> None:
    """Fail once a new open_clip makes the workaround needless; nothing of this project is run."""
    run(STILL_NEEDED)
