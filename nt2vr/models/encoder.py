"""One open_clip model behind `encode_text`, `encode_frames` and `pool`: the one preprocessing of app and trainer.

It reads no files (see `checkpoint`) and resizes nothing (see `picture.fit`). Importing it does not import torch.
"""

import re
from collections.abc import Mapping, Sequence
from copy import deepcopy
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from torch import Tensor

    from nt2vr.models.card import Card

BATCH_SIZE = 64  # texts or frames in one forward pass: larger is no faster on a CPU and takes more memory
KEPT_TEXTS = 1024  # text embeddings kept: 2 MB at 512 dimensions
WORD = re.compile(r"\w+(?:['\u2019]\w+)*")  # with its apostrophes


def pool(frame_embeddings: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return one embedding a video, the mean of its frames': (..., F, D) to (..., D), L2-normalised."""
    return _normalised(frame_embeddings.mean(axis=-2))


def _normalised(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, 1e-12), np.float32)


def normalise_frames(frames: "Tensor", mean: Sequence[float], std: Sequence[float]) -> "Tensor":
    """Turn (N, S, S, 3) uint8 RGB into what open_clip's own preprocessing makes of it: (N, 3, S, S) float32."""
    pixels = frames.permute(0, 3, 1, 2).float().div_(255)
    return pixels.sub_(pixels.new_tensor(mean).view(3, 1, 1)).div_(pixels.new_tensor(std).view(3, 1, 1))


def token_embeddings(model: Any) -> "Tensor":
    """Return the (V, W) token table of an open_clip model, wherever its kind of model keeps it."""
    weight: Tensor = getattr(model, "text", model).token_embedding.weight
    return weight


def _folded(visual: Any) -> Any:
    """Return a copy of one of CLIP's ResNets with its BatchNorms in its convolutions: a fifth faster; None for others.

    Its convolutions and BatchNorms are registered in the order in which they are run.
    """
    from open_clip.modified_resnet import ModifiedResNet  # noqa: PLC0415  the page is up before open_clip is
    from torch.nn import BatchNorm2d, Conv2d, Identity  # noqa: PLC0415
    from torch.nn.utils.fusion import fuse_conv_bn_eval  # noqa: PLC0415

    if type(visual) is not ModifiedResNet:
        return None
    folded = deepcopy(visual)
    for module in list(folded.modules()):
        for (first, convolution), (second, norm) in pairwise(list(module.named_children())):
            if isinstance(convolution, Conv2d) and isinstance(norm, BatchNorm2d):
                setattr(module, first, fuse_conv_bn_eval(convolution, norm))
                setattr(module, second, Identity())
    return folded


class Encoder:
    """A model in eval mode with its tokenizer and card; many threads may use it at once.

    Attributes:
        card: what is known of the model.
        config: what open_clip builds such a model from; None where that is not known.
        name: what people call it.
        num_frames: how many frames of a video it wants.
        image_size: side of its frames in pixels.
        embed_dim: D, the length of its embeddings.
        visual_fingerprint: equal for equal visual towers.
        text_fingerprint: equal for equal text towers.
        kept: embeddings of the latest texts; replaced, never changed, since other threads may do so meanwhile.
    """

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        card: "Card",
        config: Mapping[str, Any] | None = None,
        folded: Any = None,
    ) -> None:
        """Put the model in eval mode (BatchNorm) and wrap it as it is now; it stays on its device.

        What `_folded` makes of its visual tower can be given, where it is known.
        """
        self._model = model.eval()
        self._visual = _folded(model.visual) if folded is None else folded
        self._tokenizer = tokenizer
        self._device = model.logit_scale.device
        self._preprocess: dict[str, Any] = model.visual.preprocess_cfg
        self.kept: dict[str, NDArray[np.float32]] = {}
        self.card = card
        self.config = config
        self.name = card.name
        self.num_frames = card.frames
        self.visual_fingerprint = card.visual_fingerprint
        self.text_fingerprint = card.text_fingerprint
        size = self._preprocess["size"]
        self.image_size: int = size if isinstance(size, int) else size[0]
        self.embed_dim: int = self._encode_text([""]).shape[1]

    def encode_text(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the (N, D) L2-normalised embeddings of sentences; what is too long for the model is cut off."""
        kept = self.kept
        new = [text for text in dict.fromkeys(texts) if text not in kept]
        parts = [self._encode_text(new[i : i + BATCH_SIZE]) for i in range(0, len(new), BATCH_SIZE)]
        known = {**kept, **dict(zip(new, (row for part in parts for row in part), strict=True))}
        self.kept = dict(list(known.items())[-KEPT_TEXTS:])
        return np.array([known[text] for text in texts], np.float32).reshape(len(texts), self.embed_dim)

    def _encode_text(self, texts: list[str]) -> NDArray[np.float32]:
        import torch  # noqa: PLC0415  the page is up before torch is

        from nt2vr.models.short_text import encode_short  # noqa: PLC0415

        with torch.inference_mode():
            tokens = self._tokenizer(texts).to(self._device)
            return encode_short(self._model, tokens).float().cpu().numpy()

    def encode_frames(self, frames: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Return the (N, D) L2-normalised embeddings of (N, S, S, 3) RGB frames that have been `fit` already."""
        import torch  # noqa: PLC0415  the page is up before torch is
        from torch.nn.functional import normalize  # noqa: PLC0415

        parts = [np.empty((0, self.embed_dim), np.float32)]
        for start in range(0, len(frames), BATCH_SIZE):
            batch = torch.tensor(frames[start : start + BATCH_SIZE], device=self._device)
            with torch.inference_mode():
                pixels = normalise_frames(batch, self._preprocess["mean"], self._preprocess["std"])
                if self._visual is None:
                    embeddings = self._model.encode_image(pixels, normalize=True)
                else:
                    embeddings = normalize(self._visual(pixels), dim=-1)
                parts.append(embeddings.float().cpu().numpy())
        return np.concatenate(parts)

    def with_weights(self, weights: Mapping[str, "Tensor"], card: "Card") -> "Encoder":
        """Return an encoder of the same kind with other weights; where the visual tower's are the same, it is shared.

        That is the same as building the model anew, and takes a tenth of the time.

        Args:
            weights: in float32, by the names of the model's own state dict.
            card: what is known of them.

        Raises:
            RuntimeError: if names or shapes are not those of this kind of model.
        """
        import torch  # noqa: PLC0415  the page is up before torch is

        own = self._model.state_dict()
        shapes, expected = ({(name, *t.shape) for name, t in tensors.items()} for tensors in (weights, own))
        if shapes != expected:
            raise RuntimeError(f"other tensors, such as {min(shapes ^ expected)[0]}")
        weights = {name: tensor.to(self._device) for name, tensor in weights.items()}
        visual = [name for name in own if name.startswith("visual.") and own[name].is_floating_point()]
        shared = all(torch.equal(own[name], weights[name]) for name in visual)
        model = deepcopy(self._model, {id(self._model.visual): self._model.visual} if shared else {})
        if shared:
            weights = {name: tensor for name, tensor in weights.items() if not name.startswith("visual.")}
        model.load_state_dict(weights, strict=not shared)
        return Encoder(model, self._tokenizer, card, self.config, self._visual if shared else None)

    def shares_visual_tower(self, other: "Encoder") -> bool:
        """Whether both see with the same module."""
        return self._model.visual is other._model.visual

    def unseen_words(self, text: str) -> tuple[str, ...]:
        """Return the words of which the model has a token that training never touched (its row is all zero)."""
        table = token_embeddings(self._model)
        words = dict.fromkeys(WORD.findall(text.lower()))
        return tuple(word for word in words if not table[self._tokenizer.encode(word)].any(dim=1).all())
