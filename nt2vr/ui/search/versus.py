"""Two queries beside each other, as template data: a column per system and query, and what both find."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nt2vr.media.gallery import Video
from nt2vr.search.answers import Answer, Ranking
from nt2vr.search.overlap import Overlap, clip_of, overlap
from nt2vr.ui.search.clip_view import detail_view
from nt2vr.ui.search.column_view import short_name

MOST = 2  # systems beside a second query: each takes two columns
BOTH = {"move": "both", "moved": "Both queries find this clip"}
NEITHER = {"move": "", "moved": ""}


def shared_by(answer: Answer) -> list[Overlap]:
    """Compare an answer with the one beside it, per system; nothing if there is none."""
    return overlap(answer, answer.beside) if answer.beside else []


def told_of_both(answer: Answer) -> list[dict[str, str]]:
    """Say how many clips both queries find, per system. Few alone are no praise, so nothing is coloured."""
    return [
        {"kind": "", "text": f"{short_name(each.system)} finds {len(each.shared)} of {each.k} clips for both."}
        for each in shared_by(answer)
        if each.k
    ]


def left_out(systems: Sequence[str]) -> str:
    """Say which systems have no room beside a second query; empty if all have."""
    if not (names := [short_name(name) for name in systems[MOST:]]):
        return ""
    verb = "is" if len(names) == 1 else "are"
    return f"Beside a second query, {MOST} systems fit: {', '.join(names)} {verb} left out."


def woven(view: Mapping[str, Any], answer: Answer, view_of: Callable[[Answer], Mapping[str, Any]]) -> dict[str, Any]:
    """Put the column of the second query beside each system's own, and mark the clips that both find."""
    if answer.beside is None:
        return dict(view)
    seconds, columns = view_of(answer.beside)["columns"], []
    for place, each in enumerate(shared_by(answer)):
        stayed = f"{len(each.shared)} of {each.k} clips are found by both" if each.k else ""
        for asked, column in ((answer, view["columns"][place]), (answer.beside, seconds[place])):
            columns.append(_column(column, asked, asked.rankings[place], each, stayed))
    return {**view, "columns": columns, "said": " ".join(each["text"] for each in told_of_both(answer))}


def with_second(view: Mapping[str, Any], answer: Answer, video: Video, urls: Mapping[str, str]) -> dict[str, Any]:
    """Add the ranks of a clip for a second query to its `detail_view`; no mark then, as that would be of one query."""
    if answer.beside is None:
        return dict(view)
    views = (answer, view), (answer.beside, detail_view(video, answer.beside.see(view["id"]), "", urls))
    rows = [{**row, "name": f"{row['name']} “{asked.query.text}”"} for asked, shown in views for row in shown["seen"]]
    return {**view, "verdict": "", "mark": "", "seen": rows}


def _column(column: Mapping[str, Any], asked: Answer, ranking: Ranking, both: Overlap, stayed: str) -> dict[str, Any]:
    text = f"“{asked.query.text}”"
    hits = [
        {**shown, **(BOTH if clip_of(hit) in both.shared else NEITHER)}
        for shown, hit in zip(column["hits"], ranking.hits, strict=True)
    ]
    how = " ".join(filter(None, (column["how"], text)))
    line = {name: value.partition(",")[0] for name, value in column["line"].items()}  # of four columns on a stage
    return {**column, "how": how, "system": f"{column['system']} {text}", "line": line, "stayed": stayed, "hits": hits}
