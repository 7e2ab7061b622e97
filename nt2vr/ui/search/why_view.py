"""Why an enlarged clip has its scores: by frames, parts of the query, and words."""

import math
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

from nt2vr.media.gallery import Video
from nt2vr.negation.parse.query import Query
from nt2vr.search.answers import Answer
from nt2vr.search.why import Part, Why, Word
from nt2vr.ui.search.clip_view import frame_pictures
from nt2vr.ui.search.formats import MINUS, decimal, score_text, short_name, signed
from nt2vr.ui.view import View, Views

# Systems explained at a time.
SIDE_BY_SIDE = 2
# The largest share has the strongest colour, but only from this share on.
FAINT = 0.05
ROLES = {
    "sentence": "Sentence",
    "wanted": "Wanted",
    "unwanted": "Unwanted",
    "anchor": "Neutral texts",
}
ADDED = "What the system searches for adds up to the score."
ALONE = "The system searches for the sentence; its parts are scored alone for comparison, and are not added."
SHARES = "How much the score falls without the word. Words act together, so shares do not add up to the score."
MEAN = "since its embedding is the mean of the frames' scaled to length 1"


def chosen_columns(text: str, ranks: Sequence[int | None]) -> list[int]:
    """Read which columns to explain from an event, "0,2"; without, those in which a clip's ranks differ most."""
    names = text.split(",", SIDE_BY_SIDE)
    columns = range(len(ranks))
    chosen = [column for column in columns if str(column) in names]
    if chosen:
        return chosen[:SIDE_BY_SIDE]
    by_rank = sorted(columns, key=lambda column: ranks[column] or math.inf)
    best_and_worst = {*by_rank[:1], *by_rank[-1:]}
    return sorted(best_and_worst)


def why_view(
    answer: Answer,
    columns: Sequence[int],
    whys: Sequence[Why],
    video: Video,
    urls: View,
) -> View:
    """Show frames, parts and words of one clip for the systems of some columns, and the names of all systems."""
    # The strongest colour means the same for all systems.
    shares = [abs(word.share or 0) for why in whys for word in why.words]
    largest = max([FAINT, *shares])
    systems = []
    for why in whys:
        systems.append(
            {
                "name": short_name(why.system.name),
                "score": score_text(why.score),
                "effect": negation_effect(why, answer.query),
                "notice": why.notice,
                **_frames_view(why, video, urls),
                **_parts_view(why),
                **_words_view(why, largest),
            }
        )
    return {
        "columns": ",".join(map(str, columns)),
        "choices": _choices(answer, columns),
        "systems": systems,
    }


def _choices(answer: Answer, columns: Sequence[int]) -> Views:
    """List all systems, and which of them are explained, if not all can be."""
    if len(answer.rankings) <= SIDE_BY_SIDE:
        return []
    choices = []
    for column, ranking in enumerate(answer.rankings):
        choices.append(
            {
                "column": str(column),
                "name": short_name(ranking.system.name),
                "pressed": "true" if column in columns else "false",
            }
        )
    return choices


def negation_effect(why: Why, query: Query) -> str:
    """Say in one line what the negation did to a clip's score: its words, if they are searched for, or its parts."""
    cue_positions = _positions_of_cues(why, query)
    shares = [why.words[position].share for position in cue_positions]
    if shares and None not in shares:
        return _added_text(_cue_text(why.words, cue_positions), sum(filter(None, shares)))

    texts = []
    total = 0.0
    for part in why.parts:
        if part.role == "unwanted" and part.contribution is not None:
            texts.append(part.text)
            total += part.contribution
    return _added_text(", ".join(texts), total) if texts else ""


def _added_text(text: str, total: float) -> str:
    return f"“{text}” added {signed(total)}"


def _cue_text(words: Sequence[Word], positions: Sequence[int]) -> str:
    """Join the words of the cues, with an ellipsis where others stand between them."""
    text = words[positions[0]].text
    for previous, position in pairwise(positions):
        if position > previous + 1:
            text += " …"
        text += f" {words[position].text}"
    return text


def _positions_of_cues(why: Why, query: Query) -> list[int]:
    """Return which words are the query's cues, or end in one, as "isn't" does."""
    cues = [query.text[start:end].lower() for start, end in query.cues]
    # Such as "n't".
    endings = tuple(cue for cue in cues if not cue[1:].isalpha())
    cue_words = " ".join(cues).split()
    positions = []
    for position, word in enumerate(why.words):
        text = word.text.lower()
        if text in cue_words or text.endswith(endings):
            positions.append(position)
    return positions


def _frames_view(why: Why, video: Video, urls: View) -> View:
    """Show each frame with its score as a bar; nothing of one frame only, and of a picture, whose frames are alike."""
    scores = why.frames
    count = len(scores)
    positions = [(number + 0.5) / count for number in range(count)]
    pictures = frame_pictures(video, positions, count, urls)
    if not pictures or why.score is None:
        return {"frames": [], "frames_note": ""}

    bars = _score_bars(scores)
    frames = [picture | bar for picture, bar in zip(pictures, bars, strict=True)]
    mean = decimal(sum(scores) / count)
    note = f"Mean of the frames: {mean}. Score of the clip: {decimal(why.score)}, {MEAN}."
    return {"frames": frames, "frames_note": note}


def _score_bars(scores: Sequence[float]) -> Iterator[View]:
    """Show each score as a bar from 0, all on one scale in percent."""
    lowest = min(0.0, *scores)
    height = max(0.0, *scores) - lowest or 1.0
    for score in scores:
        yield {
            "score": decimal(score),
            "bottom": f"{100 * (min(score, 0) - lowest) / height:.1f}",
            "height": f"{100 * abs(score) / height:.1f}",
            "best": score == max(scores),
        }


def _parts_view(why: Why) -> View:
    parts = why.parts
    largest = max((abs(_value(part)) for part in parts), default=0) or 1.0
    used = [part.role for part in parts if part.contribution is not None]
    note = ALONE if used == ["sentence"] else ADDED
    return {
        "parts": [_part_view(part, largest) for part in parts],
        "parts_note": note if parts else "",
    }


def _part_view(part: Part, largest: float) -> View:
    value = _value(part)
    text = decimal(value)
    kind = ""
    if part.contribution is not None:
        text = signed(value)
        kind = "up" if value >= 0 else "down"
    return {
        "role": ROLES[part.role],
        "text": part.text,
        "calculation": _calculation(part),
        "width": f"{100 * abs(value) / largest:.1f}",
        "value": text,
        "kind": kind,
    }


def _value(part: Part) -> float:
    return part.similarity if part.contribution is None else part.contribution


def _calculation(part: Part) -> str:
    """Say what a part's number is made of."""
    weight = part.weight
    if weight is None:
        return "alone, not added"
    similarity = decimal(part.similarity)
    if part.above:
        return f"{weight:.2f} × ({similarity} {MINUS} {decimal(part.above)})"
    if abs(weight - 1) < 0.005:
        return ""
    return f"{weight:.2f} × {similarity}"


def _words_view(why: Why, largest: float) -> View:
    """Show the words part by part of the query."""
    parts = []
    for (role, _), words in groupby(why.words, key=lambda word: (word.role, word.place)):
        views = [_word_view(word, largest) for word in words]
        parts.append({"label": ROLES[role], "words": views})
    note = SHARES
    if why.num_untried:
        note += f" The last {why.num_untried:,} words were not tried."
    return {"words_by_part": parts, "words_note": note}


def _word_view(word: Word, largest: float) -> View:
    share = word.share
    if share is None:
        return {
            "text": word.text,
            "share": "all",
            "strength": "0",
            "kind": "",
            "title": "Nothing is left without it",
        }
    size = abs(share)
    kind, change = ("up", "falls") if share > 0 else ("down", "rises")
    return {
        "text": word.text,
        "share": signed(share),
        "strength": f"{60 * size / largest:.0f}",
        "kind": kind,
        "title": f"Without “{word.text}”, the score {change} by {size:.3f}",
    }
