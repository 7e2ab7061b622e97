"""How systems hear the wordings of an exclusion: `python -m benchmarks.wordings`.

120 sentences about the built-in gallery: ten scenes in twelve wordings, with both parts known.
Prints, per wording, what share of the first eight clips is right, and what share violates: shows
the unwanted part. The first column is the share that a perfect system would get right: four to
eight clips of a scene are.
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
WITH_GOLD = ("CLIP rectified",)  # also asked with the known parts instead of the parser's


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
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {**fields, "no": f"not {self.without}" if self.is_action else f"no {self.not_key}"}


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
WORDINGS: Mapping[
    str, Sequence[str]
] = {  # for things and for actions if two; one per scene in turn if more
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
        *(
            "{who} {doing} wihtout {without}",
            "{who} {doing} excpet {without}",
            "{who} {doing} w/o {without}",
        ),
        *(
            "{who} {doing} insted of {without}",
            "{who} {doing} exluding {without}",
            "{who} {doing}, nto {without}",
        ),
        *(
            "{who} {doing} rather then {without}",
            "{who} {doing} witout {without}",
            "{who} {doing} but nto {without}",
        ),
        "{who} who isnt {without} but {doing}",
    ),
    "denies nothing": (
        *(
            "no doubt {who} {doing}",
            "you can't miss {who} {doing}",
            "{who} {doing} like nobody's business",
        ),
        *("why not {who} {doing}", "{who} who never stops {doing}", "{who} who can't stop {doing}"),
        *("{who} {doing}, no kidding", "{who} {doing} in no time", "nothing beats {who} {doing}"),
        "I have never seen such {who} {doing}",
    ),
}


def sentences() -> dict[str, list[Query]]:
    """Return each wording's sentences with their known parts."""
    return {
        wording: [_sentence(wording, templates, scene, place) for place, scene in enumerate(SCENES)]
        for wording, templates in WORDINGS.items()
    }


def _sentence(wording: str, templates: Sequence[str], scene: Scene, place: int) -> Query:
    template = templates[scene.is_action if len(templates) == 2 else place]
    unwanted = (
        ()
        if wording == "denies nothing"
        else (scene.without, scene.other)[: 1 + (wording == "list")]
    )
    return Query(template.format(**scene.fields), (f"{scene.who} {scene.doing}",), unwanted)


def counted(searcher: Searcher, query: Query, ranking: Ranking) -> Counter[Verdict | None]:
    """Count the verdicts on the first clips by the known parts."""
    return Counter(judge_video(query, searcher.video(hit.video_id)) for hit in ranking.hits)


def main() -> None:
    """Print a row per wording."""
    arguments("wordings", __doc__).parse_args()
    names = [*SYSTEMS, *(f"{name}, parts known" for name in WITH_GOLD)]
    total: dict[str, Counter[Verdict | None]] = {name: Counter() for name in ("", *names)}
    with app_searcher() as searcher:
        write_head("right / violating, %", "possible", *names)
        for wording, queries in sentences().items():
            found: dict[str, Counter[Verdict | None]] = {name: Counter() for name in total}
            for query in queries:
                fitting = sum(
                    judge_video(query, video) == "right" for video in searcher.gallery.videos
                )
                found[""]["right"] += min(K, fitting)
                parsed, known = (
                    searcher.search(query.text, SYSTEMS, K),
                    searcher.search(query, WITH_GOLD, K),
                )
                for name, ranking in zip(names, (*parsed.rankings, *known.rankings), strict=True):
                    found[name] += counted(searcher, query, ranking)
            write_row(wording, *_cells(found, len(queries)))
            for name, counts in found.items():
                total[name] += counts
    write_row("all", *_cells(total, len(SCENES) * len(WORDINGS)))


def _cells(found: Mapping[str, Counter[Verdict | None]], num_queries: int) -> list[str]:
    share = 100 / (K * num_queries)
    possible, *systems = found.values()
    return [
        f"{share * possible['right']:.0f}",
        *(f"{share * each['right']:.0f} / {share * each['violation']:.0f}" for each in systems),
    ]


if __name__ == "__main__":
    main()
