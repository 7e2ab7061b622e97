"""`nt2vr search` on the shipped gallery and models."""

import json
from contextlib import nullcontext
from pathlib import Path
from unittest.mock import Mock

import pytest
from PIL import Image

from nt2vr.cli import main
from nt2vr.negation.parse.query import Query
from nt2vr.search.answers import Answer, Ranking
from nt2vr.search.strategies import System


def search(data_dir: Path, *arguments: str) -> int:
    return main(["search", *arguments, "--data-dir", str(data_dir)])


def check_table(table: str, system: str) -> None:
    """Check a table of three hits, from the best to the worst."""
    title, head, *lines = table.split("\n")
    assert title.startswith(f"{system}:")
    assert head.split() == ["rank", "score", "verdict", "video", "caption"]
    ranks = []
    scores = []
    for line in lines:
        rank, score, verdict, _video, _caption = line.split(maxsplit=4)
        assert verdict in ("right", "violation", "miss")
        ranks.append(rank)
        scores.append(float(score))
    assert ranks == ["1", "2", "3"]
    assert scores == sorted(scores, reverse=True)


def test_the_answer_has_a_table_per_system(
    gallery_data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ("--systems", "CLIP, clip-neg", "--k", "3")
    assert search(gallery_data, "a dog and not a cat", *options) == 0

    parts, clip, clip_neg = capsys.readouterr().out.strip().split("\n\n")
    assert parts == "wanted:    a dog\nunwanted:  a cat"
    check_table(clip, "CLIP")
    check_table(clip_neg, "CLIP-neg")


@pytest.mark.parametrize(
    ("query", "name"), [("a dog, no cat", "CLIP-neg rectified"), ("a dog", "CLIP-neg")]
)
def test_by_default_one_system_excludes_what_is_denied(
    query: str, name: str, gallery_data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert search(gallery_data, query, "--k", "2", "--json") == 0
    (system,) = json.loads(capsys.readouterr().out)["systems"]
    assert system["name"] == name


def test_replaced_words_are_named_and_literal_ones_passed_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ranking = Ranking(System("A"), (), read_as={"ocean": "sea", "x": "y"})
    searcher = Mock()
    searcher.search.return_value = Answer(Query("ocean", ("ocean",), ()), (ranking,))
    monkeypatch.setattr("nt2vr.api.open_searcher", lambda *_: nullcontext(searcher))

    assert search(tmp_path, "ocean", "--systems", "A", "--literal", "lake, dogs") == 0

    assert "read as:   ocean → sea; x → y" in capsys.readouterr().out.splitlines()
    assert searcher.search.call_args.args[-1] == ["lake", "dogs"]


def test_alpha_weighs_the_unwanted_part(
    gallery_data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    best_scores = set()
    for alpha in ("0", "1"):
        options = ("--systems", "CLIP boolean", "--alpha", alpha, "--json")
        assert search(gallery_data, "a dog, no cat", *options) == 0
        (system,) = json.loads(capsys.readouterr().out)["systems"]
        best_scores.add(system["hits"][0]["score"])

    assert len(best_scores) == 2


def test_a_picture_alone_is_a_query(
    gallery_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = tmp_path / "green.png"
    Image.new("RGB", (64, 48), "green").save(picture)

    assert search(gallery_data, "", "--systems", "CLIP", "--image", str(picture)) == 0

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
    assert message in printed.err
    assert printed.err.count("\n") == 1
    assert printed.err.endswith(".\n")


def test_a_query_may_begin_with_a_minus(
    gallery_data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for word in ("dog", "kite"):
        assert search(gallery_data, f"-{word}", "--systems", "CLIP boolean", "-k", "1") == 0
        assert capsys.readouterr().out.startswith(f"wanted:    –\nunwanted:  {word}\n")
