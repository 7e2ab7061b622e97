"""How the page writes names of systems, scores and times."""

import re
from collections.abc import Sequence

# The date and time in the name of a run.
RUN_DATE = re.compile(r"-(\d{4})(\d{2})(\d{2})-(\d{2})(\d{2})\d{2}(?=$|[ -])")


def decimal(value: float) -> str:
    """Write a score in three digits, with a minus sign rather than a hyphen."""
    return f"{value:.3f}".replace("-", "\N{MINUS SIGN}")


def score_text(score: float | None) -> str:
    """Write a score; nothing if there is none."""
    return "" if score is None else decimal(score)


def signed(value: float) -> str:
    """Write a number with its sign; 0 has none."""
    if abs(value) < 0.0005:
        return "0"
    return f"+{decimal(value)}" if value > 0 else decimal(value)


def short_name(name: str) -> str:
    """Shorten the date in names of runs and their systems: "bnl-20261122-212355" to "bnl 22/11 21:23"."""
    return RUN_DATE.sub(r" \3/\2 \4:\5", name, count=1)


def system_choices(names: Sequence[str]) -> list[tuple[str, str]]:
    return [(short_name(name), name) for name in names]


def times_text(start: float, end: float | None) -> str:
    """Write where a window lies in its video: 1:05–1:15."""
    end_text = "end" if end is None else clock(end)
    return f"{clock(start)}–{end_text}"


def clock(seconds: float) -> str:
    """Write a time as players do: 0:05, 12:30, 1:02:03."""
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}:{minutes:02}:{seconds:02}"
    return f"{minutes}:{seconds:02}"
