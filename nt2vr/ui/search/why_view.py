"""Why an enlarged clip has its scores: by frames, parts of the query, and words."""

import math
from collections.abc import Mapping, Sequence
from itertools import chain, groupby, pairwise
from typing import Any

from nt2vr.media.gallery import Video
from nt2vr.negation.parse.query import Query
from nt2vr.search.answers import Answer, Seen
from nt2vr.search.why import Part, Why, Word
from nt2vr.ui.search.clip_view import frame_pictures
from nt2vr.ui.search.formats import decimal, short_name, signed

SIDE_BY_SIDE = 2  # systems explained at a time
FAINT = 0.05  # smallest share that has the strongest colour, if it is the largest
ROLES = {
    "sentence": "Sentence",
    "wanted": "Wanted",
    "unwanted": "Unwanted",
    "anchor": "Neutral texts",
}
ADDED = "What the system searches for adds up to the score."
ALONE = "The system searches for the sentence; its parts are scored alone for comparison, and are not added."
SHARES = "How much the score falls without the word. Words act together, so shares do not add up to the score."


def chosen_columns(text: str, ranks: Sequence[int | None]) -> list[int]:
    """Read which columns to explain from an event, "0,2"; without, those in which a clip's ranks differ most."""
    asked = text.split(",", SIDE_BY_SIDE)
    if places := [place for place in range(len(ranks)) if str(place) in asked]:
        return places[:SIDE_BY_SIDE]
    order = sorted(range(len(ranks)), key=lambda place: ranks[place] or math.inf)
    return sorted({*order[:1], *order[-1:]})


def why_view(
    answer: Answer,
    columns: Sequence[int],
    whys: Sequence[Why],
    video: Video,
    urls: Mapping[str, str],
) -> dict[str, Any]:
    """Show frames, parts and words of one clip for the systems of some columns, and the names of all systems."""
    names = [short_name(ranking.system.name) for ranking in answer.rankings]
    largest = max(
        FAINT, *(abs(word.share or 0) for why in whys for word in why.words), 0
    )  # for all systems alike
    choices = [
        {"place": str(place), "name": name, "on": "true" if place in columns else "false"}
        for place, name in enumerate(names)
    ]
    return {
        "shown": ",".join(map(str, columns)),
        "choices": choices if len(names) > SIDE_BY_SIDE else [],
        "systems": [
            {
                "name": short_name(why.system.name),
                "score": decimal(why.score) if why.score is not None else "",
                "brief": brief(why, answer.query),
                "notice": why.notice,
                **_frames_view(why, video, urls),
                **_parts_view(why),
                **_words_view(why, largest),
            }
            for why in whys
        ],
    }


def brief(why: Why, query: Query) -> str:
    """Say in one line what the negation did to a clip's score: its words, if they are searched for, or its parts."""
    said = _cue_words(why, query)
    shares = [word.share for _, word in said if word.share is not None]
    if said and len(shares) == len(said):
        joints = (
            " " if before + 1 == place else " … " for (before, _), (place, _) in pairwise(said)
        )  # but not
        text = "".join(
            chain.from_iterable(zip(["", *joints], (word.text for _, word in said), strict=True))
        )
        return f"“{text}” added {signed(sum(shares))}"
    taken = [
        part for part in why.parts if part.role == "unwanted" and part.contribution is not None
    ]
    return (
        f"“{', '.join(part.text for part in taken)}” added {signed(sum(map(_value, taken)))}"
        if taken
        else ""
    )


def _cue_words(why: Why, query: Query) -> list[tuple[int, Word]]:
    """List the words that are the query's cues, or end like one, as "isn't" does; with their places."""
    cues = [query.text[start:end].lower() for start, end in query.cues]
    endings = tuple(cue for cue in cues if not cue[1:].isalpha())
    named = {word for cue in cues for word in cue.split()}
    texts = ((place, word, word.text.lower()) for place, word in enumerate(why.words))
    return [(place, word) for place, word, text in texts if text in named or text.endswith(endings)]


def _frames_view(why: Why, video: Video, urls: Mapping[str, str]) -> dict[str, Any]:
    count = len(why.frames)
    moments = tuple((place + 0.5) / count for place in range(count))
    pictures = frame_pictures(video, Seen(why.system, None, None, moments, count), urls)
    if (
        not pictures or why.score is None
    ):  # one frame only, or a picture, all of whose frames are the same
        return {"frames": [], "frames_note": ""}
    low, high = min(0.0, *why.frames), max(0.0, *why.frames)
    span = (high - low) or 1.0
    frames = []
    for score, picture in zip(why.frames, pictures, strict=True):
        bottom, height = (
            f"{100 * (min(score, 0) - low) / span:.1f}",
            f"{100 * abs(score) / span:.1f}",
        )
        bar = {
            "score": decimal(score),
            "bottom": bottom,
            "height": height,
            "best": score == max(why.frames),
        }
        frames.append({**picture, **bar})
    since = "since its embedding is the mean of the frames' scaled to length 1"
    note = f"Mean of the frames: {decimal(sum(why.frames) / count)}. Score of the clip: {decimal(why.score)}, {since}."
    return {"frames": frames, "frames_note": note}


def _parts_view(why: Why) -> dict[str, Any]:
    largest = max((abs(_value(part)) for part in why.parts), default=0) or 1.0
    rows = []
    for part in why.parts:
        value, width = _value(part), f"{100 * abs(_value(part)) / largest:.1f}"
        row = {"role": ROLES[part.role], "text": part.text, "how": _how(part), "width": width}
        if part.contribution is None:
            rows.append({**row, "value": decimal(value), "kind": ""})
        else:
            rows.append({**row, "value": signed(value), "kind": "up" if value >= 0 else "down"})
    used = [part.role for part in why.parts if part.contribution is not None]
    return {
        "parts": rows,
        "parts_note": "" if not rows else ADDED if used != ["sentence"] else ALONE,
    }


def _value(part: Part) -> float:
    return part.similarity if part.contribution is None else part.contribution


def _how(part: Part) -> str:
    """Say what a part's number is made of."""
    if part.weight is None:
        return "alone, not added"
    if part.above:
        return (
            f"{part.weight:.2f} × ({decimal(part.similarity)} \N{MINUS SIGN} {decimal(part.above)})"
        )
    return "" if abs(part.weight - 1) < 0.005 else f"{part.weight:.2f} × {decimal(part.similarity)}"


def _words_view(why: Why, largest: float) -> dict[str, Any]:
    runs = groupby(why.words, key=lambda word: (word.role, word.place))
    lines = [
        {"label": ROLES[role], "words": [_word_view(word, largest) for word in run]}
        for (role, _), run in runs
    ]
    left = f" The last {why.num_left:,} words were not tried." if why.num_left else ""
    return {"lines": lines, "words_note": SHARES + left}


def _word_view(word: Word, largest: float) -> dict[str, str]:
    if word.share is None:
        return {
            "text": word.text,
            "share": "all",
            "strength": "0",
            "kind": "",
            "title": "Nothing is left without it",
        }
    return {
        "text": word.text,
        "share": signed(word.share),
        "strength": f"{60 * abs(word.share) / largest:.0f}",
        "kind": "up" if word.share > 0 else "down",
        "title": f"Without “{word.text}”, the score {'falls' if word.share > 0 else 'rises'} by {abs(word.share):.3f}",
    }
