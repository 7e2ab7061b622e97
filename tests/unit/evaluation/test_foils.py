"""Caption-and-foil files in their published forms, made small."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from nt2vr.errors import ConfigError
from nt2vr.evaluation import tasks
from nt2vr.evaluation.tasks import is_task, task_benchmark
from nt2vr.evaluation.text_benchmark import TextBenchmark
from nt2vr.media.decode import Decoder
from nt2vr.media.store import Cache

Read = Callable[[Path], TextBenchmark]

SUGAR = {
    "0": {
        "filename": "000000000001.jpg",
        "caption": "a cat and a dog",
        "negative_caption": "a dog and a cow",
    },
    "2": {
        "filename": "000000000002.jpg",
        "caption": "a man sings",
        "negative_caption": "a man dances",
    },
}


@pytest.fixture
def read(tmp_path: Path, write_video: Callable[..., Path], decoder: Decoder) -> Read:
    """Read a task whose files lie elsewhere below its folder."""
    for name in ("000000000001.jpg", "000000000002.jpg", "v7w_7.jpg", "2405.jpg"):
        path = tmp_path / "pictures" / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(write_video("a.avi", [0]).read_bytes())

    def read(path: Path) -> TextBenchmark:
        assert is_task(path) == (path.name != "captions.csv")
        with Cache(tmp_path.parent / f"{tmp_path.name}-cache") as cache:
            return task_benchmark(path, decoder, cache)

    return read


def answers(benchmark: TextBenchmark) -> list[tuple[str, list[str], str, str]]:
    """Each question's right text, wrong texts, file and groups."""
    questions = []
    for query in benchmark.queries:
        wrong_texts = [benchmark.texts[row] for row in query.others]
        video_id = benchmark.video_ids[query.relevant[0]]
        questions.append((query.text, wrong_texts, video_id, query.group))
    return questions


def test_sugarcrepes_folds_are_read_from_their_folder(read: Read, tmp_path: Path) -> None:
    (tmp_path / "swap_obj.json").write_text(json.dumps(SUGAR), encoding="utf-8")
    (tmp_path / "add_att.json").write_text(json.dumps({"0": SUGAR["0"]}), encoding="utf-8")
    (tmp_path / "package.json").write_text('{"name": "other"}', encoding="utf-8")
    assert answers(read(tmp_path)) == [
        ("a cat and a dog", ["a dog and a cow"], "000000000001.jpg", "add_att"),
        ("a cat and a dog", ["a dog and a cow"], "000000000001.jpg", "swap_obj"),
        ("a man sings", ["a man dances"], "000000000002.jpg", "swap_obj"),
    ]
    assert len(read(tmp_path / "swap_obj.json").queries) == 2


def test_crepe_negate_has_several_foils_and_whole_pictures(read: Read, tmp_path: Path) -> None:
    path = tmp_path / "prod_vg_hard_negs_negate_complexity_4.csv"
    path.write_text(
        'caption,image_id,x,y,width,height,hard_negs\na cup on a table,2405,1,2,30,40,"[\'no cup\', ""isn\'t""]"\n'
    )
    benchmark = read(path)
    assert answers(benchmark) == [("a cup on a table", ["no cup", "isn't"], "2405", "complexity 4")]
    assert benchmark.source["remarks"] == [tasks.UNCUT_REMARK]


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.json", '{"0": {"negative_caption": "b"}}', "no column 'filename'"),
        ("a.csv", "image_id,caption,hard_negs\n1,a,[\n", "never closed"),
        ("a.csv", "filepath,captions\n", "it has no rows"),
        ("a.csv", "filepath,captions\na.avi,['b'\n", "never closed"),
        ("captions.csv", "path,caption\na.avi,b\n", "there is no column 'negated_caption'"),
        ("a.csv", "path,caption_0,correct_answer\na.avi,b,7\n", "out of range"),
    ],
)
def test_a_damaged_or_unknown_file_is_one_sentence(
    read: Read, tmp_path: Path, name: str, content: str, reason: str
) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(ConfigError, match=name) as caught:
        read(tmp_path / name)
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)
