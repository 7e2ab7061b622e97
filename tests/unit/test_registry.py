"""Choice by name, and the error that lists what there is."""

import pytest

from nt2vr.errors import ConfigError
from nt2vr.registry import Registry, pick


def test_a_name_picks_its_value_even_when_that_is_falsy() -> None:
    assert pick("weight", "none", {"none": 0, "half": 1}) == 0


def test_an_unknown_name_lists_the_known_names_sorted() -> None:
    with pytest.raises(ConfigError) as caught:
        pick("index", "hnsw", {"faiss": 1, "exact": 2})
    assert str(caught.value) == "Unknown index 'hnsw'. Choose one of: exact, faiss."
    # A log shows no KeyError above it.
    assert caught.value.__suppress_context__


def test_only_one_s_own_names_can_be_replaced() -> None:
    registry = Registry("thing", {"one": 1})
    registry.register("two", 2)
    registry.register("two", 3)
    assert dict(registry) == {"one": 1, "two": 3} and len(registry) == 2
    with pytest.raises(ConfigError, match="one"):
        registry.register("one", 5)
