"""A model in training: its optimizer steps. Knows nothing about epochs or sources of batches."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from nt2vr.errors import ConfigError
from nt2vr.models.card import Card, configured
from nt2vr.models.checkpoint import identified
from nt2vr.models.open_clip_encoder import OpenClipEncoder, normalise_frames, token_embeddings
from nt2vr.models.pooling import head_of
from nt2vr.models.short_text import encode_short
from nt2vr.models.tokenizer import special_ids
from nt2vr.models.words import Words, words_card
from trainer import distributed
from trainer.config import Towers, TrainConfig
from trainer.data.batches import Batch
from trainer.losses.embedded import (
    Denied,
    EmbeddedBatch,
    EmbeddedLabels,
    EmbeddedOrder,
    EmbeddedTruth,
    EmbeddedVerbs,
    PartVectors,
)
from trainer.optimizer import build_optimizer, clip_gradients, rate_at, restore
from trainer.runs.start import Start
from trainer.teacher import Miner, Teacher

NEW_TOKEN_STD = 0.02  # standard deviation of a new token's row, as in open_clip
MAX_LOGIT_SCALE = math.log(100)  # as in CLIP: keeps the softmax from saturating


class Learner:
    """A model in training, with its optimizer and losses.

    Attributes:
        base: card of the base; None for random weights.
        card: the base's, or an empty one, with the pooling and the frame positions of this training.
        words: text side instead of the text tower; None for the tower.
        own: what learns besides open_clip's model.
        head: pools `videos`: the pooling if it learns, otherwise the identity.
        videos: (N, D), L2-normalised embeddings of the training clips, or those of their frames (N, F, D) if the
            pooling learns; set if the visual tower is frozen and the data has videos.
        frames: (N, F, D), embeddings of their frames, which the loss order needs; otherwise `videos`.
    """

    def __init__(self, config: TrainConfig, start: Start | None = None, words: Words | None = None) -> None:
        """Build the optimizer; `start`, of the same config but for num_clips, is built here if None."""
        start = start or Start.of(config)
        self.config, self.losses, self.device = config, start.losses, start.device
        self.model, self.tokenizer, self.preprocess = start.model, start.tokenizer, start.preprocess
        self.base = start.base
        self.card = replace(self.base or Card(config.name), positions=config.card_positions)
        if config.pooling != "base":
            self.card = replace(self.card, pooling=config.pooling)
        self.pooling = start.pooling
        self.pooling.requires_grad_(not config.keep_head)
        self.head = self.pooling if any(p.requires_grad for p in self.pooling.parameters()) else nn.Identity()
        self.words = None if words is None else words.to(self.device)
        self.own = nn.ModuleList([self.pooling] if self.words is None else [self.pooling, self.words])
        self.parameters = [*self.model.parameters(), *self.own.parameters()]
        self.bf16 = config.precision == "bf16" or (config.precision == "auto" and has_bf16(self.device))
        self.model.visual.to(memory_format=torch.channels_last)  # 1.2 times faster
        freeze(self.model, config.train)
        if config.gradient_checkpointing:
            self.model.set_grad_checkpointing()
        if config.trains_visual:
            self.model.visual = distributed.joined_norms(self.model.visual)
        self.optimizer = build_optimizer(self.model, self.own, config)
        self.schedule = torch.optim.lr_scheduler.LambdaLR(self.optimizer, lambda step: rate_at(step, config))
        self.steps = 0
        self.videos: Tensor | None = None
        self.frames: Tensor | None = None
        self.teacher: Teacher | None = None
        self.miner: Miner | None = None

    def use_videos(self, videos: NDArray[np.float32], frames: NDArray[np.float32] | None = None) -> None:
        """Set the embeddings of the training clips, or of their frames, as `frozen_encoder` returns them.

        Args:
            frames: (N, F, D), for the loss order if `videos` are of clips.
        """
        self.videos = torch.from_numpy(self.as_frames(videos)).to(self.device)
        self.frames = self.videos if frames is None else torch.from_numpy(frames).to(self.device)

    def as_frames(self, videos: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return what `head` pools: where it needs only their mean, (N, D), that is one frame: (N, 1, D)."""
        return videos[:, None] if self.head is self.pooling and videos.ndim == 2 else videos

    def start_epoch(self) -> None:
        """Put what learns in train mode; a frozen tower stays in eval mode (BatchNorm)."""
        self.model.train(self.config.trains_text)
        self.model.visual.train(self.config.trains_visual)
        self.own.train()

    def step(self, batches: Iterable[Batch]) -> dict[str, float]:
        """Take one optimizer step on `accumulate` batches; return the mean of each unweighted loss."""
        self.optimizer.zero_grad()
        values = [self._add_gradients(batch) for batch in batches]
        distributed.average_gradients(self.parameters)
        clip_gradients(self.parameters, self.config)
        self.optimizer.step()
        self.schedule.step()
        with torch.no_grad():
            self.model.logit_scale.clamp_(0, MAX_LOGIT_SCALE)
        self.steps += 1
        return {name: sum(losses[name] for losses in values) / len(values) for name in values[0]}

    def _add_gradients(self, batch: Batch) -> dict[str, float]:
        with torch.autocast(self.device, torch.bfloat16, enabled=self.bf16 and self.words is None):
            embedded = self._embed(batch)
        loss, values = self.losses(embedded)
        if not loss.requires_grad:  # bnl alone, for example, passes no gradient to the visual tower
            raise ConfigError(f"No loss trains the chosen towers ({self.config.train}). Add contrastive or retrieval.")
        (loss * self.config.loss_scale / self.config.accumulate).backward()  # type: ignore[no-untyped-call]
        return values

    def _embed(self, batch: Batch) -> EmbeddedBatch:
        """Encode this process's share, with all its sentences in one call, and gather those of all."""
        video = self._embed_videos(batch)
        denied = [] if batch.denied is None else [sentence.text for sentence in batch.denied]
        changed = [text for some in batch.changed or () for text in some]
        labels = [] if batch.labels is None else [text for (text,) in batch.labels.texts]
        ordered = [] if batch.ordered is None else batch.ordered.texts
        texts = [batch.captions, batch.negated or [], denied, changed, batch.phrases or [], labels, ordered]
        embeddings = self._embed_texts([text for some in texts for text in some])
        parts = embeddings.split([len(some) for some in texts])  # type: ignore[no-untyped-call]
        caption = gather_captions(parts[0], batch)
        negated, text = map(distributed.gather, parts[1:3])  # (B, D) each, or (0, D)
        return EmbeddedBatch(
            video=video,
            caption=caption,
            logit_scale=self.model.logit_scale.exp(),
            negated=None if batch.negated is None else negated,
            negatable=self._negatable(batch),
            denied=self._denied(batch, text, video),
            distractor=self._distractor(batch),
            verbs=self._verbs(batch, parts[3], parts[4]),
            labels=self._labels(batch, parts[5]),
            order=self._order(batch, parts[6]),
            spaces=1 if self.words is None else len(self.words.spaces),
        )

    def _embed_texts(self, texts: list[str]) -> Tensor:
        if self.words is not None:
            embeddings: Tensor = self.words(texts)
            return embeddings
        return encode_short(self.model, self.tokenizer(texts).to(self.device)).float()

    def _verbs(self, batch: Batch, changed: Tensor, phrase: Tensor) -> EmbeddedVerbs | None:
        """Arrange the changed captions of all captions, one row per caption, and gather them with a phrase of each."""
        if batch.changed is None or batch.phrases is None:
            return None
        is_changed = torch.zeros(len(batch.changed), self.config.verb_negatives, dtype=torch.bool, device=self.device)
        for row, some in enumerate(batch.changed):
            is_changed[row, : len(some)] = True
        rows = changed.new_zeros(*is_changed.shape, changed.shape[-1])
        rows = rows.masked_scatter(is_changed[..., None], changed)
        has_phrase = torch.tensor([bool(text) for text in batch.phrases], device=self.device)
        return EmbeddedVerbs(*map(distributed.gather, (rows, is_changed, phrase, has_phrase)))

    def _labels(self, batch: Batch, text: Tensor) -> EmbeddedLabels | None:
        """Add which clips show what the words name; None without a loss that needs them."""
        if batch.labels is None:
            return None
        return EmbeddedLabels(text, torch.from_numpy(batch.labels.shown).to(self.device))

    def _order(self, batch: Batch, text: Tensor) -> EmbeddedOrder | None:
        """Add the clips that follow each other; None without a loss that needs them."""
        if batch.ordered is None:
            return None
        assert self.frames is not None, "the loss order is refused without stored frames"
        rows, frames = torch.from_numpy(batch.ordered.rows), torch.from_numpy(batch.ordered.frames)
        video = self.pooling(self.frames[rows, frames]) if len(rows) else text  # attention refuses no clips at all
        return EmbeddedOrder(text, video.float())

    def _distractor(self, batch: Batch) -> Tensor | None:
        """Mine distractors, and gather those of all processes; None without a loss that needs them."""
        if batch.sought is None:
            return None
        assert self.miner is not None, "the loop sets it before the first step"
        return distributed.gather(self._stored_videos(self.miner.rows(batch.sought)))

    def _negatable(self, batch: Batch) -> Tensor | None:
        """Gather which captions could be negated; None for all."""
        if batch.negatable is None:
            return None
        negatable = distributed.gather(torch.from_numpy(batch.negatable).to(self.device))
        return None if negatable.all() else negatable

    def _embed_videos(self, batch: Batch) -> Tensor | None:
        """Look up the videos' embeddings, or encode and pool their frames; None without videos."""
        if batch.frames is None:
            return None if self.videos is None or batch.rows is None else self._stored_videos(batch.rows)
        preprocess = self.model.visual.preprocess_cfg
        frames = torch.from_numpy(batch.frames).to(self.device, non_blocking=True)  # (b, F, S, S, 3)
        pixels = normalise_frames(frames.flatten(0, 1), preprocess["mean"], preprocess["std"])
        pixels = pixels.contiguous(memory_format=torch.channels_last)
        of_frames = self.model.encode_image(pixels, normalize=self.card.normalises_frames).float()
        return distributed.gather(self.pooling(of_frames.unflatten(0, frames.shape[:2])).float())  # (B, D)

    def _stored_videos(self, rows: NDArray[np.int64] | Tensor) -> Tensor:
        """Look up videos' embeddings under a frozen visual tower: (n, D)."""
        assert self.videos is not None, "the loop sets them before the first step"
        embeddings: Tensor = self.head(self.videos[torch.as_tensor(rows)])
        return embeddings.float()

    def _denied(self, batch: Batch, text: Tensor, video: Tensor | None) -> Denied | None:
        """Add the parts and the truth of the denying sentences; None without these."""
        if batch.denied is None:
            return None
        needs, parts, truth = self.losses.needs, None, None
        if "parts" in needs:
            assert self.teacher is not None, "the loop sets it before the first step"
            parts = gathered(self.teacher.parts(batch.denied, batch.captions if "kept" in needs else None), batch)
        if batch.truth is not None:
            pool = video if self.videos is None else self._stored_videos(batch.truth.pool)
            assert pool is not None, "a known truth comes with clips"
            known = (torch.from_numpy(some).to(self.device) for some in (batch.truth.fitting, batch.truth.both))
            truth = EmbeddedTruth(pool, *known)
        return Denied(text, truth, parts)

    def prepare_tokens(self, texts: Iterable[str]) -> None:
        """Initialise token rows: zero those that no text of any process uses or, given a base, start new tokens small.

        Unused rows get no gradient, and weight decay leaves zero unchanged. So they stay zero, compress to almost
        nothing and mark unseen tokens. CLIP's padding is among them; no embedding depends on it. Nothing changes in a
        frozen text tower. With `keep_tokens`, the rows that the base has learned are frozen.
        """
        if not self.config.trains_text:
            return
        table = token_embeddings(self.model)
        ids = {*special_ids(self.tokenizer), *(token for text in texts for token in self.tokenizer.encode(text))}
        is_used = torch.zeros(len(table), dtype=torch.uint8).index_fill_(0, torch.tensor(list(ids)), 1)
        used = distributed.union(is_used.to(self.device)).nonzero().flatten().cpu()
        with torch.no_grad():
            if self.base is None:
                rows = table[used]
                table.zero_()
                table[used] = rows
                return
            new = used[~table[used].any(dim=1).cpu()]
            table[new] = NEW_TOKEN_STD * torch.randn(len(new), table.shape[1]).to(table)
        if self.config.keep_tokens and not len(new):
            table.requires_grad_(False)
        elif self.config.keep_tokens:
            learns = torch.zeros_like(table[:, :1]).index_fill_(0, new.to(table.device), 1.0)
            table.register_hook(lambda gradient: gradient * learns)  # type: ignore[no-untyped-call]

    def state_dict(self) -> dict[str, Any]:
        """Return everything the next steps depend on, as tensors and plain values."""
        return {
            "steps": self.steps,
            "model": self.model.state_dict(),
            "head": self.head.state_dict(),
            "words": {} if self.words is None else self.words.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "schedule": self.schedule.state_dict(),
            "random": torch.get_rng_state(),
            "random_cuda": torch.cuda.get_rng_state() if self.device == "cuda" else None,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore a `state_dict` of the same config except for the random numbers."""
        self.steps = state["steps"]
        self.model.load_state_dict(state["model"])
        self.head.load_state_dict(state.get("head", {}))  # not stored until poolings learnt
        if self.words is not None:
            self.words.load_state_dict(state["words"])
        restore(self.optimizer, state["optimizer"])
        self.schedule.load_state_dict(state["schedule"])

    def load_random_state(self, state: Mapping[str, Any]) -> None:
        """Go on with the random numbers that followed a `state_dict`; called last, as building a model draws some."""
        torch.set_rng_state(state["random"])
        if self.device == "cuda" and state["random_cuda"] is not None:
            torch.cuda.set_rng_state(state["random_cuda"])

    def encoder(self) -> OpenClipEncoder:
        """Wrap the model, putting it in eval mode; the card gets the towers' fingerprints."""
        card = Card(
            self.config.name,
            pooling=self.card.pooling,
            positions=self.card.positions,
            features=self.config.features,
            words=words_card(self.words),
            head=head_of(self.pooling),
        )
        card = configured(identified(card, self.model, self.tokenizer), self.config.model_cfg, self.preprocess)
        return OpenClipEncoder(self.model, self.tokenizer, card, pooling=self.pooling, words=self.words)

    def frozen_encoder(self) -> OpenClipEncoder:
        """Wrap the model without a pooling that learns: videos are then their frames' embeddings (..., F, D)."""
        return self.encoder().unpooled() if self.head is self.pooling else self.encoder()

    @property
    def state(self) -> dict[str, float]:
        """Values to plot along with the losses."""
        scale = float(self.model.logit_scale.detach().exp())
        return {"learning_rate": float(self.schedule.get_last_lr()[0]), "logit_scale": scale}


def has_bf16(device: str) -> bool:
    """Return True if the processor supports bf16 natively; where it is emulated, fp32 is faster."""
    return (
        torch.cuda.is_bf16_supported(including_emulation=False)
        if device == "cuda"
        else torch.cpu._is_avx512_bf16_supported()
    )


def freeze(model: Any, train: Towers) -> None:
    """Freeze the towers that are not trained; the temperature always learns, and so does a pooling that can."""
    for name, parameter in model.named_parameters():
        tower = "visual" if name.startswith("visual.") else "text"
        if train not in ("all", tower) and name != "logit_scale":
            parameter.requires_grad_(False)


def gather_captions(rows: Tensor, batch: Batch) -> Tensor:
    """Gather one row per caption of the batch from all processes."""
    return distributed.gather(rows) if batch.kept is None else distributed.gather_stripes(rows, batch.kept)


def gathered(parts: PartVectors, batch: Batch) -> PartVectors:
    """Gather the parts from all processes."""
    return replace(
        parts,
        wanted=distributed.gather(parts.wanted),
        unwanted=distributed.gather(parts.unwanted),
        pure=distributed.gather(parts.pure),
        caption=None if parts.caption is None else gather_captions(parts.caption, batch),
    )
