"""How well systems understand different wordings of an exclusion: `python -m benchmarks.wordings`.

120 sentences about the built-in gallery: ten scenes in twelve wordings, with both parts known.
For each wording, it prints which share of the first eight clips is right, and which share violates,
that is, shows the unwanted part. The first column is the share that a perfect system gets right,
since four to eight clips of a scene are right.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.harness import app_searcher, arguments, write_head, write_row
from nt2vr.negation.parse.query import Query
from nt2vr.search.answers import Ranking
from nt2vr.search.judge import Verdict
from nt2vr.search.searcher import Searcher
from nt2vr.world.verdicts import judge_video

K = 8
SYSTEMS = ("CLIP", "CLIP-neg", "CLIP boolean α 0.5", "CLIP rectified", "CLIP drop")
# Also asked with the known parts instead of the parser's.
WITH_KNOWN_PARTS = ("CLIP rectified",)
# What a perfect system would get, as a column.
POSSIBLE = "possible"
Counts = dict[str, Counter[Verdict | None]]


@dataclass(frozen=True)
class Scene:
    """Who does what, without what, in the forms that the wordings need.

    Attributes:
        key: what is typed of the wanted part after an operator.
        not_key: likewise of the unwanted part.
        other: another thing or action to exclude, in lists.
    """

    who: str
    doing: str
    without: str
    key: str
    not_key: str
    other: str

    @property
    def is_action(self) -> bool:
        """Whether an action is unwanted, otherwise a thing."""
        return not self.without.startswith(("a ", "an "))

    @property
    def fields(self) -> dict[str, str]:
        """Fields of the wordings; {no} denies the unwanted part."""
        no = f"not {self.without}" if self.is_action else f"no {self.not_key}"
        return {**vars(self), "no": no}


SCENES = (
    Scene("a man", "kicking a ball", "a goal", "man ball", "goal", "tree"),
    Scene("a boy", "riding a skateboard", "a car", "boy skateboard", "car", "dog"),
    Scene("a cat", "sleeping", "a dog", "cat sleeping", "dog", "bird"),
    Scene("a woman", "surfing", "a dolphin", "woman surfing", "dolphin", "shark"),
    Scene("a man", "fishing", "a boat", "man fishing", "boat", "duck"),
    Scene("a man", "singing", "playing the guitar", "man singing", "guitar", "running"),
    Scene("a boy", "dancing", "playing the drum", "boy dancing", "drum", "singing"),
    Scene("a woman", "playing the violin", "dancing", "woman violin", "dancing", "walking"),
    Scene("a man", "skiing", "snowboarding", "man skiing", "snowboarding", "falling"),
    Scene("a woman", "eating", "dancing", "woman eating", "dancing", "singing"),
)
# For things and for actions if two; one per scene in turn if more.
WORDINGS: Mapping[str, Sequence[str]] = {
    "operator": ("{key} -{not_key}",) * 2,
    "order swapped": ("{no}, but {who} {doing}", "{no} but {who} {doing}"),
    "list": ("{who} {doing}, no {not_key} or {other}", "{who} {doing}, not {without} or {other}"),
    "exception": (
        "all clips of {who} {doing} except those with {without}",
        "all clips of {who} {doing} except anyone {without}",
    ),
    "request": (
        "show me {who} {doing}, I don't want to see {without}",
        "please show me {who} {doing} but don't show anyone {without}",
    ),
    "contraction": ("{who} {doing} and there isn't {without}", "{who} {doing} who isn't {without}"),
    "instead of": ("{who} {doing} instead of {without}",) * 2,
    "rather than": ("{who} {doing} rather than {without}",) * 2,
    "without": ("{who} {doing} without {without}",) * 2,
    "minus": ("{who} {doing} minus {without}",) * 2,
    "typo": (
        "{who} {doing} wihtout {without}",
        "{who} {doing} excpet {without}",
        "{who} {doing} w/o {without}",
        "{who} {doing} insted of {without}",
        "{who} {doing} exluding {without}",
        "{who} {doing}, nto {without}",
        "{who} {doing} rather then {without}",
        "{who} {doing} witout {without}",
        "{who} {doing} but nto {without}",
        "{who} who isnt {without} but {doing}",
    ),
    "denies nothing": (
        "no doubt {who} {doing}",
        "you can't miss {who} {doing}",
        "{who} {doing} like nobody's business",
        "why not {who} {doing}",
        "{who} who never stops {doing}",
        "{who} who can't stop {doing}",
        "{who} {doing}, no kidding",
        "{who} {doing} in no time",
        "nothing beats {who} {doing}",
        "I have never seen such {who} {doing}",
    ),
}


def sentences_of(wording: str) -> list[Query]:
    """Return a wording's sentences with their known parts."""
    templates = WORDINGS[wording]
    sentences = []
    for number, scene in enumerate(SCENES):
        template = templates[number] if len(templates) > 2 else templates[scene.is_action]
        unwanted: tuple[str, ...] = (scene.without,)
        if wording == "list":
            unwanted = (scene.without, scene.other)
        elif wording == "denies nothing":
            unwanted = ()
        text = template.format(**scene.fields)
        sentences.append(Query(text, (f"{scene.who} {scene.doing}",), unwanted))
    return sentences


def counted(searcher: Searcher, query: Query, ranking: Ranking) -> Counter[Verdict | None]:
    """Count the verdicts on the first clips by the known parts."""
    return Counter(judge_video(query, searcher.video(hit.video_id)) for hit in ranking.hits)


def count_verdicts(searcher: Searcher, queries: Sequence[Query], names: Sequence[str]) -> Counts:
    """Count what is possible, and the verdicts on the first clips of each system."""
    counts: Counts = {name: Counter() for name in (POSSIBLE, *names)}
    for query in queries:
        fitting = [judge_video(query, video) == "right" for video in searcher.gallery.videos]
        counts[POSSIBLE]["right"] += min(K, sum(fitting))
        by_parser = searcher.search(query.text, SYSTEMS, K).rankings
        by_known_parts = searcher.search(query, WITH_KNOWN_PARTS, K).rankings
        for name, ranking in zip(names, (*by_parser, *by_known_parts), strict=True):
            counts[name] += counted(searcher, query, ranking)
    return counts


def main() -> None:
    """Print a row per wording."""
    arguments("wordings", __doc__).parse_args()
    names = [*SYSTEMS, *(f"{name}, parts known" for name in WITH_KNOWN_PARTS)]
    total: Counts = {name: Counter() for name in (POSSIBLE, *names)}
    with app_searcher() as searcher:
        write_head("right / violating, %", POSSIBLE, *names)
        for wording in WORDINGS:
            counts = count_verdicts(searcher, sentences_of(wording), names)
            write_row(wording, *_cells(counts, len(SCENES)))
            for name, verdicts in counts.items():
                total[name] += verdicts
    write_row("all", *_cells(total, len(SCENES) * len(WORDINGS)))


def _cells(counts: Counts, num_queries: int) -> list[str]:
    percent = 100 / (K * num_queries)
    cells = []
    for name, verdicts in counts.items():
        cell = f"{percent * verdicts['right']:.0f}"
        if name != POSSIBLE:
            cell += f" / {percent * verdicts['violation']:.0f}"
        cells.append(cell)
    return cells


if __name__ == "__main__":
    main()
