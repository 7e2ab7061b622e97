"""`nt2vr search` on the shipped gallery and models."""

import json
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from PIL import Image

from nt2vr.cli import main
from nt2vr.negation.parse.query import Query
from nt2vr.search.answers import Answer, Ranking
from nt2vr.search.strategies import System


def search(data_dir: Path, *arguments: str) -> int:
    return main(["search", *arguments, "--data-dir", str(data_dir)])


def test_the_answer_has_a_table_per_system(
    gallery_data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        search(gallery_data, "a dog and not a cat", "--systems", "CLIP, clip-neg", "--k", "3") == 0
    )
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["wanted:    a dog", "unwanted:  a cat"]
    heads = [
        place
        for place, line in enumerate(lines)
        if line.split() == "rank score verdict video caption".split()
    ]
    assert len(heads) == 2 and lines[2] == ""
    assert [line.split(":")[0] for line in lines if line.startswith("CLIP")] == ["CLIP", "CLIP-neg"]
    for head in heads:
        rows = [line.split(maxsplit=4) for line in lines[head + 1 : head + 4]]
        assert [row[0] for row in rows] == ["1", "2", "3"]
        assert {row[2] for row in rows} <= {"right", "violation", "miss"}
        assert [float(row[1]) for row in rows] == sorted(
            (float(row[1]) for row in rows), reverse=True
        )


@pytest.mark.parametrize(
    ("query", "name"), [("a dog, no cat", "CLIP-neg rectified"), ("a dog", "CLIP-neg")]
)
def test_by_default_one_system_excludes_what_is_denied(
    query: str, name: str, gallery_data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert search(gallery_data, query, "--k", "2", "--json") == 0
    assert [system["name"] for system in json.loads(capsys.readouterr().out)["systems"]] == [name]


def test_replaced_words_are_named_and_kept_ones_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    searches: list[tuple[Any, ...]] = []

    def answered(*arguments: Any) -> Answer:
        searches.append(arguments)
        return Answer(
            Query("ocean", ("ocean",), ()),
            (Ranking(System("A"), (), read_as={"ocean": "sea", "x": "y"}),),
        )

    monkeypatch.setattr(
        "nt2vr.api.open_searcher", lambda *_: nullcontext(SimpleNamespace(search=answered))
    )
    assert search(tmp_path, "ocean", "--systems", "A", "--literal", "lake, dogs") == 0
    assert "read as:   ocean → sea; x → y" in capsys.readouterr().out.splitlines()
    assert searches[0][-1] == ["lake", "dogs"]


def test_alpha_weighs_the_unwanted_part(
    gallery_data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scores = []
    for alpha in ("0", "1"):
        assert (
            search(
                gallery_data,
                "a dog, no cat",
                "--systems",
                "CLIP boolean",
                "--alpha",
                alpha,
                "--json",
            )
            == 0
        )
        scores.append(json.loads(capsys.readouterr().out)["systems"][0]["hits"][0]["score"])
    assert scores[0] != scores[1]


def test_a_picture_alone_is_a_query(
    gallery_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Image.new("RGB", (64, 48), "green").save(tmp_path / "green.png")
    assert (
        search(gallery_data, "", "--systems", "CLIP", "--image", str(tmp_path / "green.png")) == 0
    )
    assert "  1  " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["  "], "Type what the clip should show"),
        (["a dog", "--systems", "CLIP, BLIP"], "Unknown model 'BLIP'. Choose one of: CLIP,"),
        (["a dog", "--k", "0"], "Cannot show 0 results"),
        (["a dog", "--alpha", "nan"], "The unwanted part's weight α is nan"),
        (["a dog", "--image", "."], "is not a picture"),
        (["a dog", "--device", "gpu"], "Unknown device 'gpu'."),
    ],
)
def test_a_mistake_is_one_sentence(
    gallery_data: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert search(gallery_data, *arguments) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert message in printed.err and printed.err.count("\n") == 1 and printed.err.endswith(".\n")


def test_a_query_may_begin_with_a_minus(
    gallery_data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for query in ("-dog", "-kite"):
        assert search(gallery_data, query, "--systems", "CLIP boolean", "-k", "1") == 0
        assert capsys.readouterr().out.startswith(f"wanted:    –\nunwanted:  {query[1:]}\n")
