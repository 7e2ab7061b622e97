"""Query sets from captions files of each format, and nT2VR's released files, with lines made to harm the reader."""

import json
from pathlib import Path

import pytest

from nt2vr.errors import ConfigError
from nt2vr.negation.generate.build import build, build_query_sets, cached_query_sets
from nt2vr.negation.generate.json_lines import object_of
from nt2vr.negation.generate.query_sets import (
    Caption,
    CaptionedVideos,
    QuerySets,
    read_captioned_videos,
    read_captions,
    read_composed,
    read_negated,
)
from nt2vr.progress import silent, stoppable

TEXTS = {
    "both": ["a man plays the guitar", "a man sits on a stool"],
    "guitar": ["a man is playing the guitar", "a red car"],
    "stool": ["a woman sits on a stool", "she smiles"],
}


def captions_in_formats() -> dict[str, str]:
    """Return the content of a captions file of TEXTS in each format."""
    json_lines = []
    nt2vr = []
    flickr = []
    for name, texts in TEXTS.items():
        json_lines.append(json.dumps({"video_id": name, "captions": texts}))
        for number, text in enumerate(texts):
            nt2vr.append(f"{name}#enc#{number} {text}")
            flickr.append(f"{name}#{number}\t{text}")
    lines = {"JSON lines": json_lines, "nT2VR": nt2vr, "Flickr": flickr}
    return {name: "\n".join(lines_of_format) + "\n" for name, lines_of_format in lines.items()}


FORMATS = captions_in_formats()


@pytest.fixture(params=FORMATS)
def captions_file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / "captions.txt"
    path.write_text(FORMATS[request.param], encoding="utf-8")
    return path


def test_three_sets_are_built_from_every_format(captions_file: Path, tmp_path: Path) -> None:
    counts = build(captions_file, tmp_path / "out", 0)
    del counts["seconds"]
    assert counts == {"videos": 3, "captions": 6, "original": 6, "negated": 5, "composed": 1}
    original = read_captions(tmp_path / "out" / "original.txt")
    expected = []
    for name, texts in TEXTS.items():
        expected += [(name, text) for text in texts]
    assert [(caption.video_id, caption.text) for caption in original] == expected
    negated = read_captions(tmp_path / "out" / "negated.txt")
    assert {caption.cap_id for caption in original} - {caption.cap_id for caption in negated} == {
        original[3].cap_id
    }
    for caption in negated:
        assert " not " in caption.text or "n't " in caption.text
    composed = read_composed(tmp_path / "out" / "composed.jsonl")
    assert {cap_id: query.video_ids for cap_id, query in composed.items()} == {"s0": ("guitar",)}


def test_the_same_seed_writes_the_same_files(captions_file: Path, tmp_path: Path) -> None:
    def build_with(seed: int, name: str) -> list[str]:
        folder = tmp_path / name
        build(captions_file, folder, seed)
        files = ("original.txt", "negated.txt", "composed.jsonl")
        return [(folder / file).read_text() for file in files]

    first = build_with(3, "a")
    assert build_with(3, "b") == first
    another = build_with(4, "c")
    assert another[0] == first[0]
    assert another[1:] != first[1:]


VIDEOS = CaptionedVideos.all_as_queries({name: tuple(texts) for name, texts in TEXTS.items()})


def test_query_sets_are_cached_by_captions_queries_and_seed(tmp_path: Path) -> None:
    steps: list[str] = []
    built = cached_query_sets(VIDEOS, 0, tmp_path, lambda *step: steps.append(step[2]))
    assert list(dict.fromkeys(steps)) == [
        "negating captions",
        "reading captions",
        "composing queries",
    ]
    stopped = stoppable(silent, lambda: True)
    # There is nothing left to stop.
    assert cached_query_sets(VIDEOS, 0, tmp_path, stopped) == built
    with pytest.raises(InterruptedError):
        cached_query_sets(VIDEOS, 1, tmp_path, stopped)
    assert len(list(tmp_path.iterdir())) == 1
    fewer = CaptionedVideos(VIDEOS.captions, VIDEOS.queries[:1])
    assert cached_query_sets(fewer, 0, tmp_path).original == fewer.queries


@pytest.mark.parametrize(
    "damaged",
    [b"", b'{"original": [', b"\xff\xfe", b"[" * 100_000, b'{"original": [[1]]}'],
    ids=["empty", "cut", "other", "deep", "of another form"],
)
def test_a_damaged_file_of_queries_is_written_again(tmp_path: Path, damaged: bytes) -> None:
    built = cached_query_sets(VIDEOS, 0, tmp_path)
    (path,) = tmp_path.iterdir()
    content = path.read_bytes()
    path.write_bytes(damaged)
    assert cached_query_sets(VIDEOS, 0, tmp_path) == built
    assert path.read_bytes() == content


def test_query_sets_survive_a_round_trip_through_files(tmp_path: Path) -> None:
    sets = build_query_sets(VIDEOS, 0)
    sets.write(tmp_path / "sets")
    assert QuerySets.read(tmp_path / "sets") == sets


def test_a_file_may_name_one_query_per_video(tmp_path: Path) -> None:
    path = tmp_path / "captions.jsonl"
    path.write_text(
        '{"video_id": "v", "captions": ["a dog", "a cat runs"], "query": "a cat runs"}\n'
    )
    videos = read_captioned_videos(path)
    assert videos.captions == {"v": ("a dog", "a cat runs")}
    assert videos.queries == (Caption("v#enc#1", "a cat runs"),)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("v#enc#0 a dog\nhello\n", "2 .*hello"),
        ('{"video_id": "v"}', "1 .*captions"),
        ('{"video_id": ', "1 .*video_id"),
        ("\n \n", "captions"),
    ],
)
def test_a_file_of_another_format_is_refused_with_its_line(
    tmp_path: Path, text: str, message: str
) -> None:
    path = tmp_path / "captions.txt"
    path.write_text(text)
    with pytest.raises(ConfigError, match=message):
        read_captioned_videos(path)


def test_released_composed_queries_are_read_without_the_keys_they_lack(tmp_path: Path) -> None:
    path = tmp_path / "composed.txt"
    path.write_text(
        '{"cap_id": "s7", "caption": "a dog runs and doesn\'t bark", "video_ids": ["a", "b"]}\n'
    )
    assert read_composed(path)["s7"].video_ids == ("a", "b")
    assert read_composed(path)["s7"].hard_ids == ()


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
        # Their captions may be empty.
        Caption("video7011#enc#0", ""),
    )
    assert sets.negated == (Caption("video7010#enc#3#0", "a man is not singing on a stage"),)
    (composed,) = sets.composed
    assert (composed.caption, composed.video_ids) == (
        "a man sings and he doesn't dance",
        ("video7010",),
    )
    (folder / "msrvtt1kAtest.negated_neginfo.txt").write_text(NEGINFO)
    # The file that knows the parts is preferred.
    assert QuerySets.read(folder).negated[0].unwanted == "singing"
    (folder / "original.txt").write_text("video7010#enc#0 ours\n")
    assert QuerySets.read(folder).original[0].text == "ours"
    (folder / "vatex_test1k5.composed.txt").write_text("")
    with pytest.raises(ConfigError, match=r"msrvtt1kAtest.composed.txt, vatex_test1k5.comp"):
        QuerySets.read(folder)


def test_the_parts_of_neginfo_lines_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "negated_neginfo.txt"
    path.write_text(NEGINFO)
    expected = [
        Caption(
            "video7010#enc#3#0", "a man is not singing on a stage", "a man , on a stage", "singing"
        ),
        Caption("video7011#enc#0#1", "a dog runs"),
    ]
    assert read_negated(path) == read_captions(path) == expected


def test_training_captions_come_with_all_their_negations(tmp_path: Path) -> None:
    path = tmp_path / "msrvtt10ktrain.caption.negation.txt"
    path.write_text(TRAINING)
    assert read_captioned_videos(path).captions == {
        "video0": ("a man sings",),
        "video1": ("a red car",),
    }
    assert read_negated(path) == [
        Caption("video0#enc#1#0", "a man doesn't sing"),
        Caption("video0#enc#1#1", "a man does not sing"),
    ]


@pytest.mark.parametrize(
    "line",
    [
        "{" * 200_000,
        "{'a': " + "-" * 500_000 + "1}",
        "{'a': __import__('os')}",
        "{'a', 'b'}",
        "{'a': " + "9" * 9_999 + "}",
    ],
    ids=lambda line: line[:22],
)
def test_a_harmful_line_is_never_run(line: str) -> None:
    assert object_of(line) is None


@pytest.mark.parametrize(
    "line",
    [
        "{'caption': 'a'}",
        *(
            f"{{'cap_id': 's0', 'caption': 'a', 'video_ids': {ids}}}"
            for ids in ("3", "[], 'hard_ids': 'v'")
        ),
    ],
)
def test_composed_queries_without_proper_ids_are_refused(line: str, tmp_path: Path) -> None:
    (tmp_path / "composed.txt").write_text(f"{line}\n")
    with pytest.raises(ConfigError, match=r"1 .*composed.txt"):
        read_composed(tmp_path / "composed.txt")
