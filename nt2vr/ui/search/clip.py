"""One clip enlarged: its facts, why it has its scores, and which caption fits it."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, islice, pairwise
from types import MappingProxyType
from typing import Any

import gradio as gr

from nt2vr.library.galleries import Galleries
from nt2vr.media.gallery import Video
from nt2vr.media.picture import PICTURE_SUFFIXES
from nt2vr.media.preview import MAX_SECONDS
from nt2vr.negation.generate.changes import CHANGES, changed
from nt2vr.negation.parse.query import Query
from nt2vr.registry import pick
from nt2vr.search.answers import Answer, Match, Scored, Seen
from nt2vr.search.references import Reference
from nt2vr.search.searcher import MIN_LINES, Searcher
from nt2vr.search.why import Part, Why, Word, explain, scored_backwards
from nt2vr.ui.library.media import Media
from nt2vr.ui.search.columns import boxes_text
from nt2vr.ui.search.formats import clock, decimal, short_name, times_text
from nt2vr.ui.search.verdict_texts import MARKS, verdict_text
from nt2vr.ui.web.inputs import event_value
from nt2vr.ui.web.permissions import Permissions
from nt2vr.world.words import words_in

ALIKE = 2e-4  # difference of two scores that is due to rounding
SLACK_S = (
    0.5  # that a preview may be shorter than its clip before its frames are shown at wrong places
)


def detail_view(
    video: Video,
    seen: Sequence[Seen],
    verdict: str,
    urls: Mapping[str, str],
    film: Mapping[str, Any] = MappingProxyType({}),
    judged_by: str = "",
    names_paths: bool = False,
) -> dict[str, Any]:
    """Show one clip enlarged: captions, its rank and best-matching frames in every column, its place in its film.

    `film` is as `film_view` shows it, empty if the clip is no window of one; `names_paths` lets
    visitors see its path.
    """
    return {
        "id": video.video_id,
        **urls,
        "verdict": verdict,
        "mark": MARKS.get(verdict, ""),
        "by": f"by {judged_by}" if judged_by else "",
        "file": video.path.name if video.content else "",
        "path": str(video.path) if video.content and names_paths else "",
        **_place(video, film, f"{urls['src'].rpartition('/')[0]}/moment" if names_paths else ""),
        "captions": list(video.captions),
        "film": dict(film),
        "reversible": any(one.num_frames > 1 for one in seen),
        "pressed": "false",
        "seen": [
            {
                "name": one.system.name,
                "rank": f"#{one.rank}" if one.rank is not None else "–",
                "score": decimal(one.score) if one.score is not None else "",
                "frames": frame_pictures(video, one, urls),
            }
            for one in seen
        ],
    }


def backwards_view(
    view: Mapping[str, Any], seen: Sequence[Seen], scores: Sequence[float | None]
) -> dict[str, Any]:
    """Show a `detail_view` played backwards: what each score becomes (None: unknown), and who does not notice."""
    rows, blind = [], []
    for row, one, score in zip(view["seen"], seen, scores, strict=True):
        if score is None or one.score is None:
            text = "unknown"
        elif abs(score - one.score) > ALIKE:
            text = f"{decimal(score)} ({signed(score - one.score)})"
        else:
            text = "unchanged"
        rows.append({**row, "backwards": text})
        blind += [row["name"]] if text == "unchanged" else []
    told = f"{', '.join(blind)}: nothing changes, because frames are pooled without regard to their order."
    return {
        **view,
        "pressed": "true",
        "seen": rows,
        "order": told if blind else "The order of frames counts.",
    }


def _place(video: Video, film: Mapping[str, Any], link: str) -> dict[str, str]:
    """Say where in its file a clip lies, with a link to it cut out; nothing of pictures, no link if built in."""
    is_span = video.end is not None
    time = times_text(video.start, video.end) if is_span else ""
    time = f"{film['where']} of {film['length']}" if film else time
    return {"time": time, "moment": link if is_span and video.content else ""}


def frame_pictures(video: Video, seen: Seen, urls: Mapping[str, str]) -> list[dict[str, Any]]:
    """Show the best frames as stills of the clip's own video, or as pictures where its preview may end before them."""
    if video.path.suffix.lower() in PICTURE_SUFFIXES:
        return []
    is_covered = video.end is not None and video.end - video.start <= MAX_SECONDS + SLACK_S
    if not video.content or is_covered:  # of the built-in gallery, a clip plays as a whole
        return [{"src": urls["src"], "at": moment} for moment in seen.moments]
    base, count = urls["src"].rpartition("/")[0], seen.num_frames
    return [
        {"still": f"{base}/frame-{int(moment * count)}-of-{count}.jpg"} for moment in seen.moments
    ]


def film_view(answer: Answer, video: Video, windows: Iterable[Video]) -> dict[str, Any]:
    """Lay a film out as a bar from 0 to 100 %, with the moments that any system found, and the one on display.

    A clip that is no window of a film has no bar; `windows` may be all clips of the gallery.
    """
    film = [each for each in windows if video.film and each.film == video.film]
    if not film:
        return {}
    length = max(each.end or each.start for each in film) or 1.0
    found = {video.video_id, *answer.moments}

    def moment(each: Video) -> dict[str, Any]:
        left, width = (
            f"{100 * min(s / length, 1):.3f}"
            for s in (each.start, (each.end or length) - each.start)
        )
        text = times_text(each.start, each.end)
        return {
            "id": each.video_id,
            "left": left,
            "width": width,
            "text": text,
            "here": each == video,
        }

    moments = [moment(each) for each in film if each.video_id in found]
    return {
        "length": clock(length),
        "where": times_text(video.start, video.end),
        "moments": moments,
    }


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


def signed(value: float) -> str:
    """Write a number with its sign; 0 has none."""
    if abs(value) < 0.0005:
        return "0"
    return f"+{decimal(value)}" if value > 0 else decimal(value)


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


SPAN = 0.2  # of scores that a bar shows: it is empty where a line is this far behind the best
TYPE = "Type 2 to 8 captions, one per line, or press a button."
BARS = f"A bar is full for the best caption, and empty {SPAN} below it."
OTHERS = 5_000  # clips whose captions changes are taken from


def lines_of(text: str) -> list[str]:
    """Read lines as typed; empty ones do not count."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def own_pair(query: Query) -> list[str]:
    """Return a query with and without its negation, as two captions; empty if it has none.

    A mere quality, as in "a car that is not red", makes no caption with "and".
    """
    kinds = [{word.meaning.kind for word in words_in(part)} for part in query.unwanted]
    if not kinds or {"adjective"} in kinds:
        return []
    wanted, unwanted = " ".join(query.wanted), query.unwanted
    has_deed = any(word.meaning.kind == "verb" for word in words_in(wanted))
    is_doing = unwanted[0].split()[0].endswith("ing")
    if len(unwanted) == 1 and is_doing and wanted and not has_deed:
        return [f"{wanted} {unwanted[0]}", query.text]
    return [query.affirmed.text, query.text]


def with_change(searcher: Searcher, video: Video, lines: Sequence[str], change: str) -> list[str]:
    """Add a line: the first one, or the clip's shortest caption, changed by rules; without lines, that caption first.

    `change` is a name in `CHANGES`; "" adds nothing.
    """
    lines = list(lines) or sorted(video.captions, key=len)[:1]
    if not change or not lines:
        return lines
    pick("change", change, CHANGES)
    searcher.checked(lines[0])
    captions = (
        other.captions[0] for other in searcher.gallery.videos if other.captions and other != video
    )
    line = changed(lines[0], change, list(islice(captions, OTHERS)), f"{len(lines)}")
    return lines if not line or line in lines else [*lines, line]


def match_view(lines: Sequence[str], found: Match | None) -> dict[str, Any]:
    """Show the lines in a box, and each system's scores as bars; `found` is None for fewer than two lines."""
    view = {"text": "\n".join(lines), "changes": [{"name": name} for name in CHANGES]}
    if found is None:
        return {**view, "note": TYPE, "systems": []}
    note = BARS + " True lines are marked by captions." * bool(found.judged_by)
    return {**view, "note": note, "systems": [_system(found, each) for each in found.systems]}


def _system(found: Match, scored: Scored) -> dict[str, Any]:
    best = max((score for score in scored.scores if score is not None), default=0.0)
    rows = []
    for number, (query, verdict, score) in enumerate(
        zip(found.queries, found.verdicts, scored.scores, strict=True)
    ):
        kind = {None: "best", "right": "up"}.get(verdict, "down")  # of the system's choice
        width = 0 if score is None else max(0.0, 100 * (1 - (best - score) / SPAN))
        row = {
            "text": query.text,
            "truth": "true" if verdict == "right" else "",
            "width": f"{width:.0f}",
        }
        told = "–" if score is None else decimal(score)
        rows.append({**row, "score": told, "kind": kind if number == scored.best else "other"})
    return {"name": short_name(scored.system.name), "rows": rows}


@dataclass(frozen=True)
class ClipPanel:
    """Shows a clip of the answer on display, which is the first one until the page has another."""

    galleries: Galleries
    media: Media
    permissions: Permissions
    first: Callable[[], Answer]

    def on_pick(
        self, answer: Answer | None, event: gr.EventData, request: gr.Request
    ) -> dict[str, Any]:
        return self._enlarged(answer or self.first(), event_value(event, "id", str), request)

    def on_why(
        self, answer: Answer | None, event: gr.EventData, request: gr.Request
    ) -> dict[str, Any]:
        """Explain the scores of the enlarged clip under one or two systems."""
        answer = answer or self.first()
        video_id = event_value(event, "id", str)
        columns = chosen_columns(
            event_value(event, "columns", str), [seen.rank for seen in answer.see(video_id)]
        )
        detail = self._enlarged(answer, video_id, request)
        whys = explain(answer, video_id, self.galleries.live.encoder, columns)
        video = self.galleries.searcher(answer.gallery).video(video_id)
        return {**detail, "why": why_view(answer, columns, whys, video, detail)}

    def on_match(
        self, answer: Answer | None, event: gr.EventData, request: gr.Request
    ) -> dict[str, Any]:
        """Score captions for the enlarged clip with the systems on display, after adding one by rules if asked to."""
        answer = answer or self.first()
        video_id, change = event_value(event, "id", str), event_value(event, "change", str)
        searcher = self.galleries.searcher(answer.gallery)
        typed = lines_of(event_value(event, "lines", str))
        lines = [] if typed else own_pair(answer.denied or answer.query)
        if not lines:
            lines = with_change(searcher, searcher.video(video_id), typed, change)
        systems = [ranking.system.name for ranking in answer.rankings]
        found = (
            searcher.match(Reference((), video_id), lines, systems)
            if len(lines) >= MIN_LINES
            else None
        )
        return {**self._enlarged(answer, video_id, request), "match": match_view(lines, found)}

    def on_backwards(
        self, answer: Answer | None, event: gr.EventData, request: gr.Request
    ) -> dict[str, Any]:
        """Score the enlarged clip with its frames in reverse order, while it is played so."""
        answer = answer or self.first()
        video_id = event_value(event, "id", str)
        scores = scored_backwards(answer, video_id, self.galleries.live.encoder)
        return backwards_view(
            self._enlarged(answer, video_id, request), answer.see(video_id), scores
        )

    def _enlarged(self, answer: Answer, video_id: str, request: gr.Request) -> dict[str, Any]:
        searcher = self.galleries.searcher(answer.gallery)
        video = searcher.video(video_id)
        verdict, urls = answer.verdict(video_id) or "", self.media.urls(answer.gallery, video)
        film = film_view(answer, video, searcher.gallery.videos)
        tells = self.permissions.may("paths", request) and not self.permissions.space_owner
        view = detail_view(
            video, answer.see(video_id), verdict, urls, film, answer.judged_by, tells
        )
        text = verdict_text(answer, video, answer.verdict(video_id))
        reasons = {"mark": text.mark or view["mark"], "meaning": text.meaning}
        return {**view, **reasons, "boxes": boxes_text(answer, video, verdict)}
