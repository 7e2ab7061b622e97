"""The commands of docs/reproduce.md for MSR-VTT1k, on a few videos in the published form and a small ViT."""

import json
import random
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from nt2vr.cli import main
from nt2vr.models.card import Card
from nt2vr.models.checkpoint import build_model, write_checkpoint
from tests.paths import ROOT
from tests.tiny import SMALL_VIT
from trainer.runs.run_folder import RunFolder

SMALLER = ("batch_size=4", "epochs=2", "num_frames=2", "frames_per_step=2", "log_every=1")
DEEDS = ("playing the guitar", "singing on a stage", "riding a horse", "cutting an onion", "driving a car")


def commands(section: str) -> list[list[str]]:
    """Return the commands of a section, split as a shell does."""
    text = (ROOT / "docs" / "reproduce.md").read_text(encoding="utf-8")
    (block,) = re.findall(rf"^## {section}\n.*?^```\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return [shlex.split(line) for line in block.splitlines()]


def write_published(folder: Path, write_video: Callable[..., Path]) -> None:
    """Write MSR-VTT1k as it is published: 16 training and 4 test videos, and the query sets of the authors."""
    rng = random.Random(0)
    ids = [f"video{number}" for number in range(20)]
    captions = {video: [f"a {who} is {rng.choice(DEEDS)}" for who in ("man", "woman", "boy")] for video in ids}
    for number, video in enumerate(ids):
        write_video(str(folder / "videos" / "all" / f"{video}.mp4"), [10 * number, 10 * number + 50], side=64)
    data = {
        "videos": [{"video_id": video, "split": "train"} for video in ids],
        "sentences": [{"video_id": video, "caption": text} for video in ids for text in captions[video]],
    }
    (folder / "MSRVTT_data.json").write_text(json.dumps(data))
    rows = [f"ret{n},msr{n},{video},{captions[video][0]}" for n, video in enumerate(ids[16:])]
    (folder / "MSRVTT_JSFUSION_test.csv").write_text("\n".join(["key,vid_key,video_id,sentence", *rows]) + "\n")
    (folder / "MSRVTT_train.9k.csv").write_text("\n".join(["video_id", *ids[:16]]) + "\n")
    original = {f"{video}#enc#0": captions[video][0] for video in ids[16:]}
    composed = [
        {"cap_id": "s0", "caption": "a man is singing and he is not dancing", "video_ids": ids[16:18], "pos_occur": 2},
        {"cap_id": "s1", "caption": "a man is driving but not singing", "video_ids": ids[18:19], "pos_occur": 1},
    ]
    for name, lines in {
        "captionsubset.txt": [f"{cap_id} {text}" for cap_id, text in original.items()],
        "negated.txt": [f"{cap_id}#0 {text.replace(' is ', ' is not ')}" for cap_id, text in original.items()],
        "composed.txt": [repr(query) for query in composed],
    }.items():
        (folder / "queries").mkdir(exist_ok=True)
        (folder / "queries" / f"msrvtt1kAtest.{name}").write_text("\n".join(lines) + "\n")


@pytest.mark.slow
def test_the_commands_for_msrvtt1k_lead_from_published_files_to_the_table_for_latex(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    write_video: Callable[..., Path],
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("signal.signal", lambda *_: None)  # leaves pytest's own handlers in place
    data, home = tmp_path / "msrvtt1k", tmp_path / ".cache" / "nt2vr"
    write_published(data, write_video)
    model = build_model(SMALL_VIT, {})  # in place of the download
    write_checkpoint(home / "models" / "ViT-B-32--openai", model, SMALL_VIT, {}, Card("ViT-B-32 / openai", frames=2))
    for _, command, *arguments in commands("MSR-VTT1k"):
        here = [text.replace("/data/msrvtt1k", str(data)).replace("~", str(tmp_path)) for text in arguments]
        smaller = [flag for value in SMALLER for flag in ("--set", value)] if command == "train" else []
        assert main([command, *here, *smaller]) == 0, capsys.readouterr().err
    bnl = RunFolder(home / "runs" / "bnl-1k")
    assert {"retrieval", "bnl"} <= json.loads(bnl.metrics.read_text().splitlines()[1]).keys()
    table = (tmp_path / "tables" / "msrvtt1k" / "table.tex").read_text().splitlines()
    rows = [line.partition(" & ")[0] for line in table if line.endswith(r"\\")]
    assert r"\multicolumn{4}{c}{Composed}" in "".join(table)
    for name in ("ViT-B-32 / openai", "star-1k · best", r"star-1k · best boolean $\alpha$ 1", "bnl-1k · best"):
        assert name in rows
