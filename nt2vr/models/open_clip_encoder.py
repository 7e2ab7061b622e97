"""open_clip implementation of `Encoder`, for frames as `picture.fit` makes them. App and trainer share it."""

import re
from collections.abc import Callable, Sequence
from copy import copy, deepcopy
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from nt2vr.models.card import MEAN, Card
from nt2vr.models.device import autocast, precision_of
from nt2vr.models.encoder import FrameEncoder, Frames, TextEmbeddings, Vectors, encode_unknown
from nt2vr.models.framing import Framing
from nt2vr.models.text_thread import MOST_TEXTS, MOST_WEIGHTS, encode_in_text_thread
from nt2vr.negation.parse.tokens import EMOJI

if TYPE_CHECKING:
    from torch import Tensor, nn

    from nt2vr.models.difference import SharedWeights
    from nt2vr.models.text_side import TextSide

# Of a text that cross-attention sees.
MAX_TOKENS = 32
# Texts or frames in one forward pass: more are no faster on a CPU and take more memory.
BATCH_SIZE = 64
# Words of which an encoder remembers whether it has seen them.
MAX_KNOWN_WORDS = 20_000
# A word with its apostrophes, or an emoji.
WORD = re.compile(rf"\w+(?:['\u2019]\w+)*|{EMOJI}")


def normalise_frames(frames: "Tensor", mean: Sequence[float], std: Sequence[float]) -> "Tensor":
    """Normalise (N, S, S, 3) uint8 RGB as open_clip's own preprocessing does: (N, 3, S, S) float32."""
    pixels = frames.permute(0, 3, 1, 2).float().div_(255)
    means = pixels.new_tensor(mean).view(3, 1, 1)
    deviations = pixels.new_tensor(std).view(3, 1, 1)
    return pixels.sub_(means).div_(deviations)


def token_embeddings(model: Any) -> "Tensor":
    """Return the (V, W) token embedding table of an open_clip model."""
    return getattr(model, "text", model).token_embedding.weight  # type: ignore[no-any-return]


def embed_dim_of(model: Any) -> int:
    """Return the length of an open_clip model's embeddings, from its text tower's projection."""
    text = getattr(model, "text", model)
    projection = text.text_projection  # (W, D), or a Linear
    # Without one, embeddings are as wide as the tower.
    if projection is None:
        return int(text.ln_final.weight.shape[0])
    if hasattr(projection, "shape"):
        return int(projection.shape[1])
    return int(projection.out_features)


def _has_small_text_tower(model: Any) -> bool:
    """Return whether the layers of an open_clip model's text tower are so small that one core encodes fastest."""
    text = getattr(model, "text", model)
    layers = getattr(text, "transformer", None)
    if layers is None:
        return False
    num_weights: int = sum(weights.numel() for weights in layers.parameters())
    return num_weights <= MOST_WEIGHTS


def _fold_batch_norms(visual: Any) -> Any:
    """Copy a CLIP ResNet with its BatchNorms folded into its convolutions: 20 % faster; None for other towers."""
    from open_clip.modified_resnet import ModifiedResNet  # noqa: PLC0415  the page is up before open_clip is
    from torch.nn import BatchNorm2d, Conv2d, Identity  # noqa: PLC0415
    from torch.nn.utils.fusion import fuse_conv_bn_eval  # noqa: PLC0415

    if type(visual) is not ModifiedResNet:
        return None
    folded = deepcopy(visual)
    # A block's parts are registered in the order in which they are run.
    for module in list(folded.modules()):
        for (conv_name, conv), (norm_name, norm) in pairwise(list(module.named_children())):
            if isinstance(conv, Conv2d) and isinstance(norm, BatchNorm2d):
                setattr(module, conv_name, fuse_conv_bn_eval(conv, norm))
                setattr(module, norm_name, Identity())
    return folded


class OpenClipEncoder(FrameEncoder):
    """An open_clip model in eval mode with its tokenizer and card.

    Attributes:
        cached_texts: embeddings of the latest texts; replaced, never modified, so that threads need
            no lock.
        pooling: of frame embeddings; stays where it is, like `text_side`, when the model is moved
            to another device.
        folded: a ResNet's visual tower with its BatchNorms folded; None for other towers.
        shared: weights of its base, which stay in memory as long as a model needs them.
        frame_dim: W, length of a frame's embedding, or of the vector of another input; that of a
            video is `embed_dim`.
    """

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        card: Card,
        pooling: "nn.Module | None" = None,
        text_side: "TextSide | None" = None,
        folded: Any = None,
    ) -> None:
        """Wrap a model's current weights, in eval mode, where they are; a pooling without weights may be left out."""
        from nt2vr.models.pooling import ExtensionPooling, fixed_pooling  # noqa: PLC0415  imports torch

        self._model = model.eval()
        if folded is None:
            folded = _fold_batch_norms(model.visual)
        self.folded = folded
        self.shared: SharedWeights | None = None
        self._tokenizer = tokenizer
        self._device = model.logit_scale.device
        self._preprocess: dict[str, Any] = model.visual.preprocess_cfg
        self.cached_texts: TextEmbeddings = {}
        self._known_words: dict[str, bool] = {}
        self.card = card.framed(
            Framing.of(self._preprocess), precision=precision_of(self._device.type)
        )
        self.frame_dim = embed_dim_of(model)
        self.embed_dim = self.frame_dim
        self.text_side = text_side
        if text_side is not None:
            self.embed_dim = text_side.eval().embed_dim
        self._has_small_text_tower = text_side is None and _has_small_text_tower(model)
        if pooling is None:
            pooling = fixed_pooling(card)
        self.pooling = pooling.eval()
        if isinstance(self.pooling, ExtensionPooling):
            self.frame_dim = self.pooling.width

    def encode_text(self, texts: Sequence[str]) -> Vectors:
        encode = self._encode_text
        if self._has_small_text_tower and self._device.type == "cpu" and len(texts) <= MOST_TEXTS:
            encode = partial(encode_in_text_thread, self._encode_text)
        rows, self.cached_texts = encode_unknown(self.cached_texts, texts, encode, BATCH_SIZE)
        return rows.reshape(len(texts), self.embed_dim)

    def prepare_texts(self, texts: Sequence[str]) -> None:
        self.encode_text(texts)

    def _encode_text(self, texts: list[str]) -> Vectors:
        import torch  # noqa: PLC0415  the page is up before torch is
        from torch.nn.functional import normalize  # noqa: PLC0415

        from nt2vr.models.short_text import encode_short  # noqa: PLC0415

        with torch.inference_mode():
            if self.text_side is not None:
                return np.asarray(self.text_side(texts).cpu(), np.float32)
            tokens = self._tokenizer(texts).to(self._device)
            with autocast(self._device.type, self.card.precision):
                embeddings = encode_short(self._model, tokens).float()
            if self.card.precision:
                # Their length is 1 in bfloat16 alone.
                embeddings = normalize(embeddings, dim=-1)
            return embeddings.cpu().numpy()

    def encode_tokens(self, texts: Sequence[str]) -> Vectors:
        """Embed the first MAX_TOKENS tokens of each text: (N, T, D), L2-normalised; zeros pad.

        An extension's text side gives the text as its one token.
        """
        import torch  # noqa: PLC0415  the page is up before torch is
        from torch.nn.utils.rnn import pad_sequence  # noqa: PLC0415

        from nt2vr.models.short_text import encode_tokens  # noqa: PLC0415

        if self.text_side is not None:
            return self.encode_text(texts)[:, None]
        if not texts:
            return np.zeros((0, 0, self.embed_dim), np.float32)

        embedded_texts: list[Tensor] = []
        for start in range(0, len(texts), BATCH_SIZE):
            batch = list(texts[start : start + BATCH_SIZE])
            with torch.inference_mode(), autocast(self._device.type, self.card.precision):
                tokens = self._tokenizer(batch).to(self._device)
                embeddings = encode_tokens(self._model, tokens, MAX_TOKENS).float()
                embedded_texts += embeddings.cpu().unbind()
        return pad_sequence(embedded_texts, batch_first=True).numpy()

    @property
    def stored_shape(self) -> tuple[int, int]:
        return self.num_frames, self.frame_dim

    @property
    def frame_reader(self) -> Callable[[Vectors], Vectors] | None:
        if self.text_side is None:
            return super().frame_reader
        # Texts are in the spaces into which videos are projected, and so must each frame be.
        return lambda rows: self.pool(rows[..., None, :])

    def encode_frames(self, frames: Frames) -> Vectors:
        self.card.check_frames()
        import torch  # noqa: PLC0415  the page is up before torch is
        from torch.nn.functional import normalize  # noqa: PLC0415

        encode = self._model.encode_image if self.folded is None else self.folded
        mean = self._preprocess["mean"]
        std = self._preprocess["std"]
        batches = [np.empty((0, self.frame_dim), np.float32)]
        for start in range(0, len(frames), BATCH_SIZE):
            batch = torch.tensor(frames[start : start + BATCH_SIZE], device=self._device)
            with torch.inference_mode(), autocast(self._device.type, self.card.precision):
                pixels = normalise_frames(batch, mean, std)
                embeddings = encode(pixels).float()
                if self.card.pooling.normalises_frames:
                    embeddings = normalize(embeddings, dim=-1)
                batches.append(embeddings.cpu().numpy())
        return np.concatenate(batches)

    def pool(self, stored: Vectors) -> Vectors:
        import torch  # noqa: PLC0415  the page is up before torch is

        weights = next(self.pooling.parameters(), torch.empty(0))
        with torch.inference_mode():
            pooled = self.pooling(torch.from_numpy(stored).to(weights.device))
            return np.asarray(pooled.cpu(), np.float32)

    def as_scored(self) -> "OpenClipEncoder":
        return self.unpooled() if self.capabilities.weighs_frames else self

    def unpooled(self) -> "OpenClipEncoder":
        """Return the encoder with videos as their frames' embeddings (..., F, D), under keys of their own.

        A pooling that reads only the mean of frames of length 1 needs no more: (..., D), under the
        key of the mean.
        """
        from torch.nn import Identity  # noqa: PLC0415  the page is up before torch is

        from nt2vr.models.pooling import Mean  # noqa: PLC0415  imports torch

        encoder = copy(self)
        if getattr(self.pooling, "reads_mean", False):
            encoder.pooling = Mean()
            encoder.card = self.card.replace(pooling=MEAN, head=None)
        else:
            encoder.pooling = Identity()
            encoder.card = self.card.unpooled
        encoder.embed_dim = self.frame_dim
        return encoder

    def move_to(self, device: str) -> None:
        self._model.to(device)
        if self.folded is not None:
            self.folded.to(device)
        self._device = self._model.logit_scale.device

    def set_precision(self, name: str) -> None:
        self.card = self.card.replace(precision=name)

    def unseen_words(self, text: str) -> tuple[str, ...]:
        """List the words with a token that training never touched (its row is all zero), or that `text_side` lacks."""
        words = dict.fromkeys(WORD.findall(text.lower()))
        return tuple(word for word in words if not self._knows(word))

    def _knows(self, word: str) -> bool:
        """Whether training touched all tokens of a word."""
        # A tokenizer takes .1 ms per word.
        is_known = self._known_words.get(word)
        if is_known is None:
            is_known = self._has_trained_tokens(word)
            if len(self._known_words) >= MAX_KNOWN_WORDS:
                self._known_words = {}
            self._known_words[word] = is_known
        return is_known

    def _has_trained_tokens(self, word: str) -> bool:
        """Return whether the text tower, or the text side, has seen a word in training."""
        if self.text_side is not None:
            return self.text_side.knows(word)
        rows = token_embeddings(self._model)[self._tokenizer.encode(word)]
        return bool(rows.any(dim=1).all())

    def words_read(self, text: str) -> str:
        if self.text_side is None:
            return ""
        return self.text_side.reads(text)
