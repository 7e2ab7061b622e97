"""What a report says first: up to three sentences in plain words, and a chart of the same measures."""

from collections.abc import Sequence
from dataclasses import dataclass

from nt2vr.evaluation.intervals import Interval
from nt2vr.evaluation.measures import FIRST_PAGE
from nt2vr.evaluation.metric_names import (
    CHOICE_ACCURACY,
    CLASS_ACCURACY,
    CLASS_DENIED,
    COMPOSED_HARD_PAIRS,
    PAIR_ACCURACY,
    PICTURE_ACCURACY,
    WITHOUT_HARD_PAIRS,
    recall,
    violations,
)
from nt2vr.evaluation.report import Report
from nt2vr.evaluation.roles import REFERENCE
from nt2vr.evaluation.tables import Line, interval_of, lines_of
from nt2vr.ui.search.formats import short_name
from nt2vr.ui.view import View, Views

MAX_FINDINGS = 3
# Characters of a query that is quoted.
LONGEST_EXAMPLE = 40
# Before and after words of a sentence.
EMPHASIS = "*"
TICKS = (0, 25, 50, 75, 100)


@dataclass(frozen=True)
class ChartMeasure:
    """A measure in percent, as a sentence and as a part of the chart.

    Attributes:
        key: its name among a report's metrics.
        title: of its part of the chart.
        scale: what the percentages are of, and which are good.
        sentence: about one system: {first} is its name, {of_first} a number of 100, and {example} a query.
        second: what the sentence goes on to say of another system.
        counts_failures: whether sentences count what is missing to 100.
        chance: the figure of a system that guesses; None where it depends on the data.
        cue: the negation word of an example.
    """

    key: str
    title: str
    scale: str
    sentence: str
    second: str = "{second} in {of_second}"
    counts_failures: bool = False
    chance: float | None = None
    cue: str = ""


# Those of one title exclude each other: the first that was measured is shown.
MEASURES = (
    ChartMeasure(
        key=WITHOUT_HARD_PAIRS,
        title="Ranks the clip without it first",
        scale="of 100 pairs, higher is better, a guess has 50",
        sentence="When a query excludes a thing{example}, {first} ranks a clip *with* it above one *without* "
        "it in {of_first} of 100 pairs",
        counts_failures=True,
        chance=50.0,
        cue="without",
    ),
    ChartMeasure(
        key=COMPOSED_HARD_PAIRS,
        title="Ranks the clip without it first",
        scale="of 100 pairs, higher is better, a guess has 50",
        sentence="When a query excludes something{example}, {first} ranks a clip *with* it above one "
        "*without* it in {of_first} of 100 pairs",
        counts_failures=True,
        chance=50.0,
        cue="not",
    ),
    *(
        ChartMeasure(
            key=f"{kind}/{violations(FIRST_PAGE)}",
            title="Top ten show what was excluded",
            scale="of 100 clips, lower is better",
            sentence="Of the clips that {first} puts in its top ten, {of_first} in 100 *show what was excluded*",
            second="of {second}'s, {of_second}",
        )
        for kind in ("without", "composed", "not")
    ),
    ChartMeasure(
        key=f"original/{recall(1)}",
        title="Plain captions: right clip first",
        scale="of 100 searches, higher is better",
        sentence="For a plain caption, {first} puts the right clip *first* in {of_first} of 100 searches",
    ),
    ChartMeasure(
        key=f"retrieval/{recall(1)}",
        title="Denying captions: right clip first",
        scale="of 100 searches, higher is better",
        sentence="For a caption that denies something, {first} puts the right clip *first* in {of_first} of "
        "100 searches",
    ),
    ChartMeasure(
        key=CHOICE_ACCURACY,
        title="The right caption is chosen",
        scale="of 100 questions, higher is better",
        sentence="Of several captions, {first} chooses the *right* one in {of_first} of 100 questions",
    ),
    ChartMeasure(
        key=PAIR_ACCURACY,
        title="The true caption is preferred",
        scale="of 100 pairs, higher is better, a guess has 50",
        sentence="{first} prefers the *true* caption to a false one in {of_first} of 100 pairs",
        chance=50.0,
    ),
    ChartMeasure(
        key=PICTURE_ACCURACY,
        title="The right picture is preferred",
        scale="of 100 pairs, higher is better, a guess has 50",
        sentence="{first} prefers the *right* picture to a wrong one in {of_first} of 100 pairs",
        chance=50.0,
    ),
    ChartMeasure(
        key=CLASS_ACCURACY,
        title="The right class comes first",
        scale="of 100 clips, higher is better",
        sentence="{first} puts the *right* class first for {of_first} of 100 clips",
        second="{second} for {of_second}",
    ),
    ChartMeasure(
        key=CLASS_DENIED,
        title="Denial of the right class first",
        scale="of 100 clips, lower is better",
        sentence="Of sentences that deny a class each, {first} puts first the one that denies *what is shown* "
        "for {of_first} of 100 clips",
        second="{second} for {of_second}",
    ),
)


def findings_of(report: Report) -> list[ChartMeasure]:
    """Return what a report says first: at most MAX_FINDINGS that both systems have which one would compare first."""
    metrics = [report.metrics[system] for system in report.telling_pair]
    by_title: dict[str, ChartMeasure] = {}
    for measure in MEASURES:
        if all(measure.key in measured for measured in metrics):
            by_title.setdefault(measure.title, measure)
    return list(by_title.values())[:MAX_FINDINGS]


def sentence_of(report: Report, measure: ChartMeasure) -> Views:
    """Return a measure as a sentence about the two systems, in parts, of which some are emphasised."""
    first, second = report.telling_pair
    template = measure.sentence
    if second != first:
        template += f"; {measure.second}"
        if _is_within_noise(report, measure.key):
            template += ", no clear difference"

    counts_failures = measure.counts_failures
    values = {
        "example": _example(report, measure),
        "first": short_name(first),
        "second": short_name(second),
        "of_first": count_text(report.metrics[first][measure.key], counts_failures),
        "of_second": count_text(report.metrics[second][measure.key], counts_failures),
    }
    return [
        {"text": part.format(**values), "strong": number % 2 == 1}
        for number, part in enumerate(f"{template}.".split(EMPHASIS))
    ]


def count_text(percentage: float, counts_failures: bool = False) -> str:
    """Write how many of 100 a percentage is, or leaves; never 0 or 100 unless it is exactly that."""
    exact = 100 - percentage if counts_failures else percentage
    count = round(exact)
    if count == 0 and exact > 0:
        return "fewer than 1"
    if count == 100 and exact < 100:
        return "more than 99"
    return str(count)


def _example(report: Report, measure: ChartMeasure) -> str:
    """Return the shortest query with the usual negation word, in brackets; "" if there is none."""
    kind = measure.key.partition("/")[0]
    texts = []
    for query in report.queries:
        if query.kind == kind and query.cue and query.cue == measure.cue:
            texts.append(query.text)
    example = min(texts, key=lambda text: (len(text), text), default="")
    if 0 < len(example) <= LONGEST_EXAMPLE:
        return f" (“{example}”)"
    return ""


def _is_within_noise(report: Report, key: str) -> bool:
    """Whether chance may explain the difference of the two systems, query by query."""
    differences = report.differences.get(report.telling_pair, ())
    return any(difference.measure == key and difference.is_noise for difference in differences)


def chart_of(report: Report) -> Views:
    """Return a part of the chart for each finding, with the systems that have it in the tables, in their order."""
    systems = [line for line in lines_of(report) if line.role != REFERENCE]
    return [_panel(report, measure, systems) for measure in findings_of(report)]


def _panel(report: Report, measure: ChartMeasure, systems: Sequence[Line]) -> View:
    rows = []
    for line in systems:
        figure = line.metrics.get(measure.key)
        if figure is not None:
            interval = interval_of(report, line, measure.key)
            rows.append(
                {
                    "system": short_name(line.name),
                    "role": line.role,
                    "chance": measure.chance,
                    **_place_on_scale(figure, interval),
                }
            )
    return {
        "title": measure.title,
        "scale": measure.scale,
        "ticks": [{"at": tick} for tick in TICKS],
        "rows": rows,
    }


def _place_on_scale(figure: float, interval: Interval | None) -> View:
    """Place a figure on a scale of 0 to 100; one that all queries agree on has no interval."""
    place = {"at": f"{figure:.1f}", "text": f"{figure:.1f}"}
    if interval is None:
        return place
    return place | {
        "from": f"{interval.low:.1f}",
        "width": f"{interval.high - interval.low:.1f}",
        "range": f"{interval.low:.1f} to {interval.high:.1f}",
    }
