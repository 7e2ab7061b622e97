"""W2VV++ and SEA in training: vocabularies, word vectors, losses of several spaces, and a run from start to search."""

from collections.abc import Callable
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from nt2vr.errors import ConfigError
from nt2vr.models.card import Card
from nt2vr.models.checkpoint import write_checkpoint
from nt2vr.papers.sea.poolings import join_spaces
from nt2vr.papers.sea.vectors import ppmi_vectors, read_vectors
from nt2vr.papers.sea.words import Words
from tests.support.paper_references import papers_reference
from tests.support.tiny_models import RESNET, tiny_model
from trainer.config import TrainConfig
from trainer.data.batches import epoch_batches
from trainer.data.clips import Clips
from trainer.data.sentences import CaptionSentences
from trainer.inputs import EmbeddedBatch, given
from trainer.learner import Learner
from trainer.losses.paper import RetrievalLoss
from trainer.preparation import prepare
from trainer.start import new_text_side

COLOURS = {"red": (255, 0, 0), "green": (0, 255, 0), "blue": (0, 0, 255), "white": (255, 255, 255)}
SETTINGS = {"size": 8, "states": 6, "vector_size": 3, "least": 2}


def coloured(count: int, seed: int = 0) -> Clips:
    """Noisy clips of one colour with a caption that names it."""
    rng = np.random.default_rng(seed)
    names = [list(COLOURS)[row % len(COLOURS)] for row in range(count)]
    noise = rng.integers(-40, 40, (count, 2, 64, 64, 3))
    frames = np.clip(
        np.array([COLOURS[name] for name in names])[:, None, None, None] + noise, 0, 255
    ).astype(np.uint8)
    return Clips(
        frames, CaptionSentences([(f"it is all {name}, and not the sea",) for name in names])
    )


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("base") / "tiny"
    model = tiny_model(resnet=True)
    pixels = torch.from_numpy(np.array(coloured(32).frames)[:, 0]).permute(0, 3, 1, 2) / 255
    with torch.no_grad():
        # Until its BatchNorm expects colours: random weights alone see them alike.
        for _ in range(40):
            model.encode_image(pixels)
    write_checkpoint(folder, model, RESNET, {}, Card("Tiny base", frames=2))
    return folder


@pytest.fixture
def config(base: Path) -> TrainConfig:
    return TrainConfig(
        name="Tiny words",
        base=str(base),
        train="head",
        pooling="unit_projected",
        words={**SETTINGS, "spaces": "each"},
        losses={"retrieval": {}},
        num_clips=32,
        num_frames=2,
        validation_clips=12,
        batch_size=16,
        epochs=2,
        passes=10,
        optimizer="rmsprop",
        learning_rate=3e-3,
        warmup_steps=0,
        weight_decay=0.0,
        precision="fp32",
    )


@pytest.fixture(scope="module")
def stored() -> dict[str, Tensor]:
    return {name: torch.from_numpy(array) for name, array in papers_reference("w2v", "sea").items()}


def spaces_of(stored: dict[str, Tensor], count: int) -> EmbeddedBatch:
    texts, videos = (
        join_spaces(list(stored[f"w2v_{name}"][:count])) for name in ("texts", "videos")
    )
    return EmbeddedBatch(videos, texts, torch.tensor(1.0), spaces=count)


def test_the_losses_are_those_of_w2vvpp_and_sea(stored: dict[str, Tensor]) -> None:
    for reduction in ("sum", "mean"):
        one, both = (
            RetrievalLoss(0.2, sums, reduction)(spaces_of(stored, 1)) for sums in (False, True)
        )
        torch.testing.assert_close(one, stored[f"w2v_loss_t2i_{reduction}"], rtol=0, atol=1e-9)
        torch.testing.assert_close(both, stored[f"w2v_loss_bidir_{reduction}"], rtol=0, atol=1e-9)
    batch = spaces_of(stored, 4)
    torch.testing.assert_close(RetrievalLoss()(batch), stored["sea_loss"], rtol=0, atol=1e-9)
    on_the_sum = RetrievalLoss()(
        EmbeddedBatch(2 * given(batch.video), 2 * batch.caption, torch.tensor(1.0))
    )
    torch.testing.assert_close(
        on_the_sum, stored["sea_single_loss_on_summed_similarity"], rtol=0, atol=1e-9
    )


def test_vocabularies_are_ordered_and_only_the_gru_knows_stop_words(
    config: TrainConfig,
) -> None:
    captions = ["a dog and a cat", "a dog, not a cow", "dog without a cat", "xylophone"]
    clips = Clips(
        np.zeros((4, 2, 8, 8, 3), np.uint8), CaptionSentences([(text,) for text in captions])
    )
    words = new_text_side(config, clips)
    assert isinstance(words, Words)
    assert words.vocabulary.gru == ("a", "dog", "cat")
    assert words.vocabulary.bow == ("dog", "cat")
    assert words.vocabulary.source == "PPMI by SVD over 4 captions"
    with pytest.raises(ConfigError, match="9"):
        new_text_side(config.replace(words={**SETTINGS, "least": 9}), clips)
    assert new_text_side(config.replace(words={}, pooling="base", train="text"), clips) is None


def test_own_vectors_are_those_of_a_full_svd() -> None:
    rng = np.random.default_rng(0)
    names = [f"w{row}" for row in range(40)]
    texts = [[names[row] for row in rng.integers(0, 40, 6) ** 2 // 40] for _ in range(300)]
    vectors = np.stack(list(ppmi_vectors(texts, names, 5).values()))
    counts = np.zeros((40, 40))
    for text in texts:
        for first, second in permutations(set(text), 2):
            counts[names.index(first), names.index(second)] += 1
    totals = np.maximum(counts.sum(axis=1), 1)
    with np.errstate(divide="ignore"):
        ppmi = np.maximum(np.log(counts * totals.sum() / np.outer(totals, totals)), 0)
    singular_vectors, singular_values, _ = np.linalg.svd(ppmi)
    expected = singular_vectors[:, :5] * np.sqrt(singular_values[:5])
    # The deviation of numbers that are uniform from -1 to 1.
    expected *= 3**-0.5 / np.sqrt(np.mean(expected**2))
    # A singular vector may be turned around.
    signs = np.sign((vectors * expected).sum(axis=0))
    np.testing.assert_allclose(vectors * signs, expected, atol=2e-3)


def test_own_vectors_are_no_wider_than_their_words() -> None:
    (vector,) = ppmi_vectors([["a", "b"]], ["b"], 5).values()
    assert len(vector) == 1


def as_big_file(path: Path, vectors: dict[str, list[float]]) -> Path:
    path.mkdir()
    rows = np.array(list(vectors.values()), np.float32)
    rows.tofile(path / "feature.bin")
    (path / "id.txt").write_text(" ".join(vectors))
    (path / "shape.txt").write_text(f"{rows.shape[0]} {rows.shape[1]}")
    return path


def as_binary(path: Path, vectors: dict[str, list[float]]) -> Path:
    path = path.with_suffix(".bin")
    rows = [
        f"\n{word} ".encode() + np.array(row, np.float32).tobytes() for word, row in vectors.items()
    ]
    path.write_bytes(f"{len(vectors)} 2".encode() + b"".join(rows))
    return path


def as_text(path: Path, vectors: dict[str, list[float]]) -> Path:
    path = path.with_suffix(".txt")
    lines = [f"{word} {row[0]} {row[1]}" for word, row in vectors.items()]
    path.write_text("\n".join([f"{len(vectors)} 2", *lines]))
    return path


@pytest.mark.parametrize("write", [as_big_file, as_binary, as_text])
def test_word_vectors_are_read_in_three_forms(write: Callable[..., Path], tmp_path: Path) -> None:
    vectors = {"dog": [1.0, 2.0], "New_York": [3.0, 4.0], "cat": [5.0, 6.0], "dog's": [7.0, 8.0]}
    read_back = read_vectors(write(tmp_path / "vectors", vectors), {"cat"})
    assert {word: row.tolist() for word, row in read_back.items()} == {"dog": [1, 2], "cat": [5, 6]}


@pytest.mark.parametrize(
    ("pooling", "shape"),
    [
        ("unit_projected", (32, 16)),
        pytest.param("projected", (32, 2, 16), marks=pytest.mark.slow),
    ],
)
def test_words_learn_their_videos_and_the_towers_stay(
    pooling: Any, shape: tuple[int, ...], config: TrainConfig
) -> None:
    # A colour's other clips are the hardest negatives.
    losses: dict[str, Any] = {"contrastive": {}}
    clips = coloured(32)
    config = config.replace(pooling=pooling, losses=losses, learning_rate=1e-2, passes=40)
    learner = Learner(config, text_side=new_text_side(config, clips))
    prepare(learner, clips, lambda: False)
    assert learner.videos is not None
    # The mean of normalised frames is all that is kept.
    assert learner.videos.squeeze(1).shape == shape
    # A random tower hardly tells colours apart.
    distinct = np.eye(16, dtype=np.float32)[np.arange(32) % 4]
    learner.use_videos(distinct if len(shape) == 2 else np.stack([distinct] * 2, axis=1))
    before = {
        name: value.clone()
        for name, value in learner.model.state_dict().items()
        if name != "logit_scale"
    }
    learner.start_epoch()
    for batch in epoch_batches(clips, config, 1):
        learner.step([batch])
    encoder = learner.encoder()
    videos = encoder.pool(distinct[:4, None])
    best = (encoder.encode_text([f"it is not {name}" for name in COLOURS]) @ videos.T).argmax(
        axis=1
    )
    # "not red" finds red.
    assert best.tolist() == [0, 1, 2, 3]
    assert all(
        torch.equal(learner.model.state_dict()[name], value) for name, value in before.items()
    )


def test_settings_that_cannot_go_together_are_one_sentence(
    config: TrainConfig, tmp_path: Path
) -> None:
    impossible: list[dict[str, Any]] = [{"pooling": "mean"}, {"train": "text"}, {"words": {}}]
    for changes in impossible:
        with pytest.raises(ConfigError, match=r"train head.* projected"):
            config.replace(**changes)
    for words, problem in (
        ({"vector": "x"}, "vector"),
        ({"size": 0}, "size "),
        ({"spaces": "two"}, "spaces .*one.*each.*two"),
    ):
        with pytest.raises(ConfigError, match=problem):
            config.replace(words=words)
    with pytest.raises(ConfigError, match="distill"):
        Learner(config.replace(losses={"retrieval": {}, "distill": {}}))
    clips = coloured(32)
    learner = Learner(config, text_side=new_text_side(config, clips))
    card = Card("Words", frames=2, pooling="unit_projected")
    parts: dict[str, Any] = {"pooling": learner.pooling, "text_side": learner.text_side}
    write_checkpoint(tmp_path / "w", learner.model, RESNET, {}, card, **parts)
    with pytest.raises(ConfigError):
        Learner(config.replace(base=str(tmp_path / "w")))
