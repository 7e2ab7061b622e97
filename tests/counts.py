"""Prints how many tests each tier and folder has: `python -m tests.counts`."""

import sys
from collections import Counter

import pytest

MARKERS = ("slow", "gpu")


class Counts:
    """Plugin that counts the collected tests."""

    def __init__(self) -> None:
        self.tests: Counter[str] = Counter()

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        for item in items:
            tier = next((name for name in MARKERS if item.get_closest_marker(name)), "")
            self.tests[tier or item.nodeid.split("/")[1]] += 1


def main() -> int:
    counts = Counts()
    status = pytest.main(["--collect-only", "-pno:terminal", "-n0", "-m", ""], plugins=[counts])
    lines = [f"{tests:6,} {tier}" for tier, tests in counts.tests.most_common()]
    sys.stdout.write("\n".join([*lines, f"{counts.tests.total():6,} in all", ""]))
    return int(status)


if __name__ == "__main__":
    sys.exit(main())
