"""Query sets in the forms released with nT2VR: their names, their lines, and lines made to harm the reader."""

import time
from pathlib import Path

import pytest

from nt2vr.errors import ConfigError
from nt2vr.negation.generate.query_sets import (
    Caption,
    QuerySets,
    read_captioned_videos,
    read_captions,
    read_composed,
    read_negated,
)
from nt2vr.negation.generate.released import MAX_CHARS, object_of, split_as_code

NEGINFO = (
    '{"cap_id": "video7010#enc#3#0", "caption": "a man is not singing on a stage", "cue": 3, "negscope": [0, 0], '
    '"poscap": ["a man", "on a stage"], "negcap": "singing"}\n'
    '{"cap_id": "video7011#enc#0#1", "caption": "a dog runs"}\n'
)
TRAINING = (
    '{"id": "video0#enc#1", "truth": "a man sings", "false": [{"falsesent": "a man doesn\'t sing", "id": '
    '"video0#enc#1Fn0"}, {"falsesent": "a man does not sing", "id": "video0#enc#1Fn1"}]}\n'
    '{"id": "video1#enc#0", "truth": "a red car"}\n'
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The released files of MSR-VTT1k."""
    for name, text in {
        "caption.txt": "video7010#enc#3 a man is singing on a stage\nvideo7010#enc#4 a man\n",
        "captionsubset.txt": "video7010#enc#3 a man is singing on a stage\nvideo7011#enc#0\n",
        "negated.txt": "video7010#enc#3#0 a man is not singing on a stage\n",
        "composed.txt": "{'cap_id': 's0', 'caption': \"a man sings and he doesn't dance\", "
        "'video_ids': ['video7010'], 'negstionfirst': 0, 'pos_occur': 2}\n",
    }.items():
        (tmp_path / f"msrvtt1kAtest.{name}").write_text(text)
    return tmp_path


def test_a_folder_of_released_files_is_read_by_their_names(folder: Path) -> None:
    sets = QuerySets.read(folder)
    assert sets.original == (
        Caption("video7010#enc#3", "a man is singing on a stage"),
        Caption("video7011#enc#0", ""),  # their captions may be empty
    )
    assert sets.negated == (Caption("video7010#enc#3#0", "a man is not singing on a stage"),)
    (composed,) = sets.composed
    assert (composed.caption, composed.video_ids) == ("a man sings and he doesn't dance", ("video7010",))
    (folder / "msrvtt1kAtest.negated_neginfo.txt").write_text(NEGINFO)
    assert QuerySets.read(folder).negated[0].unwanted == "singing"  # the file that knows the parts is preferred
    (folder / "original.txt").write_text("video7010#enc#0 ours\n")
    assert QuerySets.read(folder).original[0].text == "ours"
    (folder / "vatex_test1k5.composed.txt").write_text("")
    with pytest.raises(ConfigError, match=r"several collections \(msrvtt1kAtest.composed.txt, vatex_test1k5.comp"):
        QuerySets.read(folder)


def test_the_parts_of_neginfo_lines_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "negated_neginfo.txt"
    path.write_text(NEGINFO)
    expected = [
        Caption("video7010#enc#3#0", "a man is not singing on a stage", "a man , on a stage", "singing"),
        Caption("video7011#enc#0#1", "a dog runs"),
    ]
    assert read_negated(path) == read_captions(path) == expected


def test_training_captions_come_with_all_their_negations(tmp_path: Path) -> None:
    path = tmp_path / "msrvtt10ktrain.caption.negation.txt"
    path.write_text(TRAINING)
    assert read_captioned_videos(path).captions == {"video0": ("a man sings",), "video1": ("a red car",)}
    assert read_negated(path) == [
        Caption("video0#enc#1#0", "a man doesn't sing"),
        Caption("video0#enc#1#1", "a man does not sing"),
    ]


def test_empty_captions_are_no_captions_of_a_video(tmp_path: Path) -> None:
    path = tmp_path / "x.caption.txt"
    path.write_text("v#enc#0\nv#enc#1 a dog\n")
    videos = read_captioned_videos(path)
    assert (videos.captions, [query.cap_id for query in videos.queries]) == ({"v": ("a dog",)}, ["v#enc#1"])


@pytest.mark.parametrize(
    "line",
    [
        "{" * 200_000,
        "{1:" * 200_000,
        "{'a': " + "-" * 500_000 + "1}",
        "{'a': " + "(" * 500_000,
        "{" + "'a': 1," * 200_000,
        "{'a': __import__('os')}",
        "{'a': 'b'.upper()}",
        "{'a', 'b'}",
        "{'a': " + "9" * 9_999 + "}",
        "{[]: 1}",
    ],
    ids=lambda line: line[:22],
)
def test_a_harmful_line_is_not_an_object_and_nothing_in_it_is_run(line: str) -> None:
    started = time.perf_counter()
    assert object_of(line) is None
    assert time.perf_counter() - started < 2


@pytest.mark.parametrize(
    ("text", "denied_first", "parts"),
    [
        ("a man sings and he doesn't dance", None, ("a man sings and he doesn't dance", ())),
        ("a man sings and not dances while it rains", None, ("a man sings and", ("dances while it rains",))),
        ("a man sings and he doesn't dance", False, ("a man sings", ("he  dance",))),
        ("a man doesn't dance while sings and runs", True, ("sings", ("a man  dance",))),
        ("a man stands and not sits", False, ("a man st", ("s",))),  # their pattern cuts words, too
        ("a man dances", True, ("a man dances", ())),
    ],
)
def test_sentences_are_split_as_the_authors_code_does(
    text: str, denied_first: bool | None, parts: tuple[str, tuple[str, ...]]
) -> None:
    assert split_as_code(text, denied_first) == parts


def test_the_authors_composer_says_which_clause_is_denied(tmp_path: Path) -> None:
    path = tmp_path / "t.composed.txt"
    line = '{"cap_id": "%s", "caption": "a", "video_ids": ["v"]%s}\n'
    path.write_text(line % ("s0", ', "negstionfirst": 1') + line % ("s1", ', "negstionfirst": 0') + line % ("s2", ""))
    assert [query.denied_first for query in read_composed(path).values()] == [True, False, None]


def test_a_line_is_an_object_up_to_a_length() -> None:
    assert object_of("{'a': '" + "b" * (MAX_CHARS - 10) + "'}") is not None
    assert object_of('{"a": "' + "b" * MAX_CHARS + '"}') is None


@pytest.mark.parametrize(
    "ids",
    ["'video_ids': 3", "'video_ids': 'video7'", "'video_ids': {'v': 1}", "'video_ids': [], 'hard_ids': 'video7'"],
)
def test_composed_queries_whose_ids_are_no_list_are_refused(ids: str, tmp_path: Path) -> None:
    path = tmp_path / "composed.txt"
    path.write_text(f"{{'cap_id': 's0', 'caption': 'a', {ids}}}\n")
    with pytest.raises(ConfigError, match=r"Line 1 of .* has ids that are no list"):
        read_composed(path)
