"""Reports on disk and their tables."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nt2vr.errors import ConfigError
from nt2vr.evaluation.protocol import evaluate
from nt2vr.evaluation.remarks import remarks_of
from nt2vr.evaluation.report import Report
from nt2vr.evaluation.stored_reports import load_report
from nt2vr.evaluation.tables import aligned, csv_table, escaped, latex, markdown
from nt2vr.evaluation.text_systems import system_spec
from nt2vr.media.gallery import Video
from nt2vr.models.card import Card
from nt2vr.search.strategies import System
from tests.support.word_encoder import WordModels, word_benchmark


@pytest.fixture
def report() -> Report:
    models: Any = WordModels()
    models.cards["words"] = models.cards["words"].replace(notes="Bags of words.")
    benchmark = word_benchmark(references={"oracle": {"original/MIR": 0.875}})
    return evaluate(benchmark, [System("words"), System("words", "boolean", 1)], models)


def test_a_report_survives_saving_and_loading(report: Report, tmp_path: Path) -> None:
    report.save(tmp_path / "report")
    read = load_report(tmp_path / "report")
    for name in (
        "name",
        "digest",
        "source",
        "references",
        "video_ids",
        "notes",
        "created",
        "versions",
        "metrics",
    ):
        assert getattr(read, name) == getattr(report, name)
    for place in range(len(report.queries)):
        assert read.row(place)._replace(query=report.queries[place]) == report.row(place)
        for name in ("kind", "text", "cue", "wanted", "unwanted", "hard", "violating", "original"):
            np.testing.assert_array_equal(
                getattr(read.queries[place], name), getattr(report.queries[place], name)
            )
    for mine, theirs in zip(read.results, report.results, strict=True):
        assert (mine.system, mine.spec) == (theirs.system, theirs.spec)
        np.testing.assert_array_equal(mine.measured.violations, theirs.measured.violations)
        np.testing.assert_array_equal(mine.measured.first, theirs.measured.first)


def test_what_was_not_measured_is_stored_with_a_report(report: Report, tmp_path: Path) -> None:
    replace(report, gaps=("No caption can be negated.",)).save(tmp_path)
    read = load_report(tmp_path)
    assert read.gaps == ("No caption can be negated.",)
    few = "Few queries (original: 2, negated: 1, A and not B: 1, not B: 1)."
    assert [remark.startswith(few) for remark in remarks_of(read)] == [False, True]

    data = json.loads((tmp_path / "report.json").read_text())
    # 0.2.0 wrote none.
    del data["gaps"]
    (tmp_path / "report.json").write_text(json.dumps(data))
    assert load_report(tmp_path).gaps == ()


def test_the_file_records_the_provenance_of_the_numbers(report: Report, tmp_path: Path) -> None:
    report.save(tmp_path)
    data = json.loads((tmp_path / "report.json").read_text())
    assert data["systems"][1] == {
        "system": "words boolean α 1",
        "model": "words",
        "base": "",
        "visual_fingerprint": "v",
        "text_fingerprint": "t",
        "frames": 8,
        "strategy": "boolean",
        "alpha": 1,
        "metrics": report.metrics["words boolean α 1"],
        "intervals": {
            key: list(ends) for key, ends in report.intervals["words boolean α 1"].items()
        },
    }
    assert data["systems"][0]["intervals"]["original/MIR"] == [0.5, 1.0]
    assert data["source"] == {"seed": 1}
    assert {"torch", "numpy", "python", "nt2vr"} <= set(data["versions"])
    assert data["queries"] == {"original": 2, "negated": 1, "composed": 1, "not": 1}
    lines = [json.loads(line) for line in (tmp_path / "queries.jsonl").read_text().splitlines()]
    assert lines[3]["ranks"] == {"words": 3, "words boolean α 1": 1}
    assert len(lines) == 5
    (compared,) = data["differences"]
    assert (compared["first"], compared["second"]) == ("words", "words boolean α 1")
    assert compared["measures"]["composed/R@1"] == {
        "num_queries": 1,
        "first": 0.0,
        "second": 100.0,
        "difference": 100.0,
        "interval": None,
        "p": 1.0,
        "within_noise": True,
    }


def test_each_query_is_stored_with_its_id_and_its_videos(report: Report, tmp_path: Path) -> None:
    queries = [replace(query, query_id=f"q{place}") for place, query in enumerate(report.queries)]
    replace(report, queries=tuple(queries), named=("words",)).save(tmp_path)
    lines = [json.loads(line) for line in (tmp_path / "queries.jsonl").read_text().splitlines()]
    assert [line["query_id"] for line in lines] == ["q0", "q1", "q2", "q3", "q4"]
    assert [line["video_id"] for line in lines] == [
        "a man sings",
        "a dog",
        "a man sings",
        None,
        None,
    ]
    assert [line["relevant"] for line in lines[3:]] == [["a man sings"], ["a man sings", "a dog"]]
    read = load_report(tmp_path)
    assert [query.query_id for query in read.queries] == ["q0", "q1", "q2", "q3", "q4"]
    assert read.named == ("words",)


def test_an_older_report_has_no_ids_or_intervals(report: Report, tmp_path: Path) -> None:
    report.save(tmp_path)
    data = json.loads((tmp_path / "report.json").read_text())
    for name in ("gaps", "named", "differences"):
        del data[name]
    for system in data["systems"]:
        del system["intervals"]
    (tmp_path / "report.json").write_text(json.dumps(data))
    lines = [json.loads(line) for line in (tmp_path / "queries.jsonl").read_text().splitlines()]
    for line in lines:
        for name in ("query_id", "video_id", "relevant"):
            del line[name]
    (tmp_path / "queries.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    read = load_report(tmp_path)
    assert read.metrics == report.metrics
    assert read.differences.keys() == report.differences.keys()


def test_a_report_says_where_its_files_were(report: Report, tmp_path: Path) -> None:
    videos = (
        Video("whole", tmp_path / "a.mp4"),
        Video("window", tmp_path / "a.mp4", start=10.0, end=20.5),
    )
    replace(report, videos=videos).save(tmp_path)
    assert load_report(tmp_path).videos == videos
    lines = [json.loads(line) for line in (tmp_path / "videos.jsonl").read_text().splitlines()]
    assert lines[0] == {"video_id": "whole", "path": str(tmp_path / "a.mp4")}
    # Reports of 0.2.0 have none.
    (tmp_path / "videos.jsonl").unlink()
    assert load_report(tmp_path).videos == ()


def test_very_many_relevant_ids_are_left_to_the_arrays(
    report: Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nt2vr.evaluation.text_presentation.MAX_LISTED", 1)
    report.save(tmp_path)
    lines = [json.loads(line) for line in (tmp_path / "queries.jsonl").read_text().splitlines()]
    assert (lines[4]["relevant"], lines[4]["num_relevant"]) == (None, 2)
    assert load_report(tmp_path).queries[4].relevant.tolist() == [0, 2]


def test_provenance_names_the_strength_and_the_anchor_of_a_strategy() -> None:
    card = Card("words", exclusion={"lambda": 2.1, "anchor": ["a dog"]})

    def spec(*system: Any) -> dict[str, Any]:
        return {
            name: system_spec(System("words", *system), card).get(name)
            for name in ("alpha", "lambda", "t", "anchor")
        }

    assert spec("anchored") == {"alpha": None, "lambda": 2.1, "t": None, "anchor": ["a dog"]}
    assert spec("anchored", 1.0) == {"alpha": None, "lambda": 1.0, "t": None, "anchor": ["a dog"]}
    assert spec("spherical") == {"alpha": None, "lambda": None, "t": 0.95, "anchor": None}
    assert spec("boolean") == {"alpha": 0.5, "lambda": None, "t": None, "anchor": None}


@pytest.mark.parametrize("file", ["report.json", "queries.jsonl", "arrays.npz"])
def test_an_incomplete_report_folder_is_refused(report: Report, tmp_path: Path, file: str) -> None:
    report.save(tmp_path)
    (tmp_path / file).write_bytes((tmp_path / file).read_bytes()[:20])
    with pytest.raises(ConfigError, match=tmp_path.name):
        load_report(tmp_path)


def test_markdown_has_the_columns_of_the_paper_without_empty_groups(report: Report) -> None:
    paper, honest, ways, differences, size = (
        table.splitlines() for table in markdown(report).split("\n\n")
    )
    assert size == ["5 queries (2 original, 1 negated, 1 A and not B, 1 not B), 4 videos."]
    assert paper[0].startswith(
        "|  | Original R@1 | Original R@5 | Original R@10 | Original MIR | Negated ΔR@1 |"
    )
    assert paper[2] == "| oracle (reads the scenes) | – | – | – | 0.875 |" + " – |" * 8
    # both captions tie with nothing but "a man sings dancing"
    assert paper[3].startswith(
        "| words (zero-shot) | 50.0 ±50.0 | 100.0 | 100.0 | 0.750 ±0.250 | 0.0 | 0.0 |"
    )
    assert paper[4].startswith("| words boolean α 1 (zero-shot) | – | – | – | – | 0.0 |")
    assert (
        honest[0]
        == "|  | A and not B hard pairs | A and not B violations@10 | not B AUC | not B violations@10 |"
    )
    assert [line.split(" | ")[0] for line in honest[2:]] == [
        "| words (zero-shot)",
        "| words boolean α 1 (zero-shot)",
    ]
    assert ways[0].startswith("|  | Text to video R@1 |")
    assert ways[0].endswith("| Video to text MeanR |")
    # the oracle has neither; boolean searches for no caption as it is
    assert ways[2:] == [
        "| words (zero-shot) | 50.0 ±50.0 | 100.0 | 100.0 | 1.5 | 1.5 ±0.5 |"
        + " 100.0 |" * 3
        + " 1.0 |" * 2
    ]
    assert differences[0] == "|  | words | words boolean α 1 | difference | 95 % interval |  |"
    assert "| Composed R@1 | 0.0 | 100.0 | +100.0 | – | within noise, p = 1.000 |" in differences
    assert {line.count("|") for line in paper} == {14}
    assert {line.count("|") for line in honest} == {6}


def test_csv_has_unrounded_metrics_and_ends_of_intervals(
    report: Report,
) -> None:
    oracle, words, boolean = csv.DictReader(io.StringIO(csv_table(report)))
    assert oracle["original/MIR"] == "0.875"
    assert oracle["composed/MIR"] == ""
    assert (oracle["role"], words["role"]) == ("reads the scenes", "zero-shot")
    assert float(words["composed/MIR"]) == report.metrics["words"]["composed/MIR"]
    # the two captions rank 1 and 2: inverted ranks 1 and 1/2
    assert (words["original/MIR low"], words["original/MIR high"]) == ("0.5", "1.0")
    assert (oracle["original/MIR low"], boolean["original/MIR low"]) == ("", "")


def test_csv_has_no_column_that_is_empty(report: Report) -> None:
    rows = list(csv.DictReader(io.StringIO(csv_table(report))))
    for column in rows[0]:
        assert any(row[column] for row in rows), column
    assert "not/auc" in rows[0]
    assert "without/MIR" not in rows[0]
    assert "composed/MIR low" not in rows[0]


def cells_of(table: str) -> list[list[str]]:
    """Return the cells of each line of a table, without the line of dashes and colons."""
    rows = []
    for line in table.splitlines():
        if ":" not in line:
            rows.append([cell.strip() for cell in line.split("|")])
    return rows


def test_a_tables_columns_line_up_in_a_terminal(report: Report) -> None:
    text = markdown(report)
    lines = aligned(text).split("\n")
    paper = lines[:5]
    assert {len(line) for line in paper} == {len(paper[0])}
    assert cells_of(aligned(text)) == cells_of(text)
    assert aligned("no table\n| a | b |\n") == "no table\n| a | b |\n"


def test_every_character_that_latex_reads_as_a_command_is_escaped() -> None:
    assert escaped(r"50 % of a_b #1 & ${c}") == r"50 \% of a\_b \#1 \& \$\{c\}"
    assert escaped(r"a\b~c^d") == r"a\textbackslash{}b\textasciitilde{}c\textasciicircum{}d"
    assert escaped("CLIP* α Δ") == r"CLIP$^*$ $\alpha$ $\Delta$"


def test_latex_lines_have_one_cell_per_column(report: Report) -> None:
    lines = latex(report).splitlines()
    assert lines[0] == r"\begin{tabular}{lrrrrrrrrrrrrrrrrrrrrrrr}"
    assert lines[2] == (
        r" & \multicolumn{4}{c}{Original} & \multicolumn{4}{c}{Negated} & \multicolumn{4}{c}{Composed}"
        r" & \multicolumn{2}{c}{A and not B} & \multicolumn{2}{c}{not B}"
        # R@k is there already.
        r" & \multicolumn{2}{c}{Text to video} & \multicolumn{5}{c}{Video to text} \\"
    )
    assert lines[3].startswith(r"\cmidrule(lr){2-5} \cmidrule(lr){6-9}")
    assert {line.count("&") for line in lines[4:9] if "&" in line} == {23}
    assert r"words boolean $\alpha$ 1 (zero-shot) & -- & -- & -- & --" in lines[8]
    assert (
        r"words (zero-shot) & 50.0$_{\pm50.0}$ & 100.0 & 100.0 & 0.750$_{\pm0.250}$ &" in lines[7]
    )
