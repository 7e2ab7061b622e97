"""One shrunken model per family with a tokenizer of its own, the whole way: folder, training, reload, search."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import Gallery, Video
from nt2vr.media.store import Cache
from nt2vr.models.card import read_configs
from nt2vr.models.checkpoint import read_checkpoint
from nt2vr.models.tokenizer import TOKENIZER, TOKENIZER_CONFIG
from nt2vr.search.embed_clips import embed_gallery
from tests.support.model_families import FAMILIES, write_family
from tests.support.trainings import run_training
from trainer.config import TrainConfig, TrainedPart


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "train"),
    [("SigLIP", "all"), ("SigLIP 2", "text"), ("CLIPA", "text"), ("MetaCLIP 2", "text")],
)
def test_a_model_of_the_family_is_trained_reloaded_and_searched(
    tmp_path: Path, write_video: Callable[..., Path], name: str, train: TrainedPart
) -> None:
    base = tmp_path / "base"
    before = write_family(base, name)
    losses = ("contrastive",) if train == "all" else ("contrastive", "distill")
    config = TrainConfig(
        name="tuned",
        base=str(base),
        train=train,
        losses={loss: {"weight": 1.0} for loss in losses},
        num_clips=12,
        num_frames=2,
        frames_per_step=2,
        validation_clips=6,
        batch_size=6,
        epochs=1,
        warmup_steps=0,
        learning_rate=1e-3,
    )
    folder = run_training(config, tmp_path / "run").checkpoint(1)
    assert read_configs(folder) == tuple(
        json.loads(json.dumps(config)) for config in read_configs(base)
    )
    for file in (TOKENIZER, TOKENIZER_CONFIG):
        assert (folder / file).exists() == (base / file).exists()
        assert (
            not (base / file).exists() or (folder / file).read_bytes() == (base / file).read_bytes()
        )
    encoder = read_checkpoint(folder, verify=True)
    assert encoder.text_fingerprint != before.text.fingerprint
    assert (encoder.visual_fingerprint == before.visual.fingerprint) == (train == "text")
    assert encoder.framing == before.input_framing

    videos = tuple(
        Video(f"v{level}", write_video(f"{level}.avi", [level] * 3, side=48)) for level in (30, 220)
    )
    with Decoder(1) as decoder, Cache(tmp_path / "cache") as cache:
        gallery = embed_gallery(Gallery("two", videos), encoder, decoder, cache)
    scores, rows = gallery.index.search(encoder.encode_text(["a dog and not a cat"]), 2)
    assert sorted(rows[0]) == [0, 1]
    assert np.isfinite(scores).all()
    assert FAMILIES[name].model_cfg["text_cfg"]["hf_tokenizer_name"]
