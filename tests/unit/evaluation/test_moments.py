"""Moments: what is searched for is shown in one of four frames, and every clip that shows it is right."""

from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nt2vr.evaluation.built_in import moment_benchmark, moments
from nt2vr.evaluation.measures import measure_block, summarise
from nt2vr.models.card import Card
from nt2vr.progress import silent
from nt2vr.world.scenes import problems
from tests.pooling import pool_by_mean


def test_the_deed_of_the_sentence_lasts_a_quarter_and_nobody_else_does_it_longer() -> None:
    for moment in islice(moments("test", 3), 12):
        (who,) = moment.claim.whos
        done = [d for f in moment.scene.figures if f.thing in who.names for d in f.deeds if who.acts[0].fits(d, ())]
        assert moment.claim.holds(moment.scene) and moment.scene.split == "test" and not problems(moment.scene)
        assert any(deed.end - deed.start == 0.25 for deed in done)


class Colours:
    """Sees the mean colours of frames."""

    name, embed_dim, image_size, num_frames = "colours", 3, 16, 4
    card = Card("colours", frames=4, image_size=16)

    def encode_frames(self, frames: NDArray[np.uint8]) -> NDArray[np.float32]:
        colours = frames.mean(axis=(1, 2))
        return np.asarray(colours / np.linalg.norm(colours, axis=1, keepdims=True), np.float32)

    pool = staticmethod(pool_by_mean)


def test_an_oracle_finds_every_moment(tmp_path: Path) -> None:
    benchmark = moment_benchmark(tmp_path, 6, 3)
    assert len(benchmark.video_ids) == 6
    texts = [query.text for query in benchmark.queries]
    assert len(set(texts)) == len(texts)
    assert benchmark.embed(Colours(), silent).shape == (6, 3)  # type: ignore[arg-type]
    videos = np.eye(6, dtype=np.float32)
    asked = np.stack([videos[query.relevant].sum(axis=0) for query in benchmark.queries])
    assert summarise(benchmark.queries, measure_block(asked, videos, benchmark.queries))["original/R@1"] == 100
