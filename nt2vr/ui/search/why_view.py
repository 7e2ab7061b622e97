"""Explanation of a clip's score as template data. Independent of Gradio."""

import math
from collections.abc import Mapping, Sequence
from itertools import groupby, pairwise
from typing import Any

from nt2vr.media.gallery import Video
from nt2vr.negation.parse.query import Query
from nt2vr.search.answers import Answer, Seen
from nt2vr.search.why import Part, Why, Word
from nt2vr.ui.search.clip_view import frame_pictures
from nt2vr.ui.search.column_view import short_name

SIDE_BY_SIDE = 2  # systems explained at a time
FAINT = 0.05  # smallest share that has the strongest colour, if it is the largest
ROLES = {"sentence": "Sentence", "wanted": "Wanted", "unwanted": "Unwanted", "anchor": "Neutral texts"}
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
    answer: Answer, columns: Sequence[int], whys: Sequence[Why], video: Video, urls: Mapping[str, str]
) -> dict[str, Any]:
    """Show frames, parts and words of one clip for the systems of some columns, and the names of all systems."""
    names = [short_name(ranking.system.name) for ranking in answer.rankings]
    largest = max(FAINT, *(abs(word.share or 0) for why in whys for word in why.words), 0)  # for all systems alike
    return {
        "shown": ",".join(map(str, columns)),
        "choices": [
            {"place": str(place), "name": name, "on": "true" if place in columns else "false"}
            for place, name in enumerate(names)
        ]
        if len(names) > SIDE_BY_SIDE
        else [],
        "systems": [_system_view(each, answer.query, video, urls, largest) for each in whys],
    }


def signed(value: float) -> str:
    """Write a number with its sign; 0 has none."""
    return f"{value:+.3f}" if abs(value) >= 0.0005 else "0"


def brief(why: Why, query: Query) -> str:
    """Say in one line what the negation did to a clip's score: its words, if they are searched for, or its parts."""
    cues = [query.text[start:end].lower() for start, end in query.cues]
    endings = tuple(cue for cue in cues if not cue[1:].isalpha())  # "n't" of "isn't"
    named = {word for cue in cues for word in cue.split()}
    said = [i for i, word in enumerate(why.words) if word.text.lower() in named or word.text.lower().endswith(endings)]
    shares = [why.words[i].share for i in said]
    if said and None not in shares:
        joints = ["", *(" " if before + 1 == i else " … " for before, i in pairwise(said))]  # but not
        text = "".join(f"{joint}{why.words[i].text}" for joint, i in zip(joints, said, strict=True))
        return f"“{text}” added {signed(sum(share or 0 for share in shares))}"
    taken = [part for part in why.parts if part.role == "unwanted" and part.contribution is not None]
    return f"“{', '.join(part.text for part in taken)}” added {signed(sum(map(_value, taken)))}" if taken else ""


def _system_view(
    why: Why, query: Query, video: Video, urls: Mapping[str, str], largest_share: float
) -> dict[str, Any]:
    return {
        "name": short_name(why.system.name),
        "score": f"{why.score:.3f}" if why.score is not None else "",
        "brief": brief(why, query),
        "notice": why.notice,
        **_frames_view(why, video, urls),
        **_parts_view(why),
        **_words_view(why, largest_share),
    }


def _frames_view(why: Why, video: Video, urls: Mapping[str, str]) -> dict[str, Any]:
    count = len(why.frames)
    moments = tuple((place + 0.5) / count for place in range(count))
    pictures = frame_pictures(video, Seen(why.system, None, None, moments, count), urls)
    if not pictures or why.score is None:  # one frame only, or a picture, all of whose frames are the same
        return {"frames": [], "frames_note": ""}
    low, high = min(0.0, *why.frames), max(0.0, *why.frames)
    span = (high - low) or 1.0
    frames = [
        {
            **picture,
            "score": f"{score:.3f}",
            "bottom": f"{100 * (min(score, 0) - low) / span:.1f}",
            "height": f"{100 * abs(score) / span:.1f}",
            "best": score == max(why.frames),
        }
        for score, picture in zip(why.frames, pictures, strict=True)
    ]
    mean = sum(why.frames) / count
    note = (
        f"Mean of the frames: {mean:.3f}. Score of the clip: {why.score:.3f}, since its embedding is the mean of the "
        "frames' scaled to length 1."
    )
    return {"frames": frames, "frames_note": note}


def _parts_view(why: Why) -> dict[str, Any]:
    used = [part for part in why.parts if part.contribution is not None]
    largest = max((abs(_value(part)) for part in why.parts), default=0) or 1.0
    return {
        "parts": [
            {
                "role": ROLES[part.role],
                "text": part.text,
                "value": signed(_value(part)) if part.contribution is not None else f"{part.similarity:.3f}",
                "how": _how(part),
                "width": f"{100 * abs(_value(part)) / largest:.1f}",
                "kind": "" if part.contribution is None else "up" if part.contribution >= 0 else "down",
            }
            for part in why.parts
        ],
        "parts_note": "" if not why.parts else ADDED if [part.role for part in used] != ["sentence"] else ALONE,
    }


def _value(part: Part) -> float:
    return part.similarity if part.contribution is None else part.contribution


def _how(part: Part) -> str:
    """Say what a part's number is made of."""
    if part.weight is None:
        return "alone, not added"
    if part.above:
        return f"{part.weight:.2f} × ({part.similarity:.3f} \N{MINUS SIGN} {part.above:.3f})"
    return "" if abs(part.weight - 1) < 0.005 else f"{part.weight:.2f} × {part.similarity:.3f}"


def _words_view(why: Why, largest_share: float) -> dict[str, Any]:
    lines = [
        {"label": ROLES[role], "words": [_word_view(word, largest_share) for word in words]}
        for (role, _), words in groupby(why.words, key=lambda word: (word.role, word.place))
    ]
    left = f" The last {why.num_left:,} words were not tried." if why.num_left else ""
    return {"lines": lines, "words_note": SHARES + left}


def _word_view(word: Word, largest: float) -> dict[str, str]:
    if word.share is None:
        return {"text": word.text, "share": "all", "strength": "0", "kind": "", "title": "Nothing is left without it"}
    return {
        "text": word.text,
        "share": signed(word.share),
        "strength": f"{60 * abs(word.share) / largest:.0f}",
        "kind": "up" if word.share > 0 else "down",
        "title": f"Without “{word.text}”, the score {'falls' if word.share > 0 else 'rises'} by {abs(word.share):.3f}",
    }
