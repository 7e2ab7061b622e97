"""Text sides of W2VV++ and SEA, compared with reference values, and the checkpoints that hold them."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import open_clip
import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from nt2vr.errors import CheckpointError
from nt2vr.models.card import CARD, HEAD, Card
from nt2vr.models.checkpoint import read_checkpoint, write_checkpoint
from nt2vr.papers.sea.poolings import Projection, UnitProjection, join_spaces
from nt2vr.papers.sea.vocabulary import Vocabulary, content_of, words_of
from nt2vr.papers.sea.words import Words
from tests.support.paper_references import papers_reference
from tests.support.tiny_models import TINY, tiny_model

KNOWN = Vocabulary(
    ("drum", "boy", "playing"),
    ("a", "boy", "is", "drum", "the", "playing"),
    ("boy", "drums"),
    "a test",
)
WORDS = "words.safetensors"
NOT_DRUMMING = "A boy is dancing and not playing the drum, don't!"


@pytest.fixture(scope="module")
def stored() -> dict[str, Tensor]:
    return {
        name: torch.from_numpy(array)
        for name, array in papers_reference("txt", "sea", "w2v").items()
    }


def words(spaces: int = 1, known: Vocabulary = KNOWN) -> Words:
    torch.manual_seed(0)
    vectors = torch.arange(1.0, 1 + 4 * len(known.vectors)).reshape(-1, 4) / 4
    return Words(known, vectors, states=5, size=6, spaces=spaces).eval()


def test_negations_are_stop_words_but_without_is_none() -> None:
    assert words_of("Don't  play\tthe DRUM—2nd") == ["don", "t", "play", "the", "drum", "2nd"]
    assert content_of(NOT_DRUMMING) == ["boy", "dancing", "playing", "drum"]
    assert content_of("no cat nor dog, isn't there, without a hat, never none") == [
        *("cat", "dog", "without", "hat", "never", "none")
    ]


def test_the_encoders_are_those_of_the_reference(stored: dict[str, Tensor]) -> None:
    ids = stored["txt_ids"]
    names = [f"w{row}" for row in range(5)]
    side = (
        Words(Vocabulary(tuple("abcd"), tuple(names), ("a",)), torch.zeros(1, 6).double(), 5, 7, 1)
        .double()
        .eval()
    )
    weights = {
        f"gru.{name.removeprefix('txt_gru_')}": value
        for name, value in stored.items()
        if "_l0" in name
    }
    weights |= {"embedding.weight": stored["txt_embedding"]}
    weights |= {f"spaces.0.{part}": stored[f"txt_fc_{part}"] for part in ("weight", "bias")}
    side.load_state_dict({**side.state_dict(), **weights})
    texts = [
        " ".join(names[i - 4] if i > 3 else "unheard" for i in row.tolist() if i > 2) for row in ids
    ]
    torch.testing.assert_close(side.mean_state(texts), stored["txt_gru_mean"], rtol=0, atol=1e-9)
    features = torch.cat([stored["txt_gru_mean"], stored["txt_w2v"], stored["txt_bow"]], dim=1)
    torch.testing.assert_close(side.spaces[0](features), stored["txt_out"], rtol=0, atol=1e-9)


def test_the_sum_of_cosines_is_one_product(stored: dict[str, Tensor]) -> None:
    texts, videos = (join_spaces(list(stored[f"w2v_{name}"])) for name in ("texts", "videos"))
    torch.testing.assert_close(texts.norm(dim=1), torch.ones(6).double())
    similarity = 4 * texts @ videos.T
    expected = min(
        float((similarity - scores).abs().max())
        for scores in (stored["sea_similarity"], stored["sea_similarity"].T)
    )
    assert expected < 1e-9


def test_each_encoder_counts_what_it_should() -> None:
    side = words(3)
    content = [
        content_of(text) for text in ("The drum, a drum and boy!", "boy boy drums", "no such thing")
    ]
    assert side.bag(content).tolist() == [[2, 1, 0], [0, 2, 0], [0, 0, 0]]
    boy, drums = side.vectors
    expected = torch.stack([boy, (boy + drums) / 2, torch.zeros(4)])
    torch.testing.assert_close(side.mean_vector(content), expected)
    # Row of "boy", the second word after four special rows.
    torch.testing.assert_close(side.embedding.weight[5], boy)
    assert not torch.equal(side.embedding.weight[4], boy)


@torch.no_grad()
@pytest.mark.parametrize("spaces", [1, 3])
def test_embeddings_have_length_1_and_only_the_gru_reads_not(spaces: int) -> None:
    side = words(spaces)
    vectors = side([NOT_DRUMMING, NOT_DRUMMING.replace(" not", ""), "日本 🎸"])
    assert vectors.shape == (3, 6 * spaces)
    torch.testing.assert_close(vectors[:2].norm(dim=1), torch.ones(2))
    if spaces == 3:
        # The first are the bag of words and the word vectors.
        assert torch.equal(vectors[0, :12], vectors[1, :12])
    assert not torch.equal(vectors[0, -6:], vectors[1, -6:])


@torch.no_grad()
def test_frames_are_projected_by_their_mean() -> None:
    torch.manual_seed(1)
    raw = Projection(4, 3, 2).eval()
    unit = UnitProjection(4, 3, 2).eval()
    unit.load_state_dict(raw.state_dict())
    frames = torch.randn(5, 2, 4)
    for pooling, scaled in (
        (raw, frames.mean(1)),
        (unit, 2 * torch.nn.functional.normalize(frames.mean(1), dim=1)),
    ):
        parts = [torch.tanh(scaled @ space.weight.T + space.bias) for space in pooling.spaces]  # type: ignore[operator]
        expected = (
            torch.cat([part / part.norm(dim=1, keepdim=True) for part in parts], dim=1) / 2**0.5
        )
        torch.testing.assert_close(pooling(frames), expected)
    # Dropout differs.
    assert not torch.equal(raw.train()(frames), raw.eval()(frames))


def written(folder: Path, spaces: int = 3) -> Card:
    torch.manual_seed(2)
    card = Card("Words", frames=2, pooling="unit_projected")
    pooling = UnitProjection(16, 6, spaces)
    return write_checkpoint(
        folder, tiny_model(), TINY, {}, card, pooling=pooling, text_side=words(spaces)
    )


@pytest.mark.parametrize("spaces", [1, 3])
def test_a_checkpoint_brings_its_words_along(spaces: int, tmp_path: Path) -> None:
    card = written(tmp_path / "one", spaces)
    encoder = read_checkpoint(tmp_path / "one", verify=True)
    entry = card.text.side
    assert entry is not None and entry.stored["vectors"] == "a test"
    assert encoder.card.text.side == entry
    vectors = encoder.encode_text(["a boy", "a drum"])
    # Half precision.
    np.testing.assert_allclose(vectors, words(spaces)(["a boy", "a drum"]).detach(), atol=2e-3)
    frames = encoder.encode_frames(np.zeros((4, 64, 64, 3), np.uint8))
    assert frames.shape == (4, 16)
    assert encoder.pool(frames.reshape(2, 2, 16)).shape == (2, encoder.embed_dim) == (2, 6 * spaces)
    assert encoder.unseen_words("a boy's drums, flute") == ("flute",)
    assert encoder.words_read(NOT_DRUMMING) == "boy playing drum"


def test_open_clip_loads_the_towers_of_the_same_folder(tmp_path: Path) -> None:
    card = written(tmp_path / "one")
    model, *_ = open_clip.create_model_and_transforms(f"local-dir:{tmp_path / 'one'}")
    assert model.encode_text(open_clip.tokenize(["a boy"], 16)).shape == (1, 16)
    plain = write_checkpoint(tmp_path / "plain", tiny_model(), TINY, {}, Card("Plain", frames=2))
    assert (card.unpooled.visual_key, card.text.fingerprint) == (
        plain.unpooled.visual_key,
        plain.text.fingerprint,
    )
    assert card.text_key != plain.text_key and card.visual_key != plain.visual_key


def rewrite(folder: Path, bow: tuple[str, ...] = (), **changed: Tensor) -> None:
    """Write the file of words anew, with another vocabulary or none."""
    metadata = {"vocabulary": json.dumps(vars(replace(KNOWN, bow=bow)))} if bow else {}
    save_file({**load_file(folder / WORDS), **changed}, folder / WORDS, metadata)


def without_head(folder: Path) -> None:
    card = json.loads((folder / CARD).read_text())
    (folder / CARD).write_text(json.dumps({**card, "pooling": "mean", "head": {}}))
    (folder / HEAD).unlink()


SPOILT: dict[str, Callable[[Path], object]] = {
    "missing": lambda folder: (folder / WORDS).unlink(),
    "of other words": lambda folder: rewrite(folder, ("dog", "cat", "cow")),
    "no safetensors": rewrite,
    "of fewer words": lambda folder: rewrite(folder, ("dog",)),
    "not a number": lambda folder: rewrite(
        folder, KNOWN.bow, vectors=torch.full((2, 4), torch.nan)
    ),
    "without a head": without_head,
}


@pytest.mark.parametrize("damage", SPOILT)
def test_a_spoilt_text_side_is_one_sentence(damage: str, tmp_path: Path) -> None:
    written(tmp_path / "one")
    SPOILT[damage](tmp_path / "one")
    with pytest.raises(CheckpointError, match="one"):
        read_checkpoint(tmp_path / "one")
