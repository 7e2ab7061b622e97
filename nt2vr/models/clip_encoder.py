"""Models that take whole clips: any of sentence-transformers with pictures or videos, and video CLIPs of transformers.

They need the extras `nt2vr[st]` and `nt2vr[transformers]`. Their folders have a card, and in MODEL
the library's files and never code.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from nt2vr.errors import CheckpointError, ConfigError, Nt2vrError, reason_of
from nt2vr.models.capabilities import Capabilities
from nt2vr.models.card import Card, read_card
from nt2vr.models.clip_files import check_model_files, limited_layers
from nt2vr.models.clip_libraries import ST, Clip, SentenceTransformers, Transformers, clip_settings
from nt2vr.models.device import precision_of, resolve_device
from nt2vr.models.encoder import (
    Frames,
    OneRowEncoder,
    TextEmbeddings,
    Vectors,
    encode_unknown,
    normalised,
)
from nt2vr.models.framing import frame_positions

# Folder of the files of a model that takes clips, in its checkpoint folder.
MODEL = "model"
# Clips in one forward pass; fewer where they do not fit. A CPU gains nothing by several.
ON_GPU = 16


class ClipModel(OneRowEncoder):
    """An encoder that takes whole clips, each as one embedding.

    Attributes:
        batch_size: clips in one forward pass.
        cached_texts: as of `OpenClipEncoder`.
    """

    batch_size: int = ON_GPU

    def __init__(self, folder: Path, device: str = "cpu", card: Card | None = None) -> None:
        """Load the files in the folder's MODEL; `card` is the folder's own, unless given."""
        card = card or read_card(folder)
        self._device = resolve_device(device)
        self.card = card.replace(precision=precision_of(self._device))
        settings = clip_settings(card)
        self.backend = self._loaded(folder / MODEL, settings.loader)
        self.cached_texts: TextEmbeddings = {}
        if self._device == "cpu":
            self.batch_size = 1
        self.embed_dim = settings.dimensions or self.encode_text(["a dog"]).shape[1]
        self.num_bytes = sum(weights.nbytes for weights in self.backend.model.parameters())

    def _loaded(self, folder: Path, loader: str) -> SentenceTransformers | Transformers:
        backend = SentenceTransformers if loader == ST else Transformers
        try:
            check_model_files(folder, self.name)
            with limited_layers(self.name):
                return backend(folder, self.card, self._device)
        except Nt2vrError:
            raise
        # Libraries, configurations and weights fail in many ways.
        except Exception as error:
            raise CheckpointError(
                f"{self.name} cannot be loaded ({reason_of(error)}). Add it again."
            ) from error

    def encode_text(self, texts: Sequence[str]) -> Vectors:
        embeddings, self.cached_texts = encode_unknown(
            self.cached_texts, texts, lambda new: normalised(self.backend.texts(new))
        )
        return embeddings

    def prepare_texts(self, texts: Sequence[str]) -> None:
        self.encode_text(texts)

    def encode_video(self, frames: Frames, seconds: Vectors | None = None) -> Vectors:
        """Embed clips (N, F, H, W, 3), framed by the card: (N, 1, D), L2-normalised.

        At the model's fps, a short clip has fewer frames, and one without any length, a picture, is
        given as such.
        """
        clips = []
        for row, clip_frames in enumerate(frames):
            length_s = None
            if seconds is not None:
                length_s = seconds[row, 0] + seconds[row, -1]
            clips.append(self._clip(clip_frames, length_s))
        if not clips:
            return np.zeros((0, 1, self.embed_dim), np.float32)
        return normalised(self._encoded(clips))[:, None]

    def _clip(self, frames: Frames, length_s: float | None) -> Clip:
        settings = clip_settings(self.card)
        fps = float(settings.fps)
        if not length_s:
            return Clip(frames, fps or 1.0, is_picture=length_s is not None)
        num_frames = len(frames)
        if fps:
            frames_at_fps = math.ceil(length_s * fps)
            num_frames = min(num_frames, max(frames_at_fps, settings.least))
        positions = frame_positions(len(frames), num_frames)
        return Clip(frames[positions], num_frames / length_s)

    def _encoded(self, clips: Sequence[Clip]) -> Any:
        import torch  # noqa: PLC0415  the page is up before torch is

        try:
            if len(clips) <= self.batch_size:
                return self.backend.clips(clips)
        except torch.OutOfMemoryError as error:
            if len(clips) == 1:
                raise ConfigError(
                    f"A clip does not fit into the memory of {self._device} with {self.name}. Choose fewer frames, or "
                    "--device cpu."
                ) from error
            self.batch_size = len(clips) // 2

        half = len(clips) // 2
        return np.concatenate([self._encoded(clips[:half]), self._encoded(clips[half:])])

    @property
    def capabilities(self) -> Capabilities:
        return replace(self.card.capabilities, composes=self.backend.composes)

    def composed(self, picture: Frames, text: str) -> Vectors:
        return normalised(self.backend.composed(picture, text))

    def move_to(self, device: str) -> None:
        self.backend.model.to(device)
        self._device = device
