"""Plug-ins: the recipes of CONTRIBUTING.md as installed packages with entry points, and packages that are broken."""

import logging
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import nt2vr
from nt2vr.datasets.load import DATASETS, load_dataset
from nt2vr.errors import CheckpointError, ConfigError
from nt2vr.models.catalog import MODELS, Catalog
from nt2vr.registry import Registry
from nt2vr.search.index import INDEXES
from nt2vr.search.strategies import STRATEGIES, Parts
from nt2vr.search.systems import System
from nt2vr.ui.train.form import loss_fields
from tests.colours import ColourModel
from tests.paths import ROOT
from trainer.losses import LOSSES, build_losses

PlugIn = Callable[..., None]


@pytest.fixture
def plug_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PlugIn:
    """Return `install(module, code, group, **names)`, which writes a package and its entry points."""
    for registry in (STRATEGIES, DATASETS, MODELS, INDEXES, LOSSES):
        monkeypatch.setattr(registry, "_plugged", None)
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(site)

    def install(module: str, code: str, group: str, **names: str) -> None:
        (site / f"{module}.py").write_text(code)
        info = site / f"{module}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
        lines = "".join(f"{name} = {module}:{value}\n" for name, value in names.items())
        (info / "entry_points.txt").write_text(f"[nt2vr.{group}]\n{lines}")
        monkeypatch.delitem(sys.modules, module, raising=False)

    return install


def test_a_strategy(plug_in: PlugIn) -> None:
    plug_in("opposites", "def opposite(parts):\n    return parts.unwanted[0]\n", "strategies", opposite="opposite")
    assert STRATEGIES["plain"] is not None and "opposites" not in sys.modules  # a built-in name loads no plug-in
    assert System.named("clip OPPOSITE", ["CLIP"]) == System("CLIP", "opposite")
    unwanted = np.array([[0, 1]], np.float32)
    vector = STRATEGIES["opposite"](Parts(None, None, unwanted, 0.0))
    assert vector is not None and vector.tolist() == [0, 1]
    assert STRATEGIES.added == ["opposite"]
    with pytest.raises(ConfigError, match="A plug-in has a strategy 'opposite' already"):
        nt2vr.register_strategy("opposite", lambda parts: None)


def test_a_dataset(plug_in: PlugIn, tmp_path: Path) -> None:
    code = """
from nt2vr.datasets.base import Annotations, Loader

def load(files):
    lines = files.named("captions.lines")[0].read_text().splitlines()
    pairs = [line.split("|") for line in lines]
    return Annotations("Lines", {"test": {name: [caption] for name, caption in pairs}})

LOADER = Loader(("captions.lines",), "ID|CAPTION per line", load)
"""
    plug_in("lines", code, "datasets", lines="LOADER")
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "captions.lines").write_text("a|a dog\nb|a cat\n")
    (folder / "notes.csv").write_text("what,when\n")  # a more general mark
    (folder / "a.mp4").touch()
    (folder / "b.mp4").touch()
    for name in (str(folder), f"lines:{folder}"):
        dataset = load_dataset(name, "test")
        assert (dataset.name, [video.captions for video in dataset.videos]) == ("Lines", [("a dog",), ("a cat",)])


def test_a_model(plug_in: PlugIn, tmp_path: Path) -> None:
    code = "from tests.colours import ColourModel\ndef broken():\n    raise OSError('no weights')\n"
    plug_in("palettes", code, "models", Colours="ColourModel", Broken="broken")
    catalog = Catalog([tmp_path / "models"])
    assert set(catalog.names()) == {"Colours", "Broken"} and catalog.find("Colours").kind == "outside"
    assert isinstance(catalog.load("Colours"), ColourModel) and catalog.card("Colours").frames == 1
    assert catalog.load("Colours") is catalog.load("Colours")
    with pytest.raises(CheckpointError, match="model Broken cannot be made: no weights"):
        catalog.load("Broken")
    with pytest.raises(ConfigError, match="'Colours' is no checkpoint folder"):
        catalog.remove("Colours")
    with pytest.raises(ConfigError, match="There is a model 'Colours' already"):
        catalog.add(ColourModel(fingerprint="others"))
    assert catalog.add(ColourModel()) == "Colours"  # the same


def test_an_index(plug_in: PlugIn, colours: Path) -> None:
    code = """
from nt2vr.search.index import ExactIndex

class Counting(ExactIndex):
    searches = 0

    def search(self, queries, k):
        Counting.searches += 1
        return super().search(queries, k)
"""
    plug_in("counting", code, "indexes", counting="Counting")
    with nt2vr.open_searcher(colours, library="Colours", index="counting") as searcher:
        answer = searcher.search("red", ColourModel())
    assert answer.rankings[0].hits[0].video_id == "<i>red.png"
    assert sys.modules["counting"].Counting.searches == 1


def test_a_loss(plug_in: PlugIn) -> None:
    code = '''
from dataclasses import dataclass
from typing import ClassVar

@dataclass(frozen=True)
class Zero:
    """Nothing at all."""

    needs: ClassVar[frozenset[str]] = frozenset()
    margin: float = 0.1

    def __call__(self, batch):
        return batch.caption.sum() * 0
'''
    plug_in("zeros", code, "losses", zero="Zero")
    weight, loss = build_losses({"zero": {"weight": 2.0, "margin": 0.3}}).terms["zero"]
    assert (weight, loss.margin) == (2.0, 0.3)  # type: ignore[attr-defined]
    purpose, (_, margin) = loss_fields()["zero"]  # of the Train tab
    assert (purpose, margin.key, margin.default) == ("Nothing at all.", "margin", 0.1)
    with pytest.raises(ConfigError, match=r"losses\.zero has no setting 'marign'. Choose among: margin, weight\."):
        build_losses({"zero": {"marign": 0.3}})


def test_a_choice_in_a_loss_is_checked_and_one_that_cannot_be_read_leaves_the_loss_out(
    plug_in: PlugIn, caplog: pytest.LogCaptureFixture
) -> None:
    code = """
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

@dataclass(frozen=True)
class Mine:
    needs: ClassVar[frozenset[str]] = frozenset()
    of: Literal["sum", "mean"] = "sum"
    margin: Annotated[float, "in cosine units"] = 0.1
    {more}

    def __call__(self, batch):
        return batch.caption.sum() * 0
"""
    plug_in("sound", code.format(more=""), "losses", sound="Mine")
    plug_in("broken", code.format(more='size: "NotThere" = 1'), "losses", broken="Mine")
    with caplog.at_level(logging.WARNING):
        assert "sound" in LOSSES and "broken" not in LOSSES
    assert "name 'NotThere' is not defined" in caplog.text
    assert build_losses({"sound": {"of": "mean", "margin": 0.3}}).terms["sound"][1].margin == 0.3  # type: ignore[attr-defined]
    with pytest.raises(ConfigError, match=r"losses\.sound\.of must be one of sum, mean, not 'max'"):
        build_losses({"sound": {"of": "max"}})


@pytest.mark.parametrize(
    ("code", "name", "sentence"),
    [
        ("import not_there_at_all", "mine", "No module named 'not_there_at_all'"),
        ("raise SystemExit(3)", "mine", "it ends the program"),
        ("def mine(:", "mine", "invalid syntax"),
        ("other = 1", "mine", "has no attribute 'mine'"),
        ("mine = 5", "mine", "The strategy mine is no function"),
        ("def mine(parts): ...", "drop", "There is a built-in strategy 'drop'"),
        ("def mine(parts): ...", "Mine!", "cannot be called 'Mine!'"),
    ],
)
def test_a_broken_plug_in_is_one_sentence_and_the_others_work(
    plug_in: PlugIn, caplog: pytest.LogCaptureFixture, code: str, name: str, sentence: str
) -> None:
    plug_in("broken", code, "strategies", **{name: "mine"})
    plug_in("sound", "def sound(parts): ...", "strategies", sound="sound")
    built_in = STRATEGIES["drop"]
    with caplog.at_level(logging.WARNING):
        assert STRATEGIES.added == ["sound"]
        list(STRATEGIES)
    (record,) = caplog.records
    assert record.getMessage().startswith("The plug-in broken has a strategy") and sentence in record.getMessage()
    assert "\n" not in record.getMessage() and record.exc_info is None
    assert STRATEGIES["drop"] is built_in


def test_a_model_on_disk_keeps_its_name(plug_in: PlugIn, caplog: pytest.LogCaptureFixture) -> None:
    plug_in("clips", "from tests.colours import ColourModel", "models", CLIP="ColourModel")
    shipped = Catalog([ROOT / "assets" / "models"])
    with caplog.at_level(logging.WARNING):
        assert shipped.find("CLIP").kind == "model"
    assert "model 'CLIP' is left out" in caplog.text


def test_only_one_s_own_names_can_be_replaced() -> None:
    registry = Registry("thing", "nt2vr.nothing", {"one": 1})
    registry.register("two", 2)
    registry.register("two", 3)
    assert dict(registry) == {"one": 1, "two": 3} and len(registry) == 2
    with pytest.raises(ConfigError, match="There is a built-in thing 'one'"):
        registry.register("one", 5)
