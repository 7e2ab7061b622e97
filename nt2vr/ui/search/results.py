"""What an answer shows: how the query was understood, and a column of clips per system; data for templates."""

import io
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import groupby
from operator import itemgetter
from typing import Any
from urllib.parse import quote

from nt2vr.errors import counted, listed
from nt2vr.files import SafeCsv
from nt2vr.media.gallery import Video
from nt2vr.negation.parse.cues import cues
from nt2vr.negation.parse.inflect import inflect_phrase, is_only_verb
from nt2vr.negation.parse.query import Query, Span
from nt2vr.negation.parse.tokens import normalised
from nt2vr.notebook import SPOKEN
from nt2vr.search.answers import Answer, Hit, Ranking, Verdict
from nt2vr.search.searcher import DEFAULT_K
from nt2vr.search.strategies import STRATEGIES, STRENGTHS, System
from nt2vr.ui.search.state import SearchState, write_parts
from nt2vr.ui.search.twins import Twin, find_twins
from nt2vr.ui.search.verdict_texts import shows_it, verdict_text
from nt2vr.world.evidence import evidence
from nt2vr.world.query_claims import read_query
from nt2vr.world.reasons import lacking

# cosine of two clips from which they look the same: of 22 films re-encoded the smallest was .984,
# trimmed by .4 s .988 but for two; of different films the largest was .87. What a fixed camera sees
# a minute later reaches .996.
ALIKE = 0.98
MARKS = {**SPOKEN, "right": "✓"}
UPLOADS = "The link keeps clips of this gallery, but nothing that was uploaded."
NOTHING_LEFT = "Without its negated part, this query is empty."
BY_CAPTIONS = (
    "Verdicts are by captions, from what these say of the wanted and of the unwanted part. What no caption mentions "
    "may still be in the picture."
)
NO_GOOD_MATCH = "No good match: the best score is below what matching clips usually get."
ABOUT = {  # what the built-in models were taught
    "CLIP": "captions only",
    "CLIP-bnl": "the paper's loss",
    "CLIP-con": "CoN-CLIP's loss",
    "CLIP-neg": "taught negation",
    "CLIP4Clip": "order of frames",
    "CLIP-vfc": "taught verbs",
}
WHY_BNL = "docs/paper-nt2vr.md#what-clip-bnls-loss-teaches"
RUN_DATE = re.compile(r"-(\d{4})(\d{2})(\d{2})-(\d{2})(\d{2})\d{2}(?=$|[ -])")


@dataclass(frozen=True)
class Marked:
    """Relevant clips of a judged query, and the legend that explains their marks."""

    video_ids: frozenset[str] = frozenset()
    legend: str = ""


def decimal(value: float) -> str:
    """Write a score in three digits, with a minus sign rather than a hyphen."""
    return f"{value:.3f}".replace("-", "\N{MINUS SIGN}")


def short_name(name: str) -> str:
    """Shorten the date in names of runs and their systems: "bnl-20261122-212355" to "bnl 22/11 21:23"."""
    return RUN_DATE.sub(r" \3/\2 \4:\5", name, count=1)


def system_choices(names: Sequence[str]) -> list[tuple[str, str]]:
    return [(short_name(name), name) for name in names]


def times_text(start: float, end: float | None) -> str:
    """Write where a window lies in its film: 1:05–1:15."""
    return f"{clock(start)}–{clock(end) if end is not None else 'end'}"


def clock(seconds: float) -> str:
    """Write a time as players do: 0:05, 12:30, 1:02:03."""
    hours, rest = divmod(round(seconds), 3600)
    minutes, seconds = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


def folded(ranking: Ranking, k: int) -> Ranking:
    """Keep the best k hits that look different; a near-duplicate from another file shares the rank of the best one.

    Of one verdict only, so that no violation is folded away.
    """
    gallery, hits = ranking.gallery, ranking.hits
    if gallery is None:
        return ranking
    vectors = gallery.clips(None, [gallery.row_of[hit.video_id] for hit in hits])
    best: dict[int, int] = {}  # places of hits with their new ranks
    ranks: dict[int, int] = {}  # new ranks by old ones
    for place, hit in enumerate(hits):
        near = (
            each
            for each in best
            if hits[each].source != hit.source and hits[each].verdict == hit.verdict
        )
        like = next((each for each in near if vectors[each] @ vectors[place] >= ALIKE), place)
        if like in best or len(best) < k:
            ranks[hit.rank] = best.setdefault(like, len(best) + 1)
    others = sorted({*ranking.ranks.values()} - ranks.keys())
    ranks |= {rank: number for number, rank in enumerate(others, len(best) + 1)}
    kept = tuple(replace(hits[place], rank=rank) for place, rank in best.items())
    return replace(
        ranking, hits=kept, ranks={clip: ranks[rank] for clip, rank in ranking.ranks.items()}
    )


Urls = Callable[[Video], Mapping[str, str]]  # a clip's `src` and `poster`
VideoOf = Callable[[str], Video]  # by its id


def columns_view(
    answer: Answer,
    video_of: VideoOf,
    urls: Urls,
    marked: Marked = Marked(),
    other: Answer | None = None,
) -> dict[str, Any]:
    """Show each system's hits in a column, with their movement compared with the first system.

    Each says how much of the negation it noticed, if `other` is the answer with it taken away, or
    put back.
    """
    if not answer.rankings:
        return {"columns": []}
    verdicts = {hit.verdict for ranking in answer.rankings for hit in ranking.hits}
    judged, complete = bool(verdicts - {None}), None not in verdicts
    badges = [_badge(ranking, answer, complete) if judged else {} for ranking in answer.rankings]
    lines = [
        _told(each, answer, video_of, other if answer.denied else None) for each in answer.rankings
    ]

    twins = find_twins(_rankings_with_negation(answer, other))

    def clip(hit: Hit, ranking: Ranking) -> dict[str, Any]:
        video, verdict = video_of(hit.video_id), hit.verdict or ""
        text = verdict_text(answer, video, hit.verdict)
        ranked = [each for each in answer.rankings if hit.video_id in each.ranks]
        return {
            "id": hit.video_id,
            **urls(video),
            "where": times_text(hit.moments[0].start, hit.moments[-1].end) if hit.moments else "",
            "caption": next(iter(video.captions), hit.video_id),
            "rank": hit.rank,
            "score": decimal(hit.score),
            "verdict": verdict,
            "mark": text.mark,
            "mark_meaning": text.meaning,
            "lacks": text.lacks,
            "boxes": boxes_text(answer, video, verdict),
            "ranks": json.dumps(
                {short_name(each.system.name): each.ranks[hit.video_id] for each in ranked}
            ),
            "judged": hit.video_id in marked.video_ids,
            **_movement(hit, answer.rankings[0], ranking),
            "spoken": ", ".join(filter(None, (f"Rank {hit.rank}", text.spoken))),
        }

    def tiles(ranking: Ranking) -> Iterator[dict[str, Any]]:
        """Yield each hit, and after it what is folded into it: clips of other files that share its rank."""
        for hit in ranking.hits:
            shared = [video_of(name) for name, rank in ranking.ranks.items() if rank == hit.rank]
            others = {each.film or each.video_id: each for each in reversed(shared)}
            others.pop(hit.source, None)
            yield clip(hit, ranking) | {"alike": f"{len(others)} more like this" if others else ""}
            for video in reversed(others.values()):
                where = times_text(video.start, video.end) if video.film else ""
                like = clip(replace(hit, video_id=video.video_id, moments=()), ranking)
                yield like | {"fold": hit.video_id, "where": where, "score": ""}

    return {
        "legend": marked.legend,
        "by_captions": BY_CAPTIONS if judged and answer.judged_by else "",
        "columns": [
            {
                "name": short_name(ranking.system.model),
                "system": short_name(ranking.system.name),
                "meaning": f"Searches for {STRATEGIES[ranking.system.strategy].meaning}",
                "how": (how := how_text(ranking.system, ranking.epoch)),
                "about": "" if how else ABOUT.get(ranking.system.model, ""),
                "twin": _twin_text(twin, ranking, answer),
                "twin_why": WHY_BNL if ranking.system.model == "CLIP-bnl" else "",
                "badge": badge,
                "line": _line(ranking, answer, complete) if judged else {},
                "told": told,
                **_stays_view(ranking, other),
                "note": " ".join(notes(ranking, answer, judged)),
                "hits": list(tiles(ranking)),
            }
            for ranking, badge, twin, told in zip(
                answer.rankings, badges, twins, lines, strict=True
            )
        ],
        "said": " ".join(map(_spoken, answer.rankings, badges)),
    }


def boxes_text(answer: Answer, video: Video, verdict: str) -> str:
    """Write for the browser where a clip shows what a query excludes, if it violates that; otherwise nothing."""
    found = evidence(answer.query, video) if verdict == "violation" and not answer.judged_by else ()
    return json.dumps(found, separators=(",", ":")) if found else ""


def _rankings_with_negation(answer: Answer, other: Answer | None) -> Sequence[Ranking]:
    """Return the rankings that say which columns fold, so that these stay when the negation is taken away."""
    if other is None or answer.denied is None:
        return answer.rankings
    is_same = [each.system for each in other.rankings] == [each.system for each in answer.rankings]
    return other.rankings if is_same else answer.rankings


def _twin_text(twin: Twin | None, ranking: Ranking, answer: Answer) -> str:
    """Say which earlier column a folded column repeats; empty for a column that stays."""
    if twin is None:
        return ""
    earlier = short_name(answer.rankings[twin.place].system.name)
    if not twin.is_exact:
        return f"shares {twin.num_shared} of {DEFAULT_K} clips with {earlier}"
    text = f"shows the same clips as {earlier}"
    if STRATEGIES[ranking.system.strategy].needs_picture:
        return f"{text}, as there is no picture"
    if not answer.query.unwanted:
        return f"{text}, as nothing is excluded"
    return text


def _spoken(ranking: Ranking, badge: Mapping[str, Any]) -> str:
    """Announce a column to screen readers."""
    counts = [badge[name] for name in ("text", "more") if badge.get(name)] or [
        f"{len(ranking.hits)} results"
    ]
    return f"{short_name(ranking.system.name)}: {', '.join(counts)}."


def how_text(system: System, epoch: int | None) -> str:
    """Name a system's strategy, unless it is the sentence as typed, and for a run the epoch that answered."""
    strategy = system.name.removeprefix(system.model).strip()
    return " · ".join(filter(None, (f"epoch {epoch}" if epoch else "", strategy)))


def _badge(ranking: Ranking, answer: Answer, complete: bool) -> dict[str, Any]:
    """Count the clips that are right, which decides the colour; then the violations.

    Only violations are known where a word of the query is unknown: verdicts are not `complete`.
    """
    total, right, violations = (
        len(ranking.hits),
        ranking.counts["right"],
        ranking.counts["violation"],
    )
    negated = bool(answer.query.unwanted or answer.query.others)
    if not total:
        return {}
    kind = _kind(total - violations, total) if violations else "neutral"
    if not complete and not answer.judged_by:
        if not negated or (not violations and not read_query(answer.query).is_known):
            return {}
        return {
            "kind": kind,
            "text": _shows_of(violations, total),
            "brief": shows_it(violations),
            "more": "",
        }
    kind = kind if answer.judged_by else _kind(right, total)
    return {
        "kind": kind,
        "text": f"{right} of {total} right{f' by {answer.judged_by}' if answer.judged_by else ''}",
        "brief": f"{right}/{total}",
        "more": shows_it(violations) if negated else "",
        "worse": kind if negated and violations else "",
    }


def _shows_of(violations: int, total: int) -> str:
    return f"{violations} of {total} {'shows' if violations == 1 else 'show'} it"


def _kind(right: int, total: int) -> str:
    """Grade a share of clips by a colour: green from three quarters, red below half."""
    return "good" if 4 * right >= 3 * total else "fair" if 2 * right >= total else "bad"


def _line(ranking: Ranking, answer: Answer, complete: bool) -> dict[str, str]:
    """Sum a column up for the stage, with the same numbers for every system."""
    right, violations, total = (
        ranking.counts["right"],
        ranking.counts["violation"],
        len(ranking.hits),
    )
    if not total:
        return {"kind": "bad", "text": "nothing left to search for"}
    if not (complete or violations):
        return {}
    show = shows_it(violations) if complete else _shows_of(violations, total)
    texts = [f"{right} of {total} right"] * complete + [show] * bool(answer.query.unwanted)
    return {
        "kind": _kind(right if complete else total - violations, total),
        "text": ", ".join(texts),
    }


def notes(ranking: Ranking, answer: Answer, judged: bool) -> Iterator[str]:
    """Yield remarks on a ranking, one sentence each; where it is `judged`, none is on a low score."""
    if ranking.notice:
        yield ranking.notice
    if not ranking.hits:
        yield NOTHING_LEFT
        return
    if ranking.recall < 1:
        yield f"Approximate search: it finds {100 * ranking.recall:.1f} % of the ten best clips."
    if ranking.low and not judged:  # verdicts know better
        yield NO_GOOD_MATCH
    if as_typed := answer.as_typed(ranking):
        words = listed(*(f"“{word}”" for word in as_typed))
        yield f"{ranking.system.model} knows {words}, so nothing was replaced."
    if ranking.reads:
        yield f"Its bag of words sees only: {ranking.reads}."
    if ranking.unseen:
        yield f"{ranking.system.model} has never seen: {', '.join(ranking.unseen)}."


def _stayed(ranking: Ranking, other: Answer) -> int:
    """Count a column's clips that it also shows with the negation taken away, or put back."""
    before = {
        hit.source for each in other.rankings if each.system == ranking.system for hit in each.hits
    }
    return sum(hit.source in before for hit in ranking.hits)


def _stays_view(ranking: Ranking, other: Answer | None) -> dict[str, str]:
    """Say how many clips stayed since the `other` answer, at length and in a word."""
    if other is None or not ranking.hits:
        return {"stayed": "", "same": ""}
    stayed = _stayed(ranking, other)
    return {"stayed": f"{stayed} of {len(ranking.hits)} clips stayed", "same": f"{stayed} stayed"}


def _flipped(ranking: Ranking, other: Answer) -> dict[str, str]:
    """Say what taking the negation away changed; that nothing did is what a model gets wrong."""
    total, stayed = len(ranking.hits), _stayed(ranking, other)
    if stayed == total:
        return {"kind": "bad", "text": f"gives the same {counted(total, 'clip')}."}
    changed = f"all {total}" if not stayed else f"{total - stayed} of {total}"
    return {"kind": _kind(total - stayed, total), "text": f"changes {changed}."}


def _movement(hit: Hit, first: Ranking, ranking: Ranking) -> dict[str, str]:
    """Say how many places better (▲) or worse (▼) than in the first column; "new" if it is not shown there."""
    if ranking is first:
        return {"move": ""}
    before = first.ranks.get(hit.video_id)
    if before is None or before > len(ranking.hits):
        return {"move": "new", "moved": "Not among the first column's results"}
    better = before - hit.rank
    if not better:
        return {"move": "=", "moved": "Same rank as in the first column"}
    sign, word = ("▲", "better") if better > 0 else ("▼", "worse")
    return {
        "move": f"{sign}{abs(better)}",
        "moved": f"{abs(better)} ranks {word} than in the first column",
    }


WORD = re.compile(r"\w+")
LETTERS = re.compile(r"[^\W\d_]*$")
HELPER = re.compile(
    r"(?:\b(?:do|does|did|can|could|will|would|should|must|may|might) )?$", re.IGNORECASE
)
BETWEEN = re.compile(r"(?: [\w']+){0,5} ")  # words of a cue and of what it denies
DEED = re.compile(
    r"\w+ing \w|(?:on|in|at|with|from|under|behind) ", re.IGNORECASE
)  # a deed or a place
DETERMINER = re.compile(r"^(?:an?|the|my|his|her|its|their|our|your) ", re.IGNORECASE)
ARTICLES = frozenset({"a", "an", "the"})
FLIPS = ("Search without the negation (0)", "Put the negation back (0)")
MAX_MOVES_CHARS = (
    300_000  # of all moves, which repeat the parts per word: enough for the longest sentence
)


def corrected(text: str, wanted: str, unwanted: str) -> Query:
    """Return a query whose parts a person has corrected."""
    parts = tuple(part.strip() for part in unwanted.split(",") if part.strip())
    return Query(text, (wanted.strip(),) if wanted.strip() else (), parts)


def part_texts(query: Query) -> tuple[str, str]:
    """Write a query's wanted and unwanted part as the boxes for correcting them do."""
    return " ".join(query.wanted), ", ".join(query.unwanted)


def with_corrections(
    state: SearchState, understand: Callable[[str, bool], Query]
) -> tuple[SearchState, Query, Query]:
    """Return the state, the query with the parts that a person corrected, and the query as it was understood.

    The state's parts are dropped if they are those that are understood. `understand` takes a
    sentence, and whether it edits references.
    """
    parsed = query = understand(state.q, bool(state.references))
    wanted, _, unwanted = state.parts.partition("|")
    if state.parts and state.parts != write_parts(*part_texts(parsed)):
        query = corrected(state.q, wanted, unwanted)
    else:
        state = replace(state, parts="")
    return state if query.unwanted else replace(state, flip=""), query, parsed


def understood_view(
    answer: Answer,
    state: SearchState,  # for the address
    parsed: Query,  # before the person corrected it
    picture: str = "",  # remark about the reference picture
    lines: Sequence[Mapping[str, str]] = (),  # what came of it, see `headline`
) -> dict[str, Any]:
    """Show how a query was understood, and in words what came of it."""
    query = answer.denied or answer.query
    is_corrected = part_texts(query) != part_texts(parsed)
    said = _said(query, parsed, bool(state.flip))
    uploads = UPLOADS if any(reference.path for reference in state.references) else ""
    notices = (query.notice, picture, uploads, _only_verdicts(answer) if is_corrected else "")
    return {
        "pieces": _pieces(marked_again(query, parsed) if is_corrected else query, bool(state.flip)),
        "affirmed": query.affirmed.text if query.unwanted else "",
        "notice": " ".join(filter(None, notices)),
        "flipped": bool(state.flip),
        "negates": "false" if state.flip else "true",
        "flips": FLIPS[bool(state.flip)],
        "said": said,
        "cued": any("cue" in each for each in said),
        "told": list(lines),
        "read_as": [{"word": word, "other": other} for word, other in answer.read_as.items()],
        "link": state.link,
    }


def legends_view(view: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is said of the columns as a whole: what their marks mean, and which are folded."""
    twins = [column for column in view["columns"] if column.get("twin")]
    fields = ("system", "twin", "twin_why")
    return {
        "by_captions": view.get("by_captions", ""),
        "legend": view.get("legend", ""),
        "twins": [{field: column[field] for field in fields} for column in twins],
    }


def sliders_view(answer: Answer, state: SearchState) -> list[dict[str, Any]]:
    """Show each strategy's strength, of the first system that its slider could change, otherwise its own."""
    found = []
    for name, strength in STRENGTHS.items():
        own = [
            r.strength
            for r in answer.rankings
            if r.system.strategy == name and r.system.strength is None
        ]
        value = own[0] if own else state.strengths.get(name, strength.default)
        found.append({"visible": True if own else "hidden", "value": value})
    return found


def parts_view(answer: Answer, parsed: Query) -> dict[str, Any]:
    """Show the parts of a query for correction: each word moves to the other part, and all go back to `parsed`.

    If that were very long, no word moves; the boxes for correcting the parts remain.
    """
    query = answer.denied or answer.query
    wanted, unwanted = part_texts(query)
    words, parts = wanted.split(), query.unwanted

    def move(text: str, wanted: str, unwanted: Sequence[str]) -> dict[str, str]:
        return {"text": text, "wanted": wanted, "unwanted": ", ".join(unwanted)}

    moves: dict[str, list[dict[str, str]]] = {"wanted": [], "unwanted": []}
    if (len(words) + len(parts)) * (len(wanted) + len(unwanted)) <= MAX_MOVES_CHARS:
        for place, word in enumerate(words):
            others = " ".join(words[:place] + words[place + 1 :])
            moves["wanted"].append(move(word, others, (*parts, word)))
        for place, part in enumerate(parts):
            joined = " and ".join(filter(None, (wanted, part)))
            moves["unwanted"].append(move(part, joined, parts[:place] + parts[place + 1 :]))
    as_parsed = dict(zip(moves, part_texts(parsed), strict=True))
    undo = [as_parsed] if part_texts(query) != part_texts(parsed) else []
    return {"moves": moves, "undo": undo, "flipped": answer.denied is not None}


def headline(columns: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Say what the first and the last column made of a query, each with a `kind`; none of what is learning."""
    found = [each for each in columns if "run" not in each]
    ends = (*found[:1], *found[1:][-1:])
    return [
        {**each["told"], "text": f"{each['system']} {each['told']['text']}"}
        for each in ends
        if each["told"]
    ]


def _told(
    ranking: Ranking, answer: Answer, video_of: VideoOf, other: Answer | None
) -> dict[str, str]:
    """Say what a system made of a query, by verdicts, or by what changed since the `other` answer, with the negation.

    Nothing where these say nothing.
    """
    if not ranking.hits:
        return {}
    if other:
        return _flipped(ranking, other)
    unwanted, by = answer.query.unwanted, f" by {answer.judged_by}" if answer.judged_by else ""
    total = len(ranking.hits)
    right, violations, misses = (
        ranking.counts[verdict] for verdict in ("right", "violation", "miss")
    )
    is_complete = right + misses + violations == total
    lost, kind = (
        _lost(ranking, answer.query, video_of) if by or is_complete else "",
        _kind(right, total),
    )
    if not answer.has_verdicts or (not unwanted and not by and not is_complete):
        return {}
    if not unwanted:
        return {
            "kind": kind,
            "text": f"is right in {right} of {total}{by}{f'; {lost}' * bool(lost)}.",
        }
    if violations:
        shows = "shows it" if len(unwanted) == 1 else "shows some of it"
        text = f"{shows} anyway, in {violations} of {total}{by}{f'; {lost}' * bool(lost)}."
        return {"kind": "bad" if 2 * violations > total else "fair", "text": text}
    if not by and not (right and is_complete and read_query(answer.query).is_known):
        return {"kind": "bad", "text": f"misses what is wanted: {lost}."} if lost else {}
    return {"kind": kind, "text": f"leaves it out{by}{f', but {lost}' * bool(lost)}."}


def _lost(ranking: Ranking, query: Query, video_of: VideoOf) -> str:
    """Say what most clips lack of what is wanted, and how many: "7 of 8 show no pizza"."""
    total = len(ranking.hits)
    reasons = Counter[str]()
    for hit in ranking.hits:
        if hit.verdict in ("miss", "violation"):
            reasons.update(lacking(query, video_of(hit.video_id)))
    if not reasons:
        misses = ranking.counts["miss"]
        return (
            f"{misses} of {total} {'lacks' if misses == 1 else 'lack'} the rest" if misses else ""
        )

    (reason, count), *_ = reasons.most_common(1)
    if reason.startswith("not "):
        return f"{count} of {total} {'is' if count == 1 else 'are'} {reason}"
    if reason.startswith("no "):
        return f"{count} of {total} {'shows' if count == 1 else 'show'} {reason}"
    return f"{count} of {total}: {reason}"


def _said(query: Query, parsed: Query, is_flipped: bool) -> list[dict[str, Any]]:
    """Repeat what was excluded: each cue, which flips the negation, and what it denies: "no cats, dogs or birds"."""
    if not query.unwanted:
        # a man and nobody else
        others = [f"other {kind.removeprefix('other ')}" for kind in query.others]
        return [{"text": listed(*others, joint="or")}] if others else []
    text, pieces = query.text, list[dict[str, Any]]()
    if len(query.scopes) != len(query.unwanted):  # corrected
        flips = [{"cue": _cue_text(text, cue), **_flip(is_flipped)} for cue in parsed.cues[:1]]
        return [*flips, {"text": listed(*query.unwanted, joint="or")}]
    groups = _scopes_of_cues(query)
    for number, (cue, scopes) in enumerate(groups, start=1):
        typed, things = _cue_text(text, cue), [text[slice(*scope)] for scope in scopes]
        between = text[cue.end : scopes[0].start]
        following = _cue_text(text, groups[number][0]).lower() if number < len(groups) else ""
        if scopes[0].start < cue.start:
            typed, things = "no", [DETERMINER.sub("", thing) for thing in things]
        elif scopes[0].start == cue.start:  # hatless, nobody, nothing on the counter
            things = [*filter(None, [text[cue.end : scopes[0].end].strip()]), *things[1:]]
        elif typed != "no" and BETWEEN.fullmatch(between):  # don't | want to see | rain
            things[0] = f"{between.strip()} {things[0]}".strip()
        if (
            typed in {"no", "not"} and things and is_only_verb(things[0].partition(" ")[0])
        ):  # cat not | eat
            typed, things[0] = "not", inflect_phrase(things[0], "VBG")
        is_mark = (
            typed == "no" != text[slice(*cue)].lower()
        )  # -dancing; a typed "no training wheels" stays
        typed = "not" if is_mark and things and DEED.match(things[0]) else typed
        said = listed(*things, joint="or") if following != "nor" else ", ".join(things)
        joint = "" if following in {"", "nor"} else " and" if number + 1 == len(groups) else ","
        pieces += [{"cue": typed, **_flip(is_flipped)}, {"text": f"{said}{joint}".strip()}]
    return pieces


def _scopes_of_cues(query: Query) -> list[tuple[Span, list[Span]]]:
    """Return the scopes of each cue that has any: those up to the next cue, or the last one before it."""
    groups: list[tuple[Span, list[Span]]] = []
    starts = [cue.start for cue in query.cues[1:]]
    for cue, stop in zip(query.cues, [*starts, len(query.text) + 1], strict=True):
        scopes = [scope for scope in query.scopes if cue.start <= scope.start < stop]
        if not groups:
            scopes = [scope for scope in query.scopes if scope.start < cue.start] + scopes
        elif not scopes and len(groups[-1][1]) > 1:
            scopes = [groups[-1][1].pop()]
        groups += [(cue, scopes)] if scopes else []
    return groups


@cache
def _typed_cues() -> frozenset[str]:
    return frozenset(cue.replace(" n't", "n't").replace(" '", "'") for cue in cues())


def _cue_text(text: str, cue: Span) -> str:
    """Return a cue as typed, with the word that "n't" is part of; "no" for a mark and for words of a remark."""
    words = " ".join(map(normalised, text[slice(*cue)].split()))
    is_typed = words in _typed_cues() or words.endswith((" yet to", "n't", " not"))
    if not is_typed or not words[0].isalpha():
        return "no"
    before = (HELPER if words == "not" else LETTERS).search(text, 0, cue.start)  # does | not sink
    return text[before.start() if before else cue.start : cue.end]


def downloads(answer: Answer) -> dict[str, str]:
    table = io.StringIO()
    writer = SafeCsv(table)
    writer.writerow(("system", "rank", "video_id", "score", "verdict"))
    for ranking in answer.rankings:
        for hit in ranking.hits:
            for name in [moment.video_id for moment in hit.moments] or [hit.video_id]:
                writer.writerow((ranking.system.name, hit.rank, name, hit.score, hit.verdict or ""))
    as_json = json.dumps(answer.as_dict(), indent=1, ensure_ascii=False)
    files = (("json", "application/json", as_json), ("csv", "text/csv", table.getvalue()))
    return {name: f"data:{kind};charset=utf-8,{quote(text)}" for name, kind, text in files}


def marked_again(query: Query, parsed: Query) -> Query:
    """Return a corrected query with its unwanted words marked in the sentence, and the cues of the parsed one."""
    scopes = tuple(span for part in query.unwanted for span in _spans_of(part, query.text))
    return replace(query, cues=parsed.cues if query.unwanted else (), scopes=scopes)


def _spans_of(part: str, text: str) -> list[Span]:
    """Return where a text has a part, as the last such phrase, otherwise all its words but articles."""
    found = list(WORD.finditer(text))
    words, sought = (
        [match[0].lower() for match in found],
        [match[0].lower() for match in WORD.finditer(part)],
    )
    for at in range(len(words) - len(sought), -1, -1):
        if sought and words[at : at + len(sought)] == sought:
            return [Span(found[at].start(), found[at + len(sought) - 1].end())]
    wanted = {*sought} - ARTICLES
    return [Span(*match.span()) for match, word in zip(found, words, strict=True) if word in wanted]


def _only_verdicts(answer: Answer) -> str:
    """Name the systems that search for the sentence as typed, whatever its parts."""
    whole = [
        ranking.system.name for ranking in answer.rankings if ranking.system.strategy == "plain"
    ]
    if not whole:
        return ""
    verb, their = ("searches", "its") if len(whole) == 1 else ("search", "their")
    return f"{listed(*whole)} {verb} for the whole sentence: the correction changes only {their} verdicts."


def picture_remark(query: Query, verdict: Verdict | None, systems: Sequence[str] = ()) -> str:
    """Warn that a picture is searched for with all that it shows, unless its verdict says nothing of it is unwanted.

    `systems` names those that do so, and is empty for all.
    """
    if not query.unwanted or verdict in ("right", "miss"):
        return ""
    whole = f"searched for as a whole{' by ' * bool(systems)}{listed(*systems)}"
    parts = " or ".join(f"“{part}”" for part in query.unwanted)
    if verdict is None:
        return f"The picture is {whole}, with {parts} if it shows that."
    return f"The picture shows {parts}, which the text excludes: it is {whole}."


def _pieces(query: Query, is_flipped: bool) -> list[dict[str, Any]]:
    """Split the sentence at the boundaries of its cues, each of which flips the negation, and scopes."""
    kinds = ["plain"] * len(query.text)
    for spans, kind in ((query.scopes, "scope"), (query.cues, "cue")):
        for start, end in spans:
            kinds[start:end] = [kind] * (end - start)
    pieces = []
    for kind, run in groupby(zip(kinds, query.text, strict=True), key=itemgetter(0)):
        flips = _flip(is_flipped) if kind == "cue" else None
        pieces.append(
            {"kind": kind, "text": "".join(character for _, character in run), "flips": flips}
        )
    return pieces


def _flip(is_flipped: bool) -> dict[str, str]:
    return {"pressed": "true" if is_flipped else "false", "title": FLIPS[is_flipped]}
