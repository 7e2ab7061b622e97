"""The trained fusion: its arithmetic, its file, and folders with and without one."""

import math
from pathlib import Path

import numpy as np
import pytest
import torch

from nt2vr.errors import CheckpointError
from nt2vr.media.gallery import Gallery
from nt2vr.models.card import MAX_HEAD
from nt2vr.models.catalog import Catalog
from nt2vr.models.composer import Composer, PictureQuery, read_composers
from nt2vr.models.difference import export_checkpoint
from nt2vr.models.encoder import Encoder
from nt2vr.papers.covr.fusion import FILE, Fusion, save_fusion
from nt2vr.search.embedded_gallery import EmbeddedGallery
from nt2vr.search.index import ExactIndex
from nt2vr.search.live import LiveModels
from nt2vr.settings import ASSETS
from nt2vr.ui.search.examples import picture_systems
from tests.support.tiny_models import write_tiny

DIM = 16


def some_fusion(
    hidden: int = 0, seed: int = 0, blocks: int = 0, unwanted: float = 1.25, dim: int = DIM
) -> Fusion:
    generator = torch.Generator().manual_seed(seed)
    fusion = Fusion(dim, 1.5, unwanted, hidden, blocks)
    with torch.no_grad():
        for parameter in fusion.parameters():
            parameter.normal_(0, 0.3, generator=generator)
    return fusion.rounded()


def composed(
    fusion: Composer,
    parts: np.ndarray,
    tokens: np.ndarray | None = None,
    frames: np.ndarray | None = None,
) -> np.ndarray:
    picture, wanted, unwanted = parts
    # A fusion does not read the sentence.
    nothing = np.zeros_like(picture)
    return fusion.compose(PictureQuery(picture, nothing, wanted, unwanted, tokens, frames))


def some_vectors() -> np.ndarray:
    """Return pictures, wanted parts and unwanted parts of four queries: (3, 4, D)."""
    return np.random.default_rng(9).normal(size=(3, 4, DIM)).astype(np.float32)


def layer_inputs(picture: np.ndarray, wanted: np.ndarray, unwanted: np.ndarray) -> np.ndarray:
    """Return what the first layer reads of one query."""
    return np.concatenate([picture, wanted, unwanted, picture * wanted, picture * unwanted])


def unit(vector: np.ndarray) -> np.ndarray:
    return np.asarray(vector / np.linalg.norm(vector))


@pytest.mark.parametrize("hidden", [0, 7])
def test_the_vector_is_parts_plus_the_layers(hidden: int) -> None:
    fusion = some_fusion(hidden)
    parts = some_vectors()
    layers = []
    for layer in fusion.layers:
        matrix, bias = (parameter.numpy() for parameter in layer.parameters())
        layers.append((matrix, bias))

    vectors = composed(fusion, parts)
    for vector, picture, wanted, unwanted in zip(vectors, *parts, strict=True):
        correction = layer_inputs(picture, wanted, unwanted)
        for number, (matrix, bias) in enumerate(layers):
            if number > 0:
                correction = correction.clip(0)
            correction = matrix @ correction + bias
        expected = unit(picture + 1.5 * wanted - 1.25 * unwanted + correction)
        np.testing.assert_allclose(vector, expected, rtol=1e-4, atol=1e-5)


class SlowCross:
    """Cross-attention for one query, one head and one key at a time, in float64."""

    def __init__(self, weights: dict[str, np.ndarray], heads: int) -> None:
        self._weights = weights
        self._heads = heads

    def __call__(
        self, parts: list[np.ndarray], tokens: np.ndarray, frames: np.ndarray
    ) -> np.ndarray:
        roles = self._weights["roles"]
        states = [vector + role for vector, role in zip(parts, roles[:3], strict=True)]
        memory = [vector + roles[3] for vector in tokens if vector.any()]
        memory += [vector + roles[4] for vector in frames if vector.any()]
        for number in range(2):
            states = self._block(f"blocks.{number}", states, memory)
        joined = np.concatenate([self._norm("ln", state) for state in states])
        return np.asarray(self._weights["out.weight"] @ joined)

    def _block(
        self, block: str, states: list[np.ndarray], memory: list[np.ndarray]
    ) -> list[np.ndarray]:
        keys = [self._norm(f"{block}.ln_1", vector) for vector in [*states, *memory]]
        next_states = []
        # The first keys are the states' own.
        for state, query in zip(states, keys, strict=False):
            attended = self._attend(f"{block}.attn", query, keys)
            state = state + self._linear(f"{block}.attn.out_proj", attended)
            hidden = self._linear(f"{block}.c_fc", self._norm(f"{block}.ln_2", state))
            next_states.append(state + self._linear(f"{block}.c_proj", hidden.clip(0)))
        return next_states

    def _attend(self, name: str, query: np.ndarray, keys: list[np.ndarray]) -> np.ndarray:
        to_query, to_key, to_value = np.split(self._weights[f"{name}.in_proj_weight"], 3)
        query_bias, key_bias, value_bias = np.split(self._weights[f"{name}.in_proj_bias"], 3)
        attended = np.zeros(len(query))
        width = len(query) // self._heads
        for head in range(self._heads):
            part = slice(head * width, (head + 1) * width)
            query_of_head = (to_query @ query + query_bias)[part] / math.sqrt(width)
            scores = [query_of_head @ (to_key @ key + key_bias)[part] for key in keys]
            shares = np.exp(scores) / np.exp(scores).sum()
            for share, key in zip(shares, keys, strict=True):
                attended[part] += share * (to_value @ key + value_bias)[part]
        return attended

    def _linear(self, name: str, x: np.ndarray) -> np.ndarray:
        return np.asarray(self._weights[f"{name}.weight"] @ x + self._weights[f"{name}.bias"])

    def _norm(self, name: str, x: np.ndarray) -> np.ndarray:
        centred = x - x.mean()
        scaled = centred / math.sqrt((centred**2).mean() + 1e-5)
        return np.asarray(scaled * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"])


@pytest.mark.parametrize(("dim", "heads"), [(DIM, 1), (128, 2)])
def test_cross_attention_is_added_by_its_formula_whatever_pads(dim: int, heads: int) -> None:
    rng = np.random.default_rng(5)
    fusion = some_fusion(blocks=2, dim=dim)
    parts = rng.normal(size=(3, 4, dim)).astype(np.float32)
    tokens = rng.normal(size=(4, 5, dim)).astype(np.float32)
    frames = rng.normal(size=(4, 2, dim)).astype(np.float32)
    # Zeros are padding: of some tokens, of all tokens, of all frames, of both.
    tokens[0, 3:] = 0
    tokens[1] = 0
    frames[2] = 0
    tokens[3] = 0
    frames[3] = 0
    vectors = composed(fusion, parts, tokens, frames)

    assert fusion.cross
    weights = fusion.cross.state_dict().items()
    slow_cross = SlowCross({name: tensor.numpy().astype(float) for name, tensor in weights}, heads)
    matrix, bias = (parameter.numpy() for parameter in fusion.layers.parameters())
    for row, (picture, wanted, unwanted) in enumerate(parts.swapaxes(0, 1).astype(float)):
        linear = matrix @ layer_inputs(picture, wanted, unwanted) + bias
        cross = slow_cross([picture, wanted, unwanted], tokens[row], frames[row])
        expected = unit(picture + 1.5 * wanted - 1.25 * unwanted + linear + cross)
        np.testing.assert_allclose(vectors[row], expected, atol=1e-5)

    unpadded = composed(fusion, parts[:, 0], tokens[0, :3], frames[0])
    np.testing.assert_allclose(unpadded, vectors[0], atol=1e-5)


def test_without_a_correction_it_is_parts() -> None:
    parts = some_vectors()
    picture, wanted, _ = parts
    expected = picture + 2 * wanted
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(composed(Fusion(DIM, 2, 0), parts), expected, atol=1e-6)


@pytest.mark.parametrize(("hidden", "blocks"), [(0, 0), (7, 0), (0, 2)])
def test_a_saved_fusion_answers_as_before(tmp_path: Path, hidden: int, blocks: int) -> None:
    fusion = some_fusion(hidden, blocks=blocks)
    parts = some_vectors()
    tokens = np.random.default_rng(7).normal(size=(4, 3, DIM)).astype(np.float32)
    frames = np.random.default_rng(8).normal(size=(4, 1, DIM)).astype(np.float32)
    save_fusion(tmp_path, fusion)
    read = read_composers(tmp_path, DIM)["fusion"]
    assert isinstance(read, Fusion)
    assert read.fingerprint == fusion.fingerprint
    assert (read.hidden, read.blocks) == (hidden, blocks)
    before = composed(fusion, parts, tokens, frames)
    assert (composed(read, parts, tokens, frames) == before).all()


def test_a_fusion_of_another_width_is_refused(tmp_path: Path) -> None:
    save_fusion(tmp_path, some_fusion())
    with pytest.raises(CheckpointError, match="32"):
        read_composers(tmp_path, 32)


def test_a_cut_off_fusion_is_refused(tmp_path: Path) -> None:
    save_fusion(tmp_path, some_fusion())
    content = (tmp_path / FILE).read_bytes()
    (tmp_path / FILE).write_bytes(content[: len(content) // 2])
    with pytest.raises(CheckpointError, match=r"fusion\.safetensors"):
        read_composers(tmp_path, DIM)


def test_a_fusion_with_infinite_numbers_is_refused(tmp_path: Path) -> None:
    infinite_bias = some_fusion()
    infinite_bias.get_parameter("layers.0.bias")[0] = torch.inf
    for fusion in (infinite_bias, some_fusion(unwanted=math.inf)):
        save_fusion(tmp_path, fusion)
        with pytest.raises(CheckpointError):
            read_composers(tmp_path, DIM)


def test_a_huge_fusion_is_refused_unread(tmp_path: Path) -> None:
    with (tmp_path / FILE).open("wb") as file:
        # The file is sparse.
        file.truncate(MAX_HEAD + 1)
    with pytest.raises(CheckpointError, match="1 GB"):
        read_composers(tmp_path, DIM)


def test_a_fusion_added_to_a_checkpoint_is_swapped_in(tmp_path: Path) -> None:
    folder = tmp_path / "CLIP"
    write_tiny(folder, "CLIP")
    no_clips = np.zeros((0, DIM), np.float32)
    no_frames = np.zeros((0, 2, DIM), np.float32)
    no_rows = np.zeros(0, np.int64)
    empty = EmbeddedGallery(Gallery("none", ()), no_clips, ExactIndex(DIM), (), no_frames, no_rows)

    class Nothing:
        def embedded(self, encoder: Encoder) -> EmbeddedGallery:
            return empty

    live = LiveModels(Catalog([tmp_path]))
    searcher = Nothing()
    live.get("CLIP").gallery_of(searcher)
    assert live.get("CLIP").encoder.composers == {}
    save_fusion(folder, Fusion(DIM, 1, 1))
    live.refresh()
    assert live.get("CLIP").encoder.composers.keys() == {"fusion"}
    assert live.get("CLIP").galleries == {searcher: empty}


def test_the_examples_with_a_picture_compare_the_shipped_fusion() -> None:
    systems = picture_systems(Catalog([ASSETS / "models"]))
    assert systems == ["CLIP", "CLIP fusion", "CLIP parts"]


def test_an_exported_model_keeps_its_fusion(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    write_tiny(folder)
    save_fusion(folder, some_fusion())
    export_checkpoint(folder, tmp_path / "exported")
    fusion = read_composers(tmp_path / "exported", DIM)["fusion"]
    assert isinstance(fusion, Fusion)
    assert fusion.fingerprint == some_fusion().fingerprint
