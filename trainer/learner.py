"""A model in training: it embeds batches, and sets up its tokens. Knows no epochs or data sources."""

import logging
import math
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from nt2vr.evaluation.metric_names import Metrics
from nt2vr.models.card import Card, configured
from nt2vr.models.checkpoint import identified
from nt2vr.models.encoder import Frames, Vectors
from nt2vr.models.open_clip_encoder import (
    OpenClipEncoder,
    normalise_frames,
    token_embeddings,
)
from nt2vr.models.pooling import head_of
from nt2vr.models.short_text import encode_short
from nt2vr.models.text_side import TextSide, card_fields
from nt2vr.models.tokenizer import special_ids
from trainer import distributed
from trainer.config import TrainConfig
from trainer.data.batches import Batch
from trainer.inputs.base import ByInput, EmbeddedBatch, Numbers
from trainer.optimizer import Trainable, build_optimizer
from trainer.start import Start, pooling_card

logger = logging.getLogger(__name__)
# Standard deviation of a new token's row, as in open_clip.
NEW_TOKEN_STD = 0.02
# As in CLIP: keeps the softmax from saturating.
MAX_LOGIT_SCALE = math.log(100)


class Learner(Trainable):
    """A model in training, with its optimizer and losses.

    Attributes:
        card: the base's, or an empty one, with the pooling, the number of frames and the frame
            positions of this training; without the base's head if the pooling is another one.
        text_side: an extension's, instead of the text tower; None for the tower.
        extra_modules: what learns besides open_clip's model.
        head: pools `videos`: the pooling if it learns, otherwise the identity.
        videos: (N, D), L2-normalised embeddings of the training clips, or those of their frames (N,
            F, D) if the pooling learns; set if the visual tower is frozen and the data has videos.
        frames: (N, F, D), embeddings of their frames, where an input reads them; otherwise
            `videos`.
    """

    def __init__(
        self, config: TrainConfig, start: Start | None = None, text_side: TextSide | None = None
    ) -> None:
        """Build the optimizer; `start`, of the same config but for num_clips, is built if None."""
        if start is None:
            start = Start.of(config)
        self.losses = start.losses
        self.device = start.device
        self.base = start.base
        self.tokenizer = start.tokenizer
        self.preprocess = start.preprocess
        self.model = prepared(start.model, config)
        card = pooling_card(config, start.base)
        self.card = card.replace(positions=config.card_positions)

        self.pooling = start.pooling
        self.pooling.requires_grad_(not config.encoder.keep_head)
        self.head: nn.Module = nn.Identity()
        if any(parameter.requires_grad for parameter in self.pooling.parameters()):
            self.head = self.pooling

        self.text_side = text_side
        self.extra_modules = nn.ModuleList([self.pooling])
        if text_side is not None:
            text_side.to(self.device)
            self.extra_modules.append(text_side)

        precision = config.optimization.precision
        self.bf16 = precision == "bf16" or (precision == "auto" and has_bf16(self.device))
        # "words" is the name of any text side in states that 0.2.0 saved.
        modules = {"model": self.model, "head": self.head, "words": text_side or nn.Identity()}
        super().__init__(config, modules, build_optimizer(self.model, self.extra_modules, config))
        self.videos: Tensor | None = None
        self.frames: Tensor | None = None

    @property
    def learns_pooling(self) -> bool:
        return self.head is self.pooling

    def use_videos(self, videos: Vectors, frames: Vectors | None = None) -> None:
        """Set embeddings of the training clips, or of their frames, made by `frozen_encoder`."""
        self.videos = torch.from_numpy(self.as_frames(videos)).to(self.device)
        self.frames = self.videos
        if frames is not None:
            self.frames = torch.from_numpy(frames).to(self.device)

    def as_frames(self, videos: Vectors) -> Vectors:
        """Return what `head` pools: a mean of frames, (N, D), becomes one frame, (N, 1, D)."""
        if self.learns_pooling and videos.ndim == 2:
            return videos[:, None]
        return videos

    def start_epoch(self) -> None:
        self.model.train(self.config.encoder.trains_text)
        self.model.visual.train(self.config.encoder.trains_visual)
        self.extra_modules.train()

    def step(self, batches: Iterable[Batch]) -> Metrics:
        values = super().step(batches)
        with torch.no_grad():
            self.model.logit_scale.clamp_(0, MAX_LOGIT_SCALE)
        return values

    def loss(self, batch: Batch) -> tuple[Tensor, Metrics]:
        uses_bf16 = self.bf16 and self.text_side is None
        with torch.autocast(self.device, torch.bfloat16, enabled=uses_bf16):
            embedded = self._embed(batch)
        return self.losses(embedded)

    def _embed(self, batch: Batch) -> EmbeddedBatch:
        """Encode this process's share, and gather those of all."""
        inputs = self.losses.inputs
        texts: list[Sequence[str]] = [batch.captions]
        for kind, drawn in batch.drawn.items():
            texts.append(inputs.of(kind).texts(drawn))

        video = self._embed_videos(batch)
        caption, *input_texts = self._embed_texts(texts)
        num_spaces = 1
        if self.text_side is not None:
            num_spaces = self.text_side.num_spaces
        embedded_inputs: ByInput = {}
        embedded = EmbeddedBatch(
            video=video,
            caption=distributed.gather(caption),
            logit_scale=self.model.logit_scale.exp(),
            inputs=embedded_inputs,
            spaces=num_spaces,
        )

        # An input may use what those before it have embedded.
        for (kind, drawn), embeddings in zip(batch.drawn.items(), input_texts, strict=True):
            embedded_inputs[kind] = inputs.of(kind).embed(drawn, embeddings, embedded, self)
        return embedded

    def _embed_texts(self, texts: Sequence[Sequence[str]]) -> Sequence[Tensor]:
        """Embed lists of texts in one call."""
        all_texts = list(chain.from_iterable(texts))
        if self.text_side is not None:
            embeddings: Tensor = self.text_side(all_texts)
        else:
            tokens = self.tokenizer(all_texts).to(self.device)
            embeddings = encode_short(self.model, tokens).float()
        counts = [len(texts_of_input) for texts_of_input in texts]
        return embeddings.split(counts)  # type: ignore[no-any-return,no-untyped-call]

    def _embed_videos(self, batch: Batch) -> Tensor | None:
        """Look up the videos' embeddings, or encode and pool their frames; None without videos."""
        if batch.frames is not None:
            return self._encode_videos(batch.frames)
        if self.videos is None or batch.rows is None:
            return None
        return self.stored_videos(batch.rows)

    def _encode_videos(self, batch_frames: Frames) -> Tensor:
        preprocess = self.model.visual.preprocess_cfg
        frames = torch.from_numpy(batch_frames)  # (b, F, S, S, 3)
        frames = frames.to(self.device, non_blocking=True)
        flat_frames = frames.flatten(0, 1)  # (b F, S, S, 3)
        pixels = normalise_frames(flat_frames, preprocess["mean"], preprocess["std"])
        pixels = pixels.contiguous(memory_format=torch.channels_last)

        normalises = self.card.pooling.normalises_frames
        embeddings = self.model.encode_image(pixels, normalize=normalises).float()
        embeddings = embeddings.unflatten(0, frames.shape[:2])  # (b, F, D)
        return distributed.gather(self.pooling(embeddings).float())  # (B, D)

    def stored_videos(self, rows: Numbers | Tensor) -> Tensor:
        """Look up videos' embeddings under a frozen visual tower: (n, D)."""
        assert self.videos is not None, "the loop sets them before the first step"
        embeddings: Tensor = self.head(self.videos[torch.as_tensor(rows)])
        return embeddings.float()

    def pool_frames(self, rows: Numbers, frames: Numbers) -> Tensor:
        """Pool stored frames, given by (n, F) rows of clips and numbers of frames in them: (n, D)."""
        assert self.frames is not None, (
            "inputs that read frames are refused without a frozen visual tower"
        )
        unpooled = self.frames[rows, frames]  # (n, F, D)
        pooled: Tensor = self.pooling(unpooled)
        return pooled.float()

    def prepare_tokens(self, texts: Iterable[str]) -> None:
        """Set up the token embeddings, given texts like those that this process will train on.

        Rows that no text of any process uses are zero. They get no gradient and no decay, so they
        stay zero, compress to almost nothing, and mark tokens that the model has never seen. CLIP's
        padding is among them; no embedding depends on it.

        With a base, rows that it has not learned start with small random values. `keep_tokens`
        freezes the others.
        """
        if not self.config.encoder.trains_text:
            return
        table = token_embeddings(self.model)  # (V, D)
        used = self._used_tokens(texts, len(table))
        if self.base is None:
            _zero_other_rows(table, used)
            return
        new = _start_new_rows(table, used)
        if self.config.encoder.keep_tokens:
            _freeze_other_rows(table, new)

    def _used_tokens(self, texts: Iterable[str], num_tokens: int) -> Tensor:
        """Return the ids of the special tokens, and of those in the texts of any process."""
        ids = set(special_ids(self.tokenizer))
        for text in texts:
            ids.update(self.tokenizer.encode(text))
        is_used = torch.zeros(num_tokens, dtype=torch.uint8)
        is_used[list(ids)] = 1
        is_used = distributed.union(is_used.to(self.device))
        return is_used.nonzero().flatten().cpu()

    def encoder(self) -> OpenClipEncoder:
        """Wrap the model, putting it in eval mode; the card gets the towers' fingerprints."""
        card = Card(
            self.config.encoder.name,
            pooling=self.card.pooling.name,
            head=head_of(self.pooling),
            positions=self.card.framing.positions,
            **card_fields(self.text_side),
            **self.config.card_video_input,
        )
        card = identified(card, self.model, self.tokenizer)
        card = configured(card, self.config.encoder.model_cfg, self.preprocess)
        return OpenClipEncoder(
            self.model, self.tokenizer, card, pooling=self.pooling, text_side=self.text_side
        )

    def frozen_encoder(self) -> OpenClipEncoder:
        """Wrap the model, without a pooling that learns: it embeds videos as frames (..., F, D)."""
        encoder = self.encoder()
        if self.learns_pooling:
            return encoder.unpooled()
        return encoder

    @property
    def plotted_values(self) -> Metrics:
        logit_scale = float(self.model.logit_scale.detach().exp())
        return {**super().plotted_values, "logit_scale": logit_scale}


def _zero_other_rows(table: Tensor, rows: Tensor) -> None:
    """Zero the rows of a (V, D) table, except some."""
    with torch.no_grad():
        used_rows = table[rows]
        table.zero_()
        table[rows] = used_rows


def _start_new_rows(table: Tensor, used: Tensor) -> Tensor:
    """Give random values to the rows in use that are zero, and return which ones these are."""
    with torch.no_grad():
        new = used[~table[used].any(dim=1).cpu()]
        noise = torch.randn(len(new), table.shape[1]).to(table)
        table[new] = NEW_TOKEN_STD * noise
    return new


def _freeze_other_rows(table: Tensor, rows: Tensor) -> None:
    """Let only some rows of a (V, D) table learn."""
    if not len(rows):
        table.requires_grad_(False)
        return
    learns = torch.zeros_like(table[:, :1])
    learns[rows] = 1.0
    table.register_hook(lambda gradient: gradient * learns)  # type: ignore[no-untyped-call]


def has_bf16(device: str) -> bool:
    """Return True if the processor supports bf16 natively; where it is emulated, fp32 is faster."""
    if device == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    return bool(torch.cpu._is_avx512_bf16_supported())


def prepared(model: Any, config: TrainConfig) -> Any:
    """Freeze the towers that are not trained; the temperature always learns."""
    # 1.2 times faster.
    model.visual.to(memory_format=torch.channels_last)
    for name, parameter in model.named_parameters():
        tower = "visual" if name.startswith("visual.") else "text"
        is_trained = config.encoder.train in ("all", tower) or name == "logit_scale"
        if not is_trained:
            parameter.requires_grad_(False)
    if config.optimization.gradient_checkpointing:
        model.set_grad_checkpointing()
    if config.encoder.trains_visual:
        model.visual = joined_norms(model.visual)
    return model


def joined_norms(tower: nn.Module) -> nn.Module:
    """Let BatchNorm see the batch of all processes, as it would in one; GPUs only."""
    has_batch_norm = any(isinstance(module, _BatchNorm) for module in tower.modules())
    if distributed.world_size() == 1 or not has_batch_norm:
        return tower
    if torch.cuda.is_available():
        return nn.SyncBatchNorm.convert_sync_batchnorm(tower)  # type: ignore[no-any-return,no-untyped-call]
    logger.warning(
        "BatchNorm sees one process's share of a batch: this is not what one process would learn."
    )
    return tower
