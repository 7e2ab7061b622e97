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
from torch.nn.functional import normalize

from nt2vr.errors import CheckpointError
from nt2vr.models.card import CARD, HEAD, Card
from nt2vr.models.checkpoint import read_checkpoint, write_checkpoint
from nt2vr.papers.sea.poolings import Projection, UnitProjection, join_spaces
from nt2vr.papers.sea.vocabulary import Vocabulary, content_of, words_of
from nt2vr.papers.sea.words import Words
from tests.support.paper_references import papers_reference
from tests.support.tiny_models import TINY, tiny_model

VOCABULARY = Vocabulary(
    ("drum", "boy", "playing"),
    ("a", "boy", "is", "drum", "the", "playing"),
    ("boy", "drums"),
    "a test",
)
WORDS = "words.safetensors"
NOT_DRUMMING = "A boy is dancing and not playing the drum, don't!"


@pytest.fixture(scope="module")
def stored() -> dict[str, Tensor]:
    arrays = papers_reference("txt", "sea", "w2v")
    return {name: torch.from_numpy(array) for name, array in arrays.items()}


def words(spaces: int = 1) -> Words:
    torch.manual_seed(0)
    vectors = torch.arange(1.0, 9.0).reshape(2, 4) / 4
    return Words(VOCABULARY, vectors, states=5, size=6, spaces=spaces).eval()


def test_negations_are_stop_words_but_without_is_none() -> None:
    assert words_of("Don't  play\tthe DRUM—2nd") == ["don", "t", "play", "the", "drum", "2nd"]
    assert content_of(NOT_DRUMMING) == ["boy", "dancing", "playing", "drum"]
    assert content_of("no cat nor dog, isn't there, without a hat, never none") == [
        *("cat", "dog", "without", "hat", "never", "none")
    ]


def test_the_encoders_are_those_of_the_reference(stored: dict[str, Tensor]) -> None:
    ids = stored["txt_ids"]
    names = [f"w{row}" for row in range(5)]
    vocabulary = Vocabulary(tuple("abcd"), tuple(names), ("a",))
    side = Words(vocabulary, torch.zeros(1, 6), states=5, size=7, spaces=1).double().eval()
    weights = side.state_dict()
    weights["embedding.weight"] = stored["txt_embedding"]
    weights["spaces.0.weight"] = stored["txt_fc_weight"]
    weights["spaces.0.bias"] = stored["txt_fc_bias"]
    for name, value in stored.items():
        if name.startswith("txt_gru_") and "_l0" in name:
            weights[f"gru.{name.removeprefix('txt_gru_')}"] = value
    side.load_state_dict(weights)

    texts = []
    for row in ids.tolist():
        # Rows 0 to 2 are padding, start and end, and 3 is any word that is not in the vocabulary.
        row_words = [names[word - 4] if word > 3 else "unheard" for word in row if word > 2]
        texts.append(" ".join(row_words))
    torch.testing.assert_close(side.mean_state(texts), stored["txt_gru_mean"], rtol=0, atol=1e-9)
    features = torch.cat([stored["txt_gru_mean"], stored["txt_w2v"], stored["txt_bow"]], dim=1)
    torch.testing.assert_close(side.spaces[0](features), stored["txt_out"], rtol=0, atol=1e-9)


def test_the_sum_of_cosines_is_one_product(stored: dict[str, Tensor]) -> None:
    texts = join_spaces(list(stored["w2v_texts"]))
    videos = join_spaces(list(stored["w2v_videos"]))
    torch.testing.assert_close(texts.norm(dim=1), torch.ones(6).double())
    torch.testing.assert_close(4 * texts @ videos.T, stored["sea_similarity"], rtol=0, atol=1e-9)


def test_each_encoder_counts_what_it_should() -> None:
    side = words(3)
    texts = ("The drum, a drum and boy!", "boy boy drums", "no such thing")
    content = [content_of(text) for text in texts]
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
    mean = frames.mean(1)
    for pooling, scaled in ((raw, mean), (unit, 2 * normalize(mean, dim=1))):
        parts = []
        for space in pooling.spaces:
            part = torch.tanh(scaled @ space.weight.T + space.bias)  # type: ignore[operator]
            parts.append(normalize(part, dim=1))
        # Of two spaces.
        expected = torch.cat(parts, dim=1) / 2**0.5
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
    assert entry is not None
    assert entry.stored["vectors"] == "a test"
    assert encoder.card.text.side == entry
    vectors = encoder.encode_text(["a boy", "a drum"])
    # Half precision.
    np.testing.assert_allclose(vectors, words(spaces)(["a boy", "a drum"]).detach(), atol=2e-3)
    frames = encoder.encode_frames(np.zeros((4, 64, 64, 3), np.uint8))
    assert frames.shape == (4, 16)
    assert encoder.embed_dim == 6 * spaces
    assert encoder.pool(frames.reshape(2, 2, 16)).shape == (2, 6 * spaces)
    assert encoder.unseen_words("a boy's drums, flute") == ("flute",)
    assert encoder.words_read(NOT_DRUMMING) == "boy playing drum"


def test_open_clip_loads_the_towers_of_the_same_folder(tmp_path: Path) -> None:
    card = written(tmp_path / "one")
    model, *_ = open_clip.create_model_and_transforms(f"local-dir:{tmp_path / 'one'}")
    assert model.encode_text(open_clip.tokenize(["a boy"], 16)).shape == (1, 16)
    plain = write_checkpoint(tmp_path / "plain", tiny_model(), TINY, {}, Card("Plain", frames=2))
    assert card.unpooled.visual_key == plain.unpooled.visual_key
    assert card.text.fingerprint == plain.text.fingerprint
    assert card.visual_key != plain.visual_key
    assert card.text_key != plain.text_key


def rewrite(folder: Path, bow: tuple[str, ...] = (), **changed: Tensor) -> None:
    """Write the file of words anew, with another vocabulary or none."""
    metadata = {"vocabulary": json.dumps(vars(replace(VOCABULARY, bow=bow)))} if bow else {}
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
        folder, VOCABULARY.bow, vectors=torch.full((2, 4), torch.nan)
    ),
    "without a head": without_head,
}


@pytest.mark.parametrize("damage", SPOILT)
def test_a_spoilt_text_side_is_refused(damage: str, tmp_path: Path) -> None:
    written(tmp_path / "one")
    SPOILT[damage](tmp_path / "one")
    with pytest.raises(CheckpointError, match="one"):
        read_checkpoint(tmp_path / "one")
