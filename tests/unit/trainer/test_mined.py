"""The preview of mined distractors: as a plain loop mines them, with the pictures of their clips."""

import base64
import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from nt2vr.errors import ConfigError
from nt2vr.models.checkpoint import read_checkpoint
from nt2vr.settings import ASSETS
from nt2vr.ui.train.view import mined_view
from nt2vr.world.drawn.render import render
from trainer.config import TrainConfig
from trainer.config_file import load_config
from trainer.mined import MOST_CLIPS, SHOWN, preview
from trainer.presets import PRESETS


@pytest.fixture(scope="module")
def config() -> TrainConfig:
    return load_config(PRESETS / "con-clip.json")


def test_a_preview_shows_eight_quadruples_as_a_plain_loop_mines_them(config: TrainConfig, tmp_path: Path) -> None:
    found, clips = preview(config, tmp_path)
    base = read_checkpoint(ASSETS / "models" / "clip")
    videos = clips.embeddings(base)
    assert len(found) == SHOWN and len(videos) == MOST_CLIPS
    for each in found:
        subject, denied = base.encode_text([each.subject, each.denied])
        scores = [video @ subject - video @ denied for video in videos]
        scores[each.clip] = -9
        assert scores[each.distractor] == pytest.approx(max(scores), abs=1e-5)
        assert each.distractor != each.clip and each.negated != each.caption

    view = mined_view(found, clips)
    assert clips.path and not clips.path.is_file()  # the other 384 clips are not drawn
    shown = Image.open(io.BytesIO(base64.b64decode(view["mined"][0]["distractor"].partition(",")[2])))
    drawn = render(clips.sentences.scenes[found[0].distractor], config.framing.size, config.num_frames)  # type: ignore[attr-defined]
    difference = np.abs(np.asarray(shown, float) - drawn[len(drawn) // 2])
    assert difference.mean() < 6  # of 255: JPEG


def test_without_a_loss_that_mines_there_is_nothing_to_preview(config: TrainConfig, tmp_path: Path) -> None:
    only_images = {"con": {"weight": 1.0, "captions": False, "distractors": False}}
    with pytest.raises(ConfigError, match="Turn on captions or distractors"):
        preview(replace(config, losses=only_images), tmp_path)
