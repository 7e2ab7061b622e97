"""What the Evaluate tab shows, by hand for bags of words."""

from typing import Any

import pytest

from nt2vr.evaluation.archive import Entry
from nt2vr.evaluation.protocol import evaluate
from nt2vr.evaluation.report import Report
from nt2vr.evaluation.tables import lines_of
from nt2vr.models.card import Card
from nt2vr.progress import Job
from nt2vr.search.strategies import System
from nt2vr.ui.evaluate.report_view import (
    ALL_MEASURES,
    breakdown_view,
    measure_choices,
    report_view,
    reports_view,
)
from nt2vr.ui.web.permissions import Permissions
from tests.support.word_encoder import (
    FIRST,
    SECOND,
    SYSTEMS,
    WordModels,
    report_of,
    word_benchmark,
)


@pytest.fixture(scope="module")
def report() -> Report:
    return report_of(*SYSTEMS, references={"oracle": {"original/MIR": 0.875}})


def cells(view: dict[str, Any], table: int, line: str) -> dict[str, dict[str, Any]]:
    """Return a line of a table by "Group head"."""
    table_view = view["tables"][table]
    # A group's head spans several columns.
    groups: list[str] = []
    for group in table_view["groups"]:
        groups += [group["text"]] * group["span"]
    heads = []
    for group_text, head in zip(groups, table_view["heads"], strict=True):
        heads.append(f"{group_text} {head['text']}")
    row = next(candidate for candidate in table_view["lines"] if candidate["name"] == line)
    return dict(zip(heads, row["cells"], strict=True))


def test_controls_and_systems_have_different_roles(report: Report) -> None:
    roles = {line.name: (line.role, line.label) for line in lines_of(report)}
    assert roles == {
        "oracle": ("reference", "reads the scenes"),
        "words": ("base", "zero-shot"),
        "words drop": ("drop", "control"),
        SECOND: ("", "zero-shot"),
        "words-bnl": ("", "fine-tuned"),
    }
    # No zero-shot model, though its base is not here.
    (alone,) = lines_of(report_of(System("words-bnl")))
    assert (alone.role, alone.label) == ("", "fine-tuned")


def labels_with(base: str) -> dict[str, tuple[str, str]]:
    """Return roles and labels of a model that has this base, under three strategies."""
    models: Any = WordModels()
    models.cards["mine"] = Card("mine", base=base, visual_fingerprint="v", text_fingerprint="t3")
    systems = (System("mine"), System("mine", "drop"), System("mine", "boolean", 1))
    lines = lines_of(evaluate(word_benchmark(), systems, models))
    return {line.name: (line.role, line.label) for line in lines}


def test_an_imported_model_is_not_called_fine_tuned() -> None:
    assert labels_with("imported from mine.pt") == {
        "mine": ("", "imported"),
        "mine drop": ("drop", "control"),
        "mine boolean α 1": ("", "imported"),
    }


def test_drop_is_a_control_of_fine_tuned_models_too() -> None:
    labels = labels_with("words")
    assert labels["mine"] == ("", "fine-tuned")
    assert labels["mine drop"] == ("drop", "control")


def test_the_table_marks_the_best_of_each_column(report: Report) -> None:
    view = report_view(report, "id", ())
    behind = f"?report=id&second={FIRST}&order=improved&kind=composed"
    assert cells(view, 0, FIRST)["Composed R@1"] == {"text": "0.0", "best": False, "href": behind}
    assert cells(view, 0, SECOND)["Composed R@1"]["text"] == "100.0"
    assert cells(view, 0, SECOND)["Composed R@1"]["best"]
    # All systems the same: no contest.
    assert cells(view, 0, FIRST)["Original MIR"]["best"] is False
    assert cells(view, 0, SECOND)["Original MIR"]["text"] == "–"
    assert cells(view, 0, "oracle")["Original MIR"] == {"text": "0.875", "best": False, "href": ""}
    violations = {name: cells(view, 1, name)["not B violations@10"] for name in (FIRST, SECOND)}
    # Of four videos all are among ten.
    assert [cell["text"] for cell in violations.values()] == [
        "50.0",
        "50.0",
    ]


def test_a_report_names_its_data_and_offers_its_files(report: Report) -> None:
    view = report_view(report, "words-1", ["report.json", "queries.csv"])
    assert view["about"] == "5 queries (2 original, 1 negated, 1 A and not B, 1 not B), 4 videos."
    assert {"href": "reports/words-1/queries.csv", "name": "queries.csv"} in view["files"]
    assert [text.split(":")[0] for text in view["meanings"]] == ["Δ", "Hard pairs", "Violations@10"]
    assert [panel["title"] for panel in view["chart"]] == [
        "Ranks the clip without it first",
        "Top ten show what was excluded",
        "Plain captions: right clip first",
    ]
    systems = []
    for panel in view["chart"]:
        systems.append([row["system"] for row in panel["rows"]])
    assert systems == [
        ["words", "words drop", SECOND, "words-bnl"],
        ["words", "words drop", SECOND, "words-bnl"],
        # Captions have nothing to exclude.
        ["words", "words-bnl"],
    ]


def test_a_breakdown_has_a_line_per_negation_word(
    report: Report,
) -> None:
    choices = measure_choices(report, FIRST, SECOND)
    assert choices[0] == (ALL_MEASURES, ALL_MEASURES)
    assert ("A and not B: hard pairs", "composed/hard_pairs") in choices
    # A median has no value per query.
    for _, key in choices:
        assert key != "original/MedR"
    table = breakdown_view(report, FIRST, SECOND, "composed/hard_pairs")
    assert table.columns.tolist() == ["word", "queries", FIRST, SECOND, "difference", ""]
    assert table.values.tolist() == [
        ["all", 1, "0.0", "100.0", "100.0", "within noise, p = 1.000"],
        ["not", 1, "0.0", "100.0", "100.0", "within noise, p = 1.000"],
    ]


def test_all_measures_of_two_systems_are_compared(report: Report) -> None:
    table = breakdown_view(report, FIRST, "words-bnl", ALL_MEASURES)
    assert table.columns.tolist() == ["measure", "queries", FIRST, "words-bnl", "difference", ""]
    rows = {row[0]: row[1:] for row in table.values.tolist()}
    assert rows["Original MIR"] == [2, "0.750", "0.750", "0.000", "within noise, p = 1.000"]
    # A median has no value per query.
    assert "Text to video MedR" not in rows


def test_the_running_job_is_on_top_of_the_list() -> None:
    entries = [Entry("b", "gallery", ("CLIP", "CLIP drop"), "2026-11-21T10:27:00+00:00")]
    view = reports_view(entries, "b", Job(1, "world", ("CLIP",), state="running"))
    assert view["reports"] == [
        {
            "id": "b",
            "name": "gallery",
            "systems": "CLIP, CLIP drop",
            "created": "21 Nov 2026, 10:27 UTC",
            "chosen": True,
        }
    ]
    assert view["job"]["subject"] == "world"
    assert reports_view(entries, "", Job(1, "world", (), state="stopped"))["job"] == {}


def test_the_list_names_own_data_to_the_owner_alone() -> None:
    job = Job[str](1, "words:/home/ann/captions.txt", ("CLIP",), state="running")
    stranger, owner = (
        Permissions("a-token-of-the-owner", {"paths": rule}) for rule in ("owner", "everyone")
    )
    assert (
        reports_view([], "", job, stranger.redactor(None))["job"]["subject"] == "data of the owner"
    )
    assert reports_view([], "", job, owner.redactor(None))["job"]["subject"] == job.subject
