"""The card of a model: read from and written as version 0.2.0 stored it, and found by the same keys."""

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from nt2vr.errors import CheckpointError, ConfigError
from nt2vr.evaluation.text_systems import system_spec
from nt2vr.models.card import (
    CARD,
    DEFAULT_FRAMES,
    Card,
    ClipFraming,
    ClipSection,
    DifferenceSection,
    HeadEntry,
    StoredNames,
    read_card,
    write_card,
)
from nt2vr.models.card.card import DERIVED, SECTIONS, places, stored_keys
from nt2vr.models.framing import Framing
from nt2vr.search.strategies import System
from tests.support.paths import ROOT

SHIPPED = sorted((ROOT / "assets" / "models").glob(f"*/{CARD}"))

# as version 0.2.0 wrote it: that of a model tuned on MSR-VTT
OF_0_2_0 = """{
  "schema": 1,
  "name": "CLIP-bnl",
  "objective": "retrieval + bnl",
  "base": "ViT-B-32 / openai",
  "frames": 8,
  "image_size": 224,
  "pooling": "raw_mean",
  "positions": "ends",
  "losses": {
    "retrieval": {
      "weight": 1.0
    },
    "bnl": {
      "weight": 0.001,
      "m1": 0.1
    }
  },
  "data": "MSR-VTT, 6573 clips",
  "epoch": 3,
  "metrics": {
    "validation/original/MIR": 0.5
  },
  "exclusion": {
    "lambda": 0.5,
    "anchor": [
      "a video",
      "a picture"
    ]
  },
  "composition": {
    "mean": 0.4
  },
  "fusion": {
    "hidden": 512,
    "fingerprint": "f1"
  },
  "notes": "Denies well.",
  "created": "2026-11-24T02:21:28+00:00",
  "visual_fingerprint": "c0ffee",
  "text_fingerprint": "decaf",
  "queries": 0
}"""


def read(folder: Path, text: str) -> Card:
    (folder / CARD).write_text(text, encoding="utf-8")
    return read_card(folder)


def written(folder: Path, card: Card) -> bytes:
    write_card(folder, card)
    return (folder / CARD).read_bytes()


def test_a_card_of_0_2_0_is_read_into_sections(tmp_path: Path) -> None:
    card = read(tmp_path, OF_0_2_0)
    assert card.name == "CLIP-bnl"
    assert card.base == "ViT-B-32 / openai"
    assert card.created == "2026-11-24T02:21:28+00:00"
    assert (card.visual.fingerprint, card.text.fingerprint) == ("c0ffee", "decaf")
    assert card.framing.frames == 8
    assert card.framing.image_size == 224
    assert card.framing.positions == "ends"
    assert (card.pooling.name, card.pooling.head) == ("raw_mean", None)
    assert (card.training.objective, card.training.epoch) == ("retrieval + bnl", 3)
    assert card.training.losses["bnl"] == {"weight": 0.001, "m1": 0.1}
    assert card.metrics == {"validation/original/MIR": 0.5}
    assert card.exclusion == {"lambda": 0.5, "anchor": ["a video", "a picture"]}
    assert card.composers.entries == {"fusion": {"hidden": 512, "fingerprint": "f1"}}
    assert card.clip is None
    assert card.difference is None
    assert card.text.side is None
    assert card.input_framing == Framing(224, positions="ends")


def test_a_card_of_0_2_0_is_written_back_unchanged(tmp_path: Path) -> None:
    before = json.loads(OF_0_2_0)
    after = json.loads(written(tmp_path, read(tmp_path, OF_0_2_0)))
    assert [key for key in after if key in before] == list(before)
    assert {key: after[key] for key in before} == before
    added = {key: value for key, value in after.items() if key not in before}
    nothing: dict[str, Any] = {"head": {}, "words": {}, "clip": {}, "difference": {}, "shifts": {}}
    texts = {"features": "", "summary": "", "explained_in": ""}
    assert added == {**nothing, **texts, "changes": []}


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.parent.name)
def test_shipped_cards_are_written_as_they_are(file: Path, tmp_path: Path) -> None:
    before = json.loads(file.read_text(encoding="utf-8"))
    once = written(tmp_path, read_card(file.parent))
    after = json.loads(once)
    assert list(after) == ["schema", *stored_keys()]
    # 1 is not 1.0.
    assert json.dumps({key: after[key] for key in before}) == json.dumps(before)
    assert written(tmp_path, read_card(tmp_path)) == once


def test_every_field_is_described_and_has_one_flat_key() -> None:
    entries: list[type[BaseModel]] = [HeadEntry, ClipSection, ClipFraming, DifferenceSection]
    kinds: list[type[BaseModel]] = [Card, *entries]
    kinds.extend(SECTIONS.values())
    for kind in kinds:
        for name, field in kind.model_fields.items():
            assert field.description or name in SECTIONS, name
    assert sorted(places()) == sorted((*stored_keys(), *DERIVED))
    assert list(Card("new").flat()) == [*stored_keys(), *DERIVED]


CASES: list[tuple[dict[str, Any], str, str, dict[str, Any]]] = [
    ({}, "v 8 mean", "t", {}),
    ({"base": "CLIP", "frames": 4}, "v 4 mean", "t", {"base": "CLIP", "frames": 4}),
    (
        {"pooling": "raw_mean", "positions": "ends", "frames": 12},
        "v ends raw 12 raw_mean",
        "t",
        {"frames": 12, "pooling": "raw_mean", "positions": "ends"},
    ),
    (
        {"pooling": "seqTransf", "head": {"heads": 8, "fingerprint": "h1"}},
        "v raw 8 seqTransf_h1",
        "t",
        {"pooling": "seqTransf_h1"},
    ),
    (
        {"visual_settings": "vs", "text_settings": "ts", "precision": "bf16"},
        "v vs bf16 8 mean",
        "t ts bf16",
        {"settings": "vs ts"},
    ),
    (
        {
            "pooling": "projected",
            "words": {"vectors": "w2v", "fingerprint": "w1"},
            "features": "resnet",
        },
        "v raw resnet 8 projected",
        "t w1",
        {
            "pooling": "projected",
            "words": {"vectors": "w2v", "fingerprint": "w1"},
            "features": "resnet",
        },
    ),
    (
        {
            "image_size": 256,
            "clip": {"loader": "transformers", "fps": 2, "least": 4, "framing": {"width": 448}},
        },
        'v [{"fps": 2, "framing": {"width": 448}, "least": 4, "loader": "transformers"}, 256] 8 mean',
        't [{"fps": 2, "framing": {"width": 448}, "least": 4, "loader": "transformers"}, 256]',
        {
            "clip": '[{"fps": 2, "framing": {"width": 448}, "least": 4, "loader": "transformers"}, 256]'
        },
    ),
]
IDS = [
    "mean",
    "frames",
    "raw and ends",
    "a head",
    "settings and precision",
    "words of features",
    "whole clips",
]


@pytest.mark.parametrize(("values", "visual", "text", "reported"), CASES, ids=IDS)
def test_keys_and_entries_of_results_are_those_stored_before(
    values: dict[str, Any], visual: str, text: str, reported: dict[str, Any]
) -> None:
    """What was embedded or measured under these texts must not be computed again."""
    card = Card("m", visual_fingerprint="v", text_fingerprint="t").replace(**values)
    assert (card.visual_key, card.text_key) == (visual, text)
    spec = {
        "model": "m",
        "base": "",
        "visual_fingerprint": "v",
        "text_fingerprint": "t",
        "frames": DEFAULT_FRAMES,
    }
    assert system_spec(System("m"), card) == {
        **spec,
        "strategy": "plain",
        "alpha": None,
        **reported,
    }


@pytest.mark.parametrize(
    ("key", "names"),
    [
        ("v 8 mean", ("v 8", "v mean", "mean")),
        ("v vs raw 4 seqTransf_h1", ("v vs raw 4", "v vs raw seqTransf_h1", "seqTransf_h1")),
        (
            'v [{"fps": 2}, 256] 16 mean',
            ('v [{"fps": 2}, 256] 16', 'v [{"fps": 2}, 256] mean', "mean"),
        ),
        (" 8 mean", (" 8", " mean", "mean")),
    ],
    ids=["one hash", "several", "whole clips", "no fingerprint"],
)
def test_folders_and_files_are_named_after_the_visual_key(
    key: str, names: tuple[str, str, str]
) -> None:
    stored = StoredNames.of(key)
    assert (stored.of_frames, stored.of_given_frames, stored.pooling) == names


def test_frame_embeddings_have_one_key_whatever_pools_them() -> None:
    card = Card("m", visual_fingerprint="v")
    head = {"heads": 8, "fingerprint": "h1"}
    assert card.unpooled.visual_key == "v 8 mean_frames"
    assert (
        card.replace(pooling="unit_seqTransf", head=head).unpooled.visual_key == "v 8 mean_frames"
    )
    assert (
        card.replace(pooling="seqTransf", head=head).unpooled.visual_key
        == "v raw 8 raw_mean_frames"
    )


def test_embeddings_depend_on_frames_and_not_on_the_device() -> None:
    card = Card("m", visual_fingerprint="v", text_fingerprint="t")
    assert card.embeds_like(card.replace(name="other", precision="bf16"))
    for change in ({"frames": 3}, {"text_fingerprint": "u"}, {"pooling": "raw_mean"}):
        assert not card.embeds_like(card.replace(**change))


def test_changing_a_card_keeps_the_keys_that_were_given() -> None:
    clip = {"loader": "transformers", "fps": 2}
    card = Card("m", clip=clip, metrics={"a": 0.5}).replace(frames=4).replace(name="n")
    assert card.name == "n"
    assert card.framing.frames == 4
    assert card.metrics == {"a": 0.5}
    assert card.flat()["clip"] == clip
    assert card.replace(clip={}).clip is None


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"frames": 0}, "“frames”"),
        ({"pooling": "max"}, "“pooling”"),
        ({"positions": "middle"}, "“positions”"),
        ({"metrics": {"a": "<script>"}}, "“metrics”"),
        ({"head": {"heads": "8"}}, "“head”"),
        ({"head": {"fingerprint": "a b"}}, "“head”"),
        ({"clip": {"loader": "transformers", "unknown": 1}}, "“clip”"),
        ({"difference": {"model": 3}}, "“difference”"),
        ({"summary": "x" * 41}, "“summary”"),
        ({"explained_in": "javascript:alert(1)"}, "“explained_in”"),
        ({"name": ""}, "“name”"),
        ({"nmae": "x"}, "'nmae'"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_an_invalid_field_is_named(values: dict[str, Any], field: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=field):
        Card(**{"name": "m", **values})
    if next(iter(values)) in stored_keys():
        with pytest.raises(CheckpointError, match=field):
            read(tmp_path, json.dumps({"name": "m", **values}))


def test_unknown_keys_of_a_file_are_ignored(tmp_path: Path) -> None:
    assert read(tmp_path, '{"name": "m", "of the future": 1}') == Card("m")
