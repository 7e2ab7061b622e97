"""How the page writes names of systems, scores and times."""

import re
from calendar import month_abbr
from collections.abc import Sequence

from nt2vr.ui.view import Choices

MINUS = "\N{MINUS SIGN}"
# The date and time in the name of a run.
RUN_DATE = re.compile(r"-\d{4}(0[1-9]|1[0-2])(\d{2})-(\d{2})(\d{2})\d{2}(?=$|[ -])")
# What a run is called that the page starts, with its base, and in the preset.
LEARNS_NOT = re.compile(
    r"(?:(.+)[- ])?learns[- ]not(?:[- ]\(?stage\)?)?(?:[- ](\d+))?", re.IGNORECASE
)


def decimal(value: float) -> str:
    """Write a score in three digits, with a minus sign rather than a hyphen."""
    return f"{value:.3f}".replace("-", MINUS)


def score_text(score: float | None) -> str:
    """Write a score; nothing if there is none."""
    return "" if score is None else decimal(score)


def signed(value: float) -> str:
    """Write a number with its sign; 0 has none."""
    if abs(value) < 0.0005:
        return "0"
    return f"{value:+.3f}".replace("-", MINUS)


def short_name(name: str) -> str:
    """Write names of runs and their systems to be read: "bnl-20261122-212355" as "bnl (22 Nov 21:23)"."""
    parts = RUN_DATE.split(name, maxsplit=1)
    if len(parts) == 1:
        return name
    run, month, day, hour, minute, rest = parts
    date = f"{int(day)} {month_abbr[int(month)]} {hour}:{minute}"
    return f"{run_title(run)} ({date}){rest}"


def run_title(name: str) -> str:
    """Write a run's name, or its folder's without the date: "clip-learns-not" as "CLIP, learning “not”"."""
    learns_not = LEARNS_NOT.fullmatch(name)
    if learns_not is None:
        return re.sub(r"^clip(?=$|-)", "CLIP", name)
    base, number = learns_not.groups(default="")
    return f"{run_title(base or 'CLIP')}, learning “not” {number}".rstrip()


def system_choices(names: Sequence[str]) -> Choices:
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
