"""The model catalog: models in folders and of runs."""

import logging
import shutil
from pathlib import Path

import pytest

from nt2vr.errors import CheckpointError, ConfigError
from nt2vr.files import write_json
from nt2vr.models.card import CARD, WEIGHTS, Card, write_card
from nt2vr.models.catalog import BEST, Catalog, CatalogEntry
from tests.support.tiny_models import write_tiny


def test_models_are_listed_by_name_and_new_ones_appear(
    tmp_path: Path,
) -> None:
    models = Catalog([tmp_path / "built-in", tmp_path / "mine"])
    assert models.names() == []
    write_tiny(tmp_path / "mine" / "a", "Mine")
    write_tiny(tmp_path / "built-in" / "clip", "CLIP")
    assert models.names() == ["CLIP", "Mine"]
    assert models.card("Mine").framing.frames == 2
    with pytest.raises(ConfigError, match=r"BLIP.*CLIP, Mine"):
        models.find("BLIP")


def test_a_model_s_name_ignores_case_and_spaces(
    tmp_path: Path,
) -> None:
    for folder, name in (("a", "ViT-B-32 / openai"), ("b", "Mine"), ("c", "mine")):
        write_tiny(tmp_path / folder, name)
    models = Catalog([tmp_path])
    for typed, folder in (("vit-b-32/OpenAI", "a"), ("MINE", "b"), ("Mine", "b"), ("mine", "c")):
        assert models.folder(typed) == tmp_path / folder
    names = [models.named(typed) for typed in ("vit-b-32/OpenAI", "mine", "", "yours")]
    assert names == ["ViT-B-32 / openai", "mine", None, None]
    with pytest.raises(ConfigError, match="None"):
        models.find(None)  # type: ignore[arg-type]  # of an empty drop-down


def test_a_broken_folder_does_not_affect_the_others(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("CLIP", "cut", "cardless"):
        write_tiny(tmp_path / name, name)
    (tmp_path / "cut" / WEIGHTS).write_bytes(b"")
    (tmp_path / "cardless" / CARD).unlink()
    models = Catalog([tmp_path])
    with caplog.at_level(logging.WARNING):
        assert models.names() == models.names() == ["CLIP", "cut"]
    # It is met at each look, and still logged once.
    assert caplog.text.count("cardless has no") == 1
    with pytest.raises(CheckpointError):
        models.load("cut")
    assert models.load("CLIP").name == "CLIP"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("ViT-B-32/opnai", "ViT-B-32/opnai.*ViT-B-32/openai"),
        ("ViT-B-33/openai", "ViT-B-33/openai.*hf:OWNER/NAME"),
    ],
)
def test_an_unsupported_model_is_refused_before_any_download(
    tmp_path: Path, name: str, message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        Catalog([tmp_path]).add(name)


def test_only_models_whose_bases_saw_drawings_alone_know_only_drawings(tmp_path: Path) -> None:
    world = "built-in world, 8 clips"
    cards = {
        "real": Card("real"),
        "drawn": Card("drawn", data=world),
        "large": Card("large", data=f"large {world}", base="drawn"),
        "of real": Card("of real", data=world, base="real"),
        "filmed": Card("filmed", data="MSR-VTT, 8 clips", base="drawn"),
        "of gone": Card("of gone", data=world, base="gone"),
        "circle": Card("circle", data=world, base="circle"),
    }
    for name, card in cards.items():
        (tmp_path / "models" / name).mkdir(parents=True)
        write_card(tmp_path / "models" / name, card)
    run = tmp_path / "runs" / "night" / "checkpoints" / "epoch_001"
    run.mkdir(parents=True)
    write_card(run, Card("night", data=world, base="drawn"))
    models = Catalog([tmp_path / "models"], runs=tmp_path / "runs")
    drawn = {name for name in models.names() if models.knows_only_drawings(name)}
    assert drawn == {"drawn", "large", "of gone", "circle", "night", "night · epoch 1"}
    assert sorted(models.real_models()) == ["filmed", "of real", "real"]

    mine = tmp_path / "runs" / "mine" / "checkpoints" / "epoch_001"
    mine.mkdir(parents=True)
    write_card(mine, Card("mine", data="my videos, 8 clips", base="real"))
    # A run is not a default.
    assert sorted(models.real_models()) == ["filmed", "of real", "real"]
    # It comes after all others that know more than drawings.
    assert models.library_models()[3] == "mine"
    shutil.copytree(mine, tmp_path / "models" / "taught")
    write_card(
        tmp_path / "models" / "taught", Card("real taught", data="my videos, 8 clips", base="real")
    )
    # But what a run has added to the models is a model.
    assert "real taught" in models.real_models()
    assert not models.knows_only_drawings("no such model")


def test_only_what_was_added_is_removed(tmp_path: Path) -> None:
    write_tiny(tmp_path / "shipped" / "clip", "CLIP")
    write_tiny(tmp_path / "mine" / "a", "Mine")
    write_epochs(tmp_path / "runs", "neg", 1)
    models = Catalog([tmp_path / "shipped", tmp_path / "mine"], runs=tmp_path / "runs")
    models.remove("Mine")
    assert models.names() == ["CLIP", "neg", "neg · epoch 1"]
    assert not list((tmp_path / "mine").iterdir())
    for name in models.names():
        with pytest.raises(ConfigError):
            models.remove(name)
    assert models.names() == ["CLIP", "neg", "neg · epoch 1"]


def write_epochs(runs: Path, run: str, *epochs: int) -> None:
    for epoch in epochs:
        (runs / run / "checkpoints" / f"epoch_{epoch:03d}").mkdir(parents=True)


def test_runs_are_named_by_epoch_and_the_newest_by_run(
    tmp_path: Path,
) -> None:
    write_tiny(tmp_path / "models" / "clip", "CLIP")
    models = Catalog([tmp_path / "models"], runs=tmp_path / "runs")
    # There is no folder of runs yet.
    assert models.names() == ["CLIP"]
    write_epochs(tmp_path / "runs", "neg 2", 9, 1000, 99, 2)
    # The name is taken.
    write_epochs(tmp_path / "runs", "clip", 1)
    write_epochs(tmp_path / "runs", ".hidden", 1)
    (tmp_path / "runs" / "just begun").mkdir()
    checkpoints = tmp_path / "runs" / "neg 2" / "checkpoints"
    (checkpoints / ".epoch_1001.7.partial").mkdir()
    (checkpoints / "epoch_best").mkdir()
    assert models.names() == [
        *(
            "CLIP",
            "neg 2",
            "neg 2 · epoch 1000",
            "neg 2 · epoch 99",
            "neg 2 · epoch 9",
            "neg 2 · epoch 2",
        ),
        *("clip (run)", "clip (run) · epoch 1"),
    ]
    assert (
        models.find("neg 2").folders[0]
        == models.find("neg 2 · epoch 1000").folders[0]
        == checkpoints / "epoch_1000"
    )
    assert [models.find(name).kind for name in ("CLIP", "neg 2", "neg 2 · epoch 9")] == [
        "model",
        "run",
        "epoch",
    ]
    shutil.rmtree(tmp_path / "runs" / "neg 2")
    assert models.names() == ["CLIP", "clip (run)", "clip (run) · epoch 1"]


def test_the_best_epoch_has_a_name_that_moves(tmp_path: Path) -> None:
    models = Catalog([tmp_path / "models"], runs=tmp_path / "runs")
    write_epochs(tmp_path / "runs", "neg", 1, 2, 3)
    checkpoints = tmp_path / "runs" / "neg" / "checkpoints"
    # None of these names an epoch that is there.
    for note in ("", "[]", "{}", '{"epoch": "2"}', '{"epoch": 7}'):
        (checkpoints / BEST).write_text(note)
        assert "neg · best" not in models.names()
        models = Catalog([tmp_path / "models"], runs=tmp_path / "runs")
    for best in (2, 3):
        (checkpoints / BEST).unlink()
        write_json(checkpoints / BEST, {"epoch": best})
        assert models.names()[:2] == ["neg", "neg · best"]
        assert models.find("neg · best") == CatalogEntry(
            (checkpoints / f"epoch_{best:03d}",), "run"
        )
