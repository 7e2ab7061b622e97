"""A model and what changes it: one step on one batch. It knows nothing of epochs, files or where batches come from."""

import math
from collections.abc import Iterable
from typing import Any

import torch
from torch import nn
from torch.nn.functional import normalize

from nt2vr.checkpoint import build_model
from nt2vr.encoder import normalise_frames, token_embeddings
from trainer.batches import Batch
from trainer.config import TrainConfig
from trainer.losses import build_losses
from trainer.losses.embedded import EmbeddedBatch

PREPROCESS: dict[str, Any] = {}  # open_clip's defaults: CLIP's mean and standard deviation
MAX_LOGIT_SCALE = math.log(100)  # as in CLIP: keeps the softmax from freezing


class Learner:
    """What a config says to train, from random weights.

    Attributes:
        model: the open_clip model.
        tokenizer: its tokenizer.
        steps: taken so far.

    Raises:
        ConfigError: if the config names a loss or a model that there is not.
    """

    def __init__(self, config: TrainConfig) -> None:
        """Build the model, its losses and its optimizer."""
        torch.manual_seed(config.seed)
        self.config = config
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.bf16 = config.precision == "bf16" or (config.precision == "auto" and has_bf16(self.device))
        self.losses = build_losses(config.losses)
        self.model, self.tokenizer = build_model(config.model, PREPROCESS, self.device)
        self.model.visual.to(memory_format=torch.channels_last)  # 1.2 times faster
        self.optimizer = build_optimizer(self.model, config)
        self.schedule = torch.optim.lr_scheduler.LambdaLR(self.optimizer, lambda step: rate_at(step, config))
        self.steps = 0

    def step(self, batch: Batch) -> dict[str, float]:
        """Learn from a batch; returns the losses before their weights."""
        with torch.autocast(self.device, torch.bfloat16, enabled=self.bf16):
            embedded = self._embed(batch)
        loss, values = self.losses(embedded)
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self.model.parameters(), self.config.max_grad_norm)
        self.optimizer.step()
        self.schedule.step()
        with torch.no_grad():
            self.model.logit_scale.clamp_(0, MAX_LOGIT_SCALE)
        self.steps += 1
        return values

    def _embed(self, batch: Batch) -> EmbeddedBatch:
        """Encode a batch; frames are encoded one by one and mean-pooled, as `nt2vr.encoder.pool` does."""
        preprocess = self.model.visual.preprocess_cfg
        frames = torch.from_numpy(batch.frames).to(self.device)  # (B, F, S, S, 3)
        pixels = normalise_frames(frames.flatten(0, 1), preprocess["mean"], preprocess["std"])
        pixels = pixels.contiguous(memory_format=torch.channels_last)
        frame_embeddings = self.model.encode_image(pixels, normalize=True).float().unflatten(0, frames.shape[:2])
        tokens = self.tokenizer(batch.captions).to(self.device)
        return EmbeddedBatch(
            video=normalize(frame_embeddings.mean(dim=1), dim=-1),  # (B, D)
            caption=self.model.encode_text(tokens, normalize=True).float(),  # (B, D)
            logit_scale=self.model.logit_scale.exp(),
        )

    def clear_unused_tokens(self, captions: Iterable[str]) -> None:
        """Zero the rows of tokens that no caption has.

        They get no gradient, and the decay of zero is zero: they stay zero, pack to nothing, and tell what is unseen.
        The padding's is among them; no embedding depends on it.
        """
        ends = (self.tokenizer.sot_token_id, self.tokenizer.eot_token_id)
        used = sorted({*ends, *(token for caption in captions for token in self.tokenizer.encode(caption))})
        table = token_embeddings(self.model)
        with torch.no_grad():
            rows = table[used]
            table.zero_()
            table[used] = rows

    @property
    def state(self) -> dict[str, float]:
        """What a curve may show beside the losses."""
        scale = float(self.model.logit_scale.detach().exp())
        return {"learning_rate": float(self.schedule.get_last_lr()[0]), "logit_scale": scale}


def has_bf16(device: str) -> bool:
    """Whether the processor computes in bf16; where it only pretends to, fp32 is faster."""
    return torch.cuda.is_bf16_supported() if device == "cuda" else torch.cpu._is_avx512_bf16_supported()


def build_optimizer(model: nn.Module, config: TrainConfig) -> torch.optim.Optimizer:
    """AdamW; biases, gains and the temperature are not decayed."""
    parameters = list(model.parameters())
    groups: list[dict[str, Any]] = [
        {"params": [p for p in parameters if p.ndim >= 2], "weight_decay": config.weight_decay},
        {"params": [p for p in parameters if p.ndim < 2], "weight_decay": 0.0},
    ]
    # fused: 10 ms a step over the 9.5 million token rows instead of 38
    return torch.optim.AdamW(groups, lr=config.learning_rate, betas=(0.9, 0.98), fused=True)


def rate_at(step: int, config: TrainConfig) -> float:
    """Share of the learning rate at a step: a linear rise, then a cosine down to 0."""
    if step < config.warmup_steps:
        return (step + 1) / config.warmup_steps
    total = config.epochs * config.steps_per_epoch
    done = (step - config.warmup_steps) / max(1, total - config.warmup_steps)
    return 0.5 * (1 + math.cos(math.pi * min(1.0, done)))
