"""What counts as memory that ran out in a child."""

import pytest

from nt2vr.errors import CheckpointError
from nt2vr.models.spawn import is_out_of_memory

ALLOCATOR = (
    "[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory: you tried 3 bytes"
)
ERRORS = {
    "Python's own": (MemoryError(), True),
    "torch's": (RuntimeError(ALLOCATOR), True),
    "torch's, cut off": (RuntimeError(ALLOCATOR[:15]), True),
    "of a mapping": (OSError(12, "Cannot allocate memory"), True),
    "a damaged archive": (
        RuntimeError("[enforce fail at inline_container.cc:197] . failed finding central directory"),
        False,
    ),
    "another": (ValueError("memory"), False),
}


@pytest.mark.parametrize("which", ERRORS)
def test_memory_that_ran_out_is_recognised_also_behind_another_error(which: str) -> None:
    error, expected = ERRORS[which]
    assert is_out_of_memory(error) == expected
    outer = CheckpointError("The checkpoint cannot be loaded.")
    outer.__cause__ = error
    assert is_out_of_memory(outer) == expected
