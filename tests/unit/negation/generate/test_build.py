"""Query sets from captions files of each format."""

import json
from pathlib import Path

import pytest

from nt2vr.errors import ConfigError
from nt2vr.negation.generate.build import build, build_query_sets, cached_query_sets
from nt2vr.negation.generate.query_sets import (
    Caption,
    CaptionedVideos,
    QuerySets,
    read_captioned_videos,
    read_captions,
    read_composed,
)
from nt2vr.progress import silent, stoppable

TEXTS = {
    "both": ["a man plays the guitar", "a man sits on a stool"],
    "guitar": ["a man is playing the guitar", "a red car"],
    "stool": ["a woman sits on a stool", "she smiles"],
}
FORMATS = {
    "JSON lines": "".join(json.dumps({"video_id": name, "captions": texts}) + "\n" for name, texts in TEXTS.items()),
    "nT2VR": "".join(f"{name}#enc#{i} {text}\n" for name, texts in TEXTS.items() for i, text in enumerate(texts)),
    "Flickr": "".join(f"{name}#{i}\t{text}\n" for name, texts in TEXTS.items() for i, text in enumerate(texts)),
}


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
    assert [(caption.video_id, caption.text) for caption in original] == [
        (name, text) for name, texts in TEXTS.items() for text in texts
    ]
    negated = read_captions(tmp_path / "out" / "negated.txt")
    assert {caption.cap_id for caption in original} - {caption.cap_id for caption in negated} == {original[3].cap_id}
    assert all(" not " in caption.text or "n't " in caption.text for caption in negated)
    composed = read_composed(tmp_path / "out" / "composed.jsonl")
    assert {cap_id: query.video_ids for cap_id, query in composed.items()} == {"s0": ("guitar",)}


def test_the_same_seed_writes_the_same_files(captions_file: Path, tmp_path: Path) -> None:
    for name, seed in (("a", 3), ("b", 3), ("c", 4)):
        build(captions_file, tmp_path / name, seed)
    first, again, other = (
        [(tmp_path / folder / name).read_text() for name in ("original.txt", "negated.txt", "composed.jsonl")]
        for folder in "abc"
    )
    assert first == again
    assert first[0] == other[0] and first[1:] != other[1:]


VIDEOS = CaptionedVideos.all_as_queries({name: tuple(texts) for name, texts in TEXTS.items()})


def test_query_sets_are_cached_by_captions_queries_and_seed(tmp_path: Path) -> None:
    steps: list[str] = []
    built = cached_query_sets(VIDEOS, 0, tmp_path, lambda *step: steps.append(step[2]))
    assert list(dict.fromkeys(steps)) == ["negating captions", "reading captions", "composing queries"]
    stopped = stoppable(silent, lambda: True)
    assert cached_query_sets(VIDEOS, 0, tmp_path, stopped) == built  # nothing left to stop
    with pytest.raises(InterruptedError):
        cached_query_sets(VIDEOS, 1, tmp_path, stopped)
    assert len(list(tmp_path.iterdir())) == 1
    fewer = CaptionedVideos(VIDEOS.captions, VIDEOS.queries[:1])
    assert cached_query_sets(fewer, 0, tmp_path).original == fewer.queries


@pytest.mark.parametrize(
    "damaged", [b"", b'{"original": [', b"\xff\xfe", b"[" * 100_000], ids=["empty", "cut", "other", "deep"]
)
def test_a_damaged_file_of_queries_is_written_again(tmp_path: Path, damaged: bytes) -> None:
    built = cached_query_sets(VIDEOS, 0, tmp_path)
    (path,) = tmp_path.iterdir()
    whole = path.read_bytes()
    path.write_bytes(damaged)
    assert cached_query_sets(VIDEOS, 0, tmp_path) == built
    assert path.read_bytes() == whole


def test_queries_that_cannot_be_stored_are_returned_all_the_same(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").touch()
    assert cached_query_sets(VIDEOS, 0, tmp_path / "file") == build_query_sets(VIDEOS, 0)
    assert [record.getMessage() for record in caplog.records] == [
        f"Queries cannot be stored in {tmp_path / 'file'} (File exists). They will be built again."
    ]


def test_query_sets_survive_a_round_trip_through_files(tmp_path: Path) -> None:
    sets = build_query_sets(VIDEOS, 0)
    sets.write(tmp_path / "sets")
    assert QuerySets.read(tmp_path / "sets") == sets


def test_a_file_may_name_one_query_per_video(tmp_path: Path) -> None:
    path = tmp_path / "captions.jsonl"
    path.write_text('{"video_id": "v", "captions": ["a dog", "a cat runs"], "query": "a cat runs"}\n')
    videos = read_captioned_videos(path)
    assert videos.captions == {"v": ("a dog", "a cat runs")}
    assert videos.queries == (Caption("v#enc#1", "a cat runs"),)


@pytest.mark.parametrize("form", FORMATS)
def test_a_byte_order_mark_is_no_part_of_the_first_line(tmp_path: Path, form: str) -> None:
    path = tmp_path / "captions.txt"
    path.write_text(FORMATS[form], encoding="utf-8-sig")
    assert read_captioned_videos(path).captions == VIDEOS.captions


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("v#enc#0 a dog\nhello\n", r"^Line 2 of .* is 'hello'\. Write .*\.$"),
        ('{"video_id": "v"}', r"^Line 1 of .* lacks .*\.$"),
        ('{"video_id": ', r"^Line 1 of .* is not a JSON object.*\.$"),
        ("\n \n", r"^.* holds no captions\. .*\.$"),
    ],
)
def test_a_file_of_another_format_is_refused_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "captions.txt"
    path.write_text(text)
    with pytest.raises(ConfigError, match=message):
        read_captioned_videos(path)


def test_released_composed_queries_are_read_without_the_keys_they_lack(tmp_path: Path) -> None:
    path = tmp_path / "composed.txt"
    path.write_text('{"cap_id": "s7", "caption": "a dog runs and doesn\'t bark", "video_ids": ["a", "b"]}\n')
    assert read_composed(path)["s7"].video_ids == ("a", "b")
    assert read_composed(path)["s7"].hard_ids == ()
    path.write_text('{"caption": "a dog"}\n')
    with pytest.raises(ConfigError, match="Line 1"):
        read_composed(path)
