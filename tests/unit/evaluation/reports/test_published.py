"""Published figures: every cell against the papers' texts, and the data below which they stand."""

import csv
import io
import json
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from nt2vr.evaluation.benchmark import Benchmark, JudgedQuery, row_array
from nt2vr.evaluation.classes import class_questions
from nt2vr.evaluation.protocol import evaluate
from nt2vr.evaluation.reports.formats import csv_table, latex, markdown, published_markdown
from nt2vr.evaluation.reports.published import PUBLISHED, lines_for, published_lines
from nt2vr.evaluation.reports.report import Report
from nt2vr.search.systems import System
from nt2vr.settings import ASSETS
from nt2vr.ui.evaluate.view import report_view
from tests.paths import SHARED
from tests.unit.evaluation.words import WordModels, report_of

TABLES: list[dict[str, Any]] = json.loads((ASSETS / PUBLISHED).read_text(encoding="utf-8"))["tables"]
TEXTS = {"nT2VR": ("nt2vr.txt", "nt2vr-pdf-text.txt"), "CoVR": ("covr.txt",), "CoN-CLIP": ("con-clip.txt",)}
ABOVE = {("CoN-CLIP", "Table 3"): 12}  # lines of a table above its caption
NUMBER = re.compile(r"(?<![\w.])-?\d+\.\d+(?![\w.])")
MISPRINT = ("CIRPLANT", "61.64")  # toptee R@10; the mean in its own line, 18.87, says 21.64


def on(data: str, videos: int, **source: Any) -> Report:
    """A report on data of that name, with that many videos."""
    report = report_of(System("words"))
    return replace(report, source={"data": data, "split": "test", **source}, video_ids=("v",) * videos)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: f"{table['paper']} {table['table']}")
def test_every_row_is_that_of_the_papers_texts(table: dict[str, Any]) -> None:
    """A row's numbers stand in one line, in their order, in the lines of the table, as often as the row is there."""
    if not SHARED.is_dir():
        pytest.skip("shared/papers is not here")
    for file in TEXTS[table["paper"]]:
        text = (SHARED / "papers" / file).read_text(encoding="utf-8")
        caption = re.search(rf"^(?:<\|.*\|>|\*\*| )?{table['table']}[.:](?:\*\*)? ", text, re.M)
        assert caption
        lines = text[caption.end() :].splitlines()[:40]
        if above := ABOVE.get((table["paper"], table["table"])):
            lines = text[: caption.start()].splitlines()[-above:]
        printed = [
            (line, [float(number) for number in NUMBER.findall(re.sub(r"</?b>|\[\d+\]", " ", line))])
            for line in lines
            if not line.startswith("Table")
        ]
        for name, row in table["rows"].items():
            known = [value for value in row if value is not None]
            if name == MISPRINT[0] and None in row:
                known.insert(row.index(None), float(MISPRINT[1]))
            model = re.split(r",| boolean", name)[0]
            assert any(known == numbers and model in line for line, numbers in printed), (file, name)


def test_the_tables_have_the_rows_and_columns_of_the_papers() -> None:
    sizes = {(table["paper"], table["table"]): (len(table["rows"]), len(table["columns"])) for table in TABLES}
    assert sizes == {
        ("nT2VR", "Table 2"): (11, 12),
        ("nT2VR", "Table 3"): (11, 12),
        ("nT2VR", "Table 4"): (11, 12),
        ("nT2VR", "Table 9"): (5, 12),
        ("nT2VR", "Table 10"): (5, 12),
        ("CoVR", "Table 2"): (8, 4),
        ("CoVR", "Table 3"): (23, 7),
        ("CoVR", "Table 4"): (21, 8),
        ("CoN-CLIP", "Table 3"): (5, 1),
        ("CoN-CLIP", "Table 13"): (9, 7),
        ("CoN-CLIP", "Table 15"): (9, 8),
        ("CoN-CLIP", "Table 16"): (4, 1),
    }
    assert all(len(row) == len(table["columns"]) for table in TABLES for row in table["rows"].values())
    found = {line.system: line.metrics for line in lines_for("MSR-VTT1k", 1000)}
    assert (found["CLIP"]["original/R@1"], found["CLIP-bnl"]["composed/MIR"]) == (31.6, 0.391)
    assert "original/R@1" not in found["CLIP* boolean"] and found["CLIP* boolean"]["negated/delta_MIR"] == 0.463


def test_only_the_same_data_have_published_lines() -> None:
    assert len(published_lines(on("MSR-VTT1k", 1000))) == 6  # boolean has no figures for captions
    assert {key.partition("/")[0] for key in published_lines(on("MSR-VTT1k", 1000))[0].metrics} == {"original"}
    released = published_lines(on("MSR-VTT1k", 1000, released=["negated", "composed"]))
    assert len(released) == 11 and len(released[0].metrics) == 12
    assert len(published_lines(on("MSR-VTT1k", 1000, released=["composed"]))[0].metrics) == 8
    assert published_lines(on("MSR-VTT1k", 999)) == published_lines(on("built-in world", 1000)) == []
    assert published_lines(on("MSR-VTT1k", 1000, split="validation")) == []
    assert len(published_lines(on("FashionIQ, val", 15_536))) == 21


def test_every_format_has_the_published_lines_below_ones_own() -> None:
    report = on("MSR-VTT1k", 1000, released=["negated", "composed"])
    paper, ways = markdown(report).split("\n\n")[0], markdown(report).split("\n\n")[2]
    assert [line.split(" | ")[0] for line in paper.splitlines()[2:5]] == [
        "| words",
        "| *W2VV++, as published (nT2VR, Table 3)*",
        "| *SEA, as published (nT2VR, Table 3)*",
    ]
    assert r"| *CLIP\*, as published (nT2VR, Table 3)* | 41.1 | 69.8 | 79.9 | 0.543 | 0.0 | 1.7 |" in paper
    assert "Table 3" in ways  # R@k of captions stands there, too
    rows = {row["system"]: row for row in csv.DictReader(io.StringIO(csv_table(report)))}
    assert rows["CLIP, as published (nT2VR, Table 3)"]["composed/MIR"] == "0.237"
    assert rows["CLIP, as published (nT2VR, Table 3)"]["composed/MIR low"] == ""
    lines = latex(report).splitlines()
    grey = [line for line in lines if line.startswith(r"\textcolor{gray}{CLIP, as published (nT2VR, Table 3)} &")]
    assert len(grey) == 1 and grey[0].count("&") == lines[4].count("&") and r"\textcolor{gray}{0.237}" in grey[0]
    assert lines[5] == r"\midrule" and lines.count(r"\midrule") == 2


def test_what_a_test_server_measures_is_printed_with_two_decimals() -> None:
    lines = published_markdown("CIRR, test").splitlines()
    assert lines[0] == "|  | R@1 | R@5 | R@10 | R@50 | subset R@1 | subset R@2 | subset R@3 |" and len(lines) == 2 + 23
    assert lines[-1] == (
        "| *CoVR-BLIP, WebVid-CoVR, zero-shot, as published (CoVR, Table 3)* | 38.55 | 66.80 | 77.25 | 91.61 | 69.42 |"
        " 84.22 | 91.16 |"
    )
    assert published_markdown("built-in world") == ""


def test_the_page_marks_published_lines_and_lets_none_be_the_best() -> None:
    (first, *_) = report_view(on("MSR-VTT1k", 1000), "id", ())["tables"]
    assert [line["role"] for line in first["lines"]] == ["base", *["published"] * 6]
    assert first["lines"][3]["name"] == "CLIP" and first["lines"][3]["note"] == "as published in nT2VR, Table 3"
    assert first["lines"][3]["cells"][0] == {"text": "31.6"}
    assert {len(line["cells"]) for line in first["lines"]} == {12}


SETS = ("imagenet1k", "Caltech_101", "flowers102", "cifar-100", "food101", "stanford_cars", "OxfordPets", "CIFAR10")


def classes(*sets: str, name: str = "root") -> Report:
    """A report of questions about classes of these data sets."""
    labels = [(label, data) for data in sets for label in ("dog", "cat")]
    texts, questions, _ = class_questions(labels)
    videos = np.eye(len(labels), 5, dtype=np.float32)
    benchmark = Benchmark(name, tuple(map(str, videos)), questions, lambda *_: videos, {}, texts=texts)
    models: Any = WordModels()
    return evaluate(benchmark, [System("words")], models)


def test_data_sets_of_classes_have_their_targets_in_any_spelling() -> None:
    found = {(line.system, line.source): line.metrics for line in published_lines(classes("CIFAR10", "mine"))}
    assert found["ViT-B/32, CoN-CLIP", "CoN-CLIP, Table 15"] == {"class/accuracy CIFAR10": 90.45}
    assert len(found) == 9  # no mean, whose data sets are not all there
    (own,) = [line for line in published_lines(classes("", name="cifar_100")) if line.system == "ViT-B/32, CLIP"]
    assert own.metrics == {"class/accuracy": 55.18}
    assert published_lines(classes("mine", "yours")) == []


def test_the_means_stand_below_all_eight_data_sets() -> None:
    found = {(line.system, line.source): line.metrics for line in published_lines(classes(*SETS))}
    assert round(found["ViT-B/32, CLIP", "CoN-CLIP, Table 15"]["class/mean accuracy"], 2) == 71.13
    assert round(found["ViT-B/32, CoN-CLIP", "CoN-CLIP, Table 15"]["class/mean accuracy"], 2) == 73.96
    assert found["CoN-CLIP", "CoN-CLIP, Table 16"] == {"class/mean delta": 62.03}


def test_cc_neg_and_sugar_crepe_have_their_targets() -> None:
    pairs = [
        JudgedQuery("pair", "a man sings", row_array([0]), others=row_array([0]), group=group)
        for group in ("swap_att", "no; 2 pairs")
    ]
    report = report_of(System("words"), name="ccneg_preprocessed", queries=pairs, texts=("a dog",))
    found = {line.system: line.metrics for line in published_lines(report)}
    assert found["CoN-CLIP"] == {"pair/accuracy": 99.7}
    assert found["ViT-L/14, CoN-CLIP"] == {"pair/accuracy swap_att": 63.06}
    assert "*CoN-CLIP, as published (CoN-CLIP, Table 3)* | 99.7 |" in markdown(report)
