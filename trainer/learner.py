"""A model in training: its start, its frozen teacher, and its optimizer steps. Knows no epochs or data sources."""

import logging
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from nt2vr.datasets.video_inputs import open_video_input
from nt2vr.errors import ConfigError, quoted
from nt2vr.extension import poolings
from nt2vr.models.card import LEARNT, Card, configured, read_card
from nt2vr.models.checkpoint import build_model, identified, read_configs, read_model
from nt2vr.models.open_clip_encoder import (
    OpenClipEncoder,
    embed_dim_of,
    normalise_frames,
    token_embeddings,
)
from nt2vr.models.pooling import (
    SequenceTransformer,
    extension_pooling,
    head_of,
    new_pooling,
    read_pooling,
)
from nt2vr.models.short_text import encode_short
from nt2vr.models.text_side import TextSide, card_fields
from nt2vr.models.tokenizer import load_tokenizer, special_ids
from nt2vr.settings import resolve_path
from trainer import distributed
from trainer.config import TrainConfig, deeper
from trainer.data.batches import Batch
from trainer.inputs.base import EmbeddedBatch, Input
from trainer.losses import WeightedLosses, losses_of
from trainer.optimizer import Steps, build_optimizer
from trainer.runs.loggers import check_loggers

logger = logging.getLogger(__name__)
NEW_TOKEN_STD = 0.02  # standard deviation of a new token's row, as in open_clip
MAX_LOGIT_SCALE = math.log(100)  # as in CLIP: keeps the softmax from saturating
PREPROCESS: dict[str, Any] = {}  # open_clip's defaults: CLIP's mean and standard deviation
LAYER = re.compile(
    r"((?:text\.)?transformer\.resblocks\.)(\d+)(\..+)"
)  # parameter names in open_clip's text towers
OUTPUTS = (".attn.out_proj.", ".mlp.c_proj.")  # the last weights of both residual branches


@dataclass(frozen=True)
class Start:
    """The starting model and the losses: everything that a config can be refused for."""

    losses: WeightedLosses
    device: str
    model: Any
    tokenizer: Any
    preprocess: dict[str, Any]
    base: Card | None
    pooling: nn.Module

    @classmethod
    def of(cls, config: TrainConfig) -> "Start":
        """Check the config, seed torch's generator, and build or load the model."""
        losses = check_model(config)
        if config.batches.batch_size % (count := distributed.world_size()):
            batch_size = config.batches.batch_size
            raise ConfigError(
                f"batch_size ({batch_size}) must be a multiple of the processes ({count})."
            )
        torch.manual_seed(config.run.seed)
        device = "cuda" if torch.cuda.is_available() else "cpu"
        base = config.encoder.base_folder
        if base is None:
            tokenizer, preprocess, card = (
                load_tokenizer(None, config.encoder.model_cfg["text_cfg"]),
                PREPROCESS,
                None,
            )
            model = build_model(config.encoder.model_cfg, preprocess, device)
        else:
            model, tokenizer, card = read_model(base, device)
            preprocess = read_configs(base)[1]
            if config.encoder.added_layers:
                weights = model.state_dict()
                model = build_model(config.encoder.model_cfg, preprocess, device)
                model.load_state_dict(deepened(weights, model.state_dict()))
        pooling = start_pooling(config, model, card).to(device)
        return cls(losses, device, model, tokenizer, preprocess, card, pooling)


def check_model(config: TrainConfig) -> WeightedLosses:
    """Build a config's losses; raise an Nt2vrError for what they, its base or its pooling rule out. Load no tower."""
    losses = losses_of(config)
    check_loggers(config)
    _check_base(config)
    for name, loss_input in losses.named_inputs():
        loss_input.check_base(config, name)
    return losses


def _check_base(config: TrainConfig) -> None:
    """Raise an Nt2vrError for what a config's base, or its pooling, rules out."""
    base = config.encoder.base_folder
    if base is None:
        check_pooling(config, None)
        return
    card = read_card(base)
    if not card.capabilities.has_text_tower:
        raise ConfigError(
            f"{base} has no text tower, and no training starts from that. Name what it was made of."
        )
    base_input = card.capabilities.video_input
    if base_input is not None and base_input != config.video_input:
        raise ConfigError(
            f"{base} reads {base_input.kind} {quoted(base_input.name)} instead of frames. Set {base_input.kind} to "
            "that, or name another base."
        )
    if deeper(read_configs(base)[0], config.encoder.added_layers) != config.encoder.model_cfg:
        raise ConfigError(
            f"{base} does not match the config's model. Leave model out to use the base's own."
        )
    check_pooling(config, card)


def check_pooling(config: TrainConfig, base: Card | None) -> None:
    """Raise a ConfigError if a config's pooling, perhaps its base's, cannot do what its other fields ask for."""
    encoder = config.encoder
    num_frames = config.frames.num_frames
    card = pooling_card(config, base)
    if base and card.pooling.head:
        pooling = read_pooling(resolve_path(encoder.base), base, encoder.model_cfg["embed_dim"])
        if isinstance(pooling, SequenceTransformer) and len(pooling.positions) < num_frames:
            most = (
                f"{len(pooling.positions)} frames, the most that {encoder.base} knows the order of"
            )
            raise ConfigError(f"num_frames is {num_frames}, more than {most}. Lower it.")
    elif encoder.keep_head:
        raise ConfigError(
            f"keep_head is true, but {encoder.base} has no {card.pooling.name} that has learned. Turn it off."
        )
    if encoder.train == "head" and card.pooling.name not in (*LEARNT, *poolings()):
        raise ConfigError(
            "train is head, but the pooling has nothing to learn. Set pooling to seqTransf."
        )
    if config.knows_order and encoder.trains_visual and config.frames.frames_per_step != num_frames:
        raise ConfigError(
            f"This pooling needs all frames. Set frames_per_step to num_frames ({num_frames})."
        )


def pooling_card(config: TrainConfig, base: Card | None) -> Card:
    """Return a card with the pooling to train; its head is the base's, if that has the same pooling."""
    card = (base or Card(config.encoder.name)).replace(frames=config.frames.num_frames)
    if config.frames.pooling in ("base", card.pooling.name):
        return card
    return card.replace(pooling=config.frames.pooling, head=None)


def start_pooling(config: TrainConfig, model: Any, base: Card | None) -> nn.Module:
    """Return the pooling to start from: the base's if it has the same, otherwise a new one."""
    card = pooling_card(config, base)
    if base and card.pooling.head:
        return read_pooling(resolve_path(config.encoder.base), base, embed_dim_of(model)).train()
    width = embed_dim_of(model)
    if config.video_input is not None:
        width = open_video_input(config.video_input, config.dataset.data).width
    of_extension = extension_pooling(card.pooling.name)
    if of_extension is not None:
        return of_extension.for_training(config, width)
    return new_pooling(card, model, width)


def deepened(base: Mapping[str, Tensor], deeper: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return weights of a deeper model, given random ones, that embeds all texts as the base does.

    The base's layers stay in order, with the new ones spread evenly among them and the last one at
    the end. A new layer adds zero to its input: its weights are random except for the output
    projections, which are zeroed. These learn first, the others through them.
    """
    layers, total = _count(base), _count(deeper)
    added = total - layers
    new = {math.ceil(layers * number / added) + number - 1 for number in range(1, added + 1)}
    old = dict(
        zip((place for place in range(total) if place not in new), range(layers), strict=True)
    )
    found = {}
    for name, random in deeper.items():
        layer = LAYER.fullmatch(name)
        if layer and int(layer[2]) in new:
            found[name] = (
                torch.zeros_like(random) if any(part in name for part in OUTPUTS) else random
            )
        else:
            found[name] = base[f"{layer[1]}{old[int(layer[2])]}{layer[3]}" if layer else name]
    return found


def _count(weights: Mapping[str, Tensor]) -> int:
    return len({layer[2] for name in weights if (layer := LAYER.fullmatch(name))})


class Learner(Steps):
    """A model in training, with its optimizer and losses.

    Attributes:
        card: the base's, or an empty one, with the pooling and the frame positions of this
            training.
        text_side: an extension's, instead of the text tower; None for the tower.
        own: what learns besides open_clip's model.
        head: pools `videos`: the pooling if it learns, otherwise the identity.
        videos: (N, D), L2-normalised embeddings of the training clips, or those of their frames (N,
            F, D) if the pooling learns; set if the visual tower is frozen and the data has videos.
        frames: (N, F, D), embeddings of their frames, where an input reads them; otherwise
            `videos`.
    """

    def __init__(
        self, config: TrainConfig, start: Start | None = None, text_side: TextSide | None = None
    ) -> None:
        """Build the optimizer; `start`, of the same config but for num_clips, is built here if None."""
        start = start or Start.of(config)
        self.losses, self.device, self.base, self.pooling = (
            start.losses,
            start.device,
            start.base,
            start.pooling,
        )
        self.model, self.tokenizer, self.preprocess = (
            prepared(start.model, config),
            start.tokenizer,
            start.preprocess,
        )
        self.card = (self.base or Card(config.encoder.name)).replace(
            positions=config.card_positions
        )
        if config.frames.pooling != "base":
            self.card = self.card.replace(pooling=config.frames.pooling)
        self.pooling.requires_grad_(not config.encoder.keep_head)
        self.head = (
            self.pooling
            if any(p.requires_grad for p in self.pooling.parameters())
            else nn.Identity()
        )
        self.text_side = text_side.to(self.device) if text_side else None
        self.own = nn.ModuleList([self.pooling, *([self.text_side] if self.text_side else [])])
        precision = config.optimization.precision
        self.bf16 = precision == "bf16" or (precision == "auto" and has_bf16(self.device))
        # "words" is the name of any text side in states that 0.2.0 saved.
        modules = {"model": self.model, "head": self.head, "words": self.text_side or nn.Identity()}
        super().__init__(config, modules, build_optimizer(self.model, self.own, config))
        self.videos: Tensor | None = None
        self.frames: Tensor | None = None

    def use_videos(
        self, videos: NDArray[np.float32], frames: NDArray[np.float32] | None = None
    ) -> None:
        """Set the embeddings of the training clips, or of their frames, as `frozen_encoder` returns them."""
        self.videos = torch.from_numpy(self.as_frames(videos)).to(self.device)
        self.frames = self.videos if frames is None else torch.from_numpy(frames).to(self.device)

    def as_frames(self, videos: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return what `head` pools: where it needs only their mean, (N, D), that is one frame: (N, 1, D)."""
        return videos[:, None] if self.head is self.pooling and videos.ndim == 2 else videos

    def start_epoch(self) -> None:
        self.model.train(self.config.encoder.trains_text)
        self.model.visual.train(self.config.encoder.trains_visual)
        self.own.train()

    def step(self, batches: Iterable[Batch]) -> dict[str, float]:
        values = super().step(batches)
        with torch.no_grad():
            self.model.logit_scale.clamp_(0, MAX_LOGIT_SCALE)
        return values

    def loss(self, batch: Batch) -> tuple[Tensor, dict[str, float]]:
        with torch.autocast(
            self.device, torch.bfloat16, enabled=self.bf16 and self.text_side is None
        ):
            embedded = self._embed(batch)
        return self.losses(embedded)

    def _embed(self, batch: Batch) -> EmbeddedBatch:
        """Encode this process's share, and gather those of all."""
        inputs = [self.losses.inputs.of(kind) for kind in batch.drawn]
        texts = [
            batch.captions,
            *(loss_input.texts(batch.drawn[type(loss_input)]) for loss_input in inputs),
        ]
        video = self._embed_videos(batch)
        caption, *texts_of_inputs = self._embed_texts(texts)
        embedded_inputs: dict[type[Input[Any, Any]], Any] = {}
        embedded = EmbeddedBatch(
            video=video,
            caption=distributed.gather(caption),
            logit_scale=self.model.logit_scale.exp(),
            inputs=embedded_inputs,
            spaces=self.text_side.num_spaces if self.text_side else 1,
        )
        for loss_input, of_input in zip(inputs, texts_of_inputs, strict=True):
            kind = type(loss_input)
            embedded_inputs[kind] = loss_input.embed(batch.drawn[kind], of_input, embedded, self)
        return embedded

    def _embed_texts(self, texts: Sequence[Sequence[str]]) -> Sequence[Tensor]:
        """Embed lists of texts in one call."""
        all_texts = list(chain.from_iterable(texts))
        if self.text_side is not None:
            embeddings: Tensor = self.text_side(all_texts)
        else:
            embeddings = encode_short(self.model, self.tokenizer(all_texts).to(self.device)).float()
        split: Sequence[Tensor] = embeddings.split([len(some) for some in texts])  # type: ignore[no-untyped-call]
        return split

    def _embed_videos(self, batch: Batch) -> Tensor | None:
        """Look up the videos' embeddings, or encode and pool their frames; None without videos."""
        if batch.frames is None:
            return (
                None
                if self.videos is None or batch.rows is None
                else self.stored_videos(batch.rows)
            )
        preprocess = self.model.visual.preprocess_cfg
        frames = torch.from_numpy(batch.frames).to(
            self.device, non_blocking=True
        )  # (b, F, S, S, 3)
        pixels = normalise_frames(frames.flatten(0, 1), preprocess["mean"], preprocess["std"])
        pixels = pixels.contiguous(memory_format=torch.channels_last)
        of_frames = self.model.encode_image(
            pixels, normalize=self.card.pooling.normalises_frames
        ).float()
        return distributed.gather(
            self.pooling(of_frames.unflatten(0, frames.shape[:2])).float()
        )  # (B, D)

    @property
    def stores_videos(self) -> bool:
        """True if all clips are embedded beforehand, by a frozen visual tower."""
        return self.videos is not None

    def stored_videos(self, rows: NDArray[np.int64] | Tensor) -> Tensor:
        """Look up videos' embeddings under a frozen visual tower: (n, D)."""
        assert self.videos is not None, "the loop sets them before the first step"
        embeddings: Tensor = self.head(self.videos[torch.as_tensor(rows)])
        return embeddings.float()

    def pool_frames(self, rows: NDArray[np.int64], frames: NDArray[np.int64]) -> Tensor:
        """Pool stored frames, given by (n, F) rows of clips and numbers of frames in them: (n, D)."""
        assert self.frames is not None, (
            "inputs that read frames are refused without a frozen visual tower"
        )
        pooled: Tensor = self.pooling(self.frames[torch.from_numpy(rows), torch.from_numpy(frames)])
        return pooled.float()

    def prepare_tokens(self, texts: Iterable[str]) -> None:
        """Initialise token rows: zero those that no text of any process uses or, given a base, start new tokens small.

        Unused rows get no gradient and no decay: they stay zero, compress to almost nothing and
        mark unseen tokens. CLIP's padding is among them; no embedding depends on it. `keep_tokens`
        freezes what the base has learned.
        """
        if not self.config.encoder.trains_text:
            return
        table = token_embeddings(self.model)
        ids = {
            *special_ids(self.tokenizer),
            *(token for text in texts for token in self.tokenizer.encode(text)),
        }
        is_used = torch.zeros(len(table), dtype=torch.uint8).index_fill_(
            0, torch.tensor(list(ids)), 1
        )
        used = distributed.union(is_used.to(self.device)).nonzero().flatten().cpu()
        with torch.no_grad():
            if self.base is None:
                rows = table[used]
                table.zero_()
                table[used] = rows
                return
            new = used[~table[used].any(dim=1).cpu()]
            table[new] = NEW_TOKEN_STD * torch.randn(len(new), table.shape[1]).to(table)
        if self.config.encoder.keep_tokens and not len(new):
            table.requires_grad_(False)
        elif self.config.encoder.keep_tokens:
            learns = torch.zeros_like(table[:, :1]).index_fill_(0, new.to(table.device), 1.0)
            table.register_hook(lambda gradient: gradient * learns)  # type: ignore[no-untyped-call]

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
        card = configured(
            identified(card, self.model, self.tokenizer),
            self.config.encoder.model_cfg,
            self.preprocess,
        )
        return OpenClipEncoder(
            self.model, self.tokenizer, card, pooling=self.pooling, text_side=self.text_side
        )

    def frozen_encoder(self) -> OpenClipEncoder:
        """Wrap the model without a pooling that learns: videos are then their frames' embeddings (..., F, D)."""
        return self.encoder().unpooled() if self.head is self.pooling else self.encoder()

    @property
    def state(self) -> dict[str, float]:
        return {**super().state, "logit_scale": float(self.model.logit_scale.detach().exp())}


def has_bf16(device: str) -> bool:
    """Return True if the processor supports bf16 natively; where it is emulated, fp32 is faster."""
    is_on_gpu = device == "cuda"
    return (
        torch.cuda.is_bf16_supported(False) if is_on_gpu else torch.cpu._is_avx512_bf16_supported()
    )


def prepared(model: Any, config: TrainConfig) -> Any:
    """Freeze the towers that are not trained; the temperature always learns, and so does a pooling that can."""
    model.visual.to(memory_format=torch.channels_last)  # 1.2 times faster
    for name, parameter in model.named_parameters():
        tower = "visual" if name.startswith("visual.") else "text"
        if config.encoder.train not in ("all", tower) and name != "logit_scale":
            parameter.requires_grad_(False)
    if config.optimization.gradient_checkpointing:
        model.set_grad_checkpointing()
    if config.encoder.trains_visual:
        model.visual = joined_norms(model.visual)
    return model


def joined_norms(tower: nn.Module) -> nn.Module:
    """Let BatchNorm see the batch of all processes, as it would in one; torch can do so on GPUs only."""
    if distributed.world_size() == 1 or not any(
        isinstance(module, _BatchNorm) for module in tower.modules()
    ):
        return tower
    if torch.cuda.is_available():
        synchronised: nn.Module = nn.SyncBatchNorm.convert_sync_batchnorm(tower)  # type: ignore[no-untyped-call]
        return synchronised
    logger.warning(
        "BatchNorm sees one process's share of a batch: this is not what one process would learn."
    )
    return tower
