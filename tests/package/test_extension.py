"""Extensions: the papers, and a package of somebody else's that is installed here."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from nt2vr.extension import extensions
from tests.support.paths import ROOT
from tests.support.tiny_models import write_tiny

TINY = ROOT / "tests" / "support" / "tiny_extension"
PIP = (
    sys.executable,
    "-m",
    "pip",
    "install",
    "--quiet",
    "--no-deps",
    "--no-build-isolation",
    "--no-index",
)
# Modules that take long to import.
HEAVY = ("torch", "trainer", "open_clip")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package installed."""
    folder = tmp_path_factory.mktemp("site")
    source = tmp_path_factory.mktemp("source") / "tiny"
    source.mkdir()
    # setuptools leaves a build folder beside what it builds.
    for file in TINY.iterdir():
        if file.is_file():
            (source / file.name).write_bytes(file.read_bytes())
    subprocess.run([*PIP, "--target", folder, source], check=True)
    return folder


def run(site: Path, *arguments: str | Path) -> str:
    """Run Python with the installed package; return what it prints."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(site)])}
    command = [sys.executable, *arguments]
    process = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return process.stdout


LISTING = """
import sys, json
from nt2vr.extension import extensions
names = [extension.name for extension in extensions()]
print(json.dumps({"names": names, "modules": list(sys.modules)}))
"""


@pytest.mark.slow
def test_listing_extensions_imports_neither_torch_nor_what_they_add(site: Path) -> None:
    printed = json.loads(run(site, "-c", LISTING))

    names_here = [extension.name for extension in extensions()]
    assert printed["names"] == [*names_here, "tiny"]
    modules = printed["modules"]
    assert set(modules).isdisjoint(HEAVY)
    assert "tiny_extension" in modules
    assert "tiny_extension_parts" not in modules
    # Of the papers, only the descriptions are imported.
    for module in modules:
        assert not re.match(r"nt2vr\.papers\.\w+\.", module), module


@pytest.mark.slow
def test_a_package_adds_a_command(site: Path) -> None:
    queries = ("-m", "nt2vr", "queries")
    assert run(site, *queries, "tiny", "a man sings").strip() == "3"
    assert "Count the words of a sentence." in run(site, *queries, "--help")


ADDED_PARTS = """
import json
import torch
from nt2vr.evaluation.tasks import is_task, tables
from nt2vr.search.strategies import STRATEGIES, System
from trainer.inputs import EmbeddedBatch
from trainer.losses import build_losses
from pathlib import Path

losses = build_losses({"pull": {"strength": 3.0}})
videos = torch.eye(2)
batch = EmbeddedBatch(video=videos, caption=videos.flip(0), logit_scale=torch.tensor(1.0))
Path("task.csv").write_text("path,tiny_caption\\na.mp4,a man sings\\n")
print(json.dumps({
    "loss": losses(batch)[1],
    "strategy": System.named("CLIP opposite", ["CLIP"]).strategy,
    "meaning": STRATEGIES["opposite"].meaning,
    "is_task": is_task(Path("task.csv")),
    "reader": tables()["tiny_caption"].__name__,
}))
"""


@pytest.mark.slow
def test_a_package_adds_a_loss_a_strategy_and_a_benchmark(site: Path, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(f"import os; os.chdir({str(tmp_path)!r})\n{ADDED_PARTS}")
    assert json.loads(run(site, script)) == {
        "loss": {"pull": 3.0},
        "strategy": "opposite",
        "meaning": "the opposite of the sentence",
        "is_task": True,
        "reader": "read_captions",
    }


def write_sounds(folder: Path) -> None:
    """Write captions of 16 videos, without the videos, and a sound of each."""
    folder.mkdir()
    lines = ["video_id,caption,split"]
    sounds = {}
    splits = ["train"] * 8 + ["val"] * 4 + ["test"] * 4
    for number, split in enumerate(splits):
        lines.append(f"video{number},sound number {number},{split}")
        sound = [0.0] * 16
        sound[number] = 1.0
        sounds[f"video{number}"] = sound
    (folder / "captions.csv").write_text("\n".join(lines), encoding="utf-8")
    (folder / "loud.json").write_text(json.dumps(sounds), encoding="utf-8")


HEARING_RUN = {
    "name": "Hears",
    "train": "head",
    "pooling": "attention",
    "sounds": "loud",
    "losses": {"pull": {}},
    "num_clips": 8,
    "batch_size": 4,
    "epochs": 1,
    "warmup_steps": 0,
}
# Runs two commands, each given as JSON, in one process, as importing torch takes most of the time.
TWO_COMMANDS = """
import json, sys
from nt2vr.cli import main
for command in sys.argv[1:]:
    assert main(json.loads(command)) == 0
"""


@pytest.mark.slow
def test_a_package_adds_an_input_read_instead_of_frames(site: Path, tmp_path: Path) -> None:
    base = tmp_path / "base"
    write_tiny(base, "Tiny base")
    data = tmp_path / "data"
    write_sounds(data)
    config = tmp_path / "config.json"
    settings = {**HEARING_RUN, "base": str(base), "data": str(data)}
    config.write_text(json.dumps(settings), encoding="utf-8")
    home = tmp_path / "home"
    folder = home / "runs" / "hears"
    train = ["train", str(folder), "--config", str(config)]
    evaluate = ["evaluate", "--data", str(data), "--systems", "hears", "--data-dir", str(home)]

    printed = run(site, "-c", TWO_COMMANDS, json.dumps(train), json.dumps(evaluate))

    assert "4 videos" in printed
    checkpoint = folder / "checkpoints" / "epoch_001"
    card = json.loads((checkpoint / "nt2vr.json").read_text(encoding="utf-8"))
    assert card["sounds"] == "loud"
    assert card["features"] == ""


LOGGED_LISTING = """
import logging, sys
logging.basicConfig(stream=sys.stdout)
from nt2vr.extension import extensions
print([extension.name for extension in extensions()])
"""


@pytest.mark.slow
def test_a_broken_extension_is_left_out_with_a_warning(tmp_path: Path) -> None:
    broken = tmp_path / "broken-1.dist-info"
    broken.mkdir()
    (broken / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1\n")
    (broken / "entry_points.txt").write_text(
        "[nt2vr.extensions]\nbroken = no_such_module:EXTENSION\n"
    )

    warning, *_, names = run(tmp_path, "-c", LOGGED_LISTING).splitlines()

    assert "broken" in warning
    assert "broken" not in names


def test_the_code_in_the_documentation_is_that_of_the_package() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)\n```", page, re.DOTALL)
    sources = [file.read_text(encoding="utf-8") for file in TINY.glob("*.py")]
    assert len(blocks) == 3
    for block in blocks:
        assert any(block in source for source in sources)
