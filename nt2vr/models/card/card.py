"""The model card, nt2vr.json: the metadata of a checkpoint."""

import json
import shlex
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, FiniteFloat, TypeAdapter, ValidationError

from nt2vr.errors import CheckpointError, ConfigError, quoted
from nt2vr.files import parse_json, with_schema, without_schema, write_json
from nt2vr.models.capabilities import Capabilities
from nt2vr.models.framing import BICUBIC, CENTRES, DEFAULT_SIZE, SHORTEST, Framing, text_settings, visual_settings

MEAN, RAW_MEAN, QUERY_SCORED = "mean", "raw_mean", "query_scored"
SEQUENCE, UNIT_SEQUENCE, ATTENTION = "seqTransf", "unit_seqTransf", "attention"
PROJECTED, UNIT_PROJECTED = "projected", "unit_projected"
FIXED = (MEAN, RAW_MEAN, QUERY_SCORED)  # by the mean; for a query-scored model it finds candidates
INTO_SPACES = (PROJECTED, UNIT_PROJECTED)
LEARNT = (SEQUENCE, UNIT_SEQUENCE, ATTENTION, *INTO_SPACES)
POOLINGS = (*FIXED, *LEARNT)
OF_RAW = (RAW_MEAN, SEQUENCE, PROJECTED)  # poolings of frames as the tower returns them
WEIGHTS = "open_clip_model.safetensors"
DIFFERENCE = "difference.safetensors"  # instead of WEIGHTS: the tensors that its base does not have
HEAD = "head.safetensors"  # weights of a pooling that learns
WORDS = "words.safetensors"  # weights of a text side that reads words
FUSION = "fusion.safetensors"  # weights of a trained fusion
MAX_HEAD = 1 << 30  # bytes: 0.2 GB for four layers at 1,024 dimensions in float32
DRAWINGS = "built-in world"  # in `data` of models trained on drawings
CARD, CONFIG = "nt2vr.json", "open_clip_config.json"
IMPORTED = "imported from "  # begins the `base` of a model of which nothing else is known
DERIVED = ("resize_mode", "interpolation", "fill_color", "visual_settings", "text_settings", "precision")


@dataclass(frozen=True)
class Card:
    """Metadata of a model, stored in nt2vr.json; DERIVED follow from open_clip_config.json, and from the device.

    Attributes:
        base: name of the model that training started from; empty for random weights. Of an imported model whose files
            do not say it, IMPORTED and the name of the file.
        image_size: side of a frame in pixels; stored, so that frames can be decoded before torch is imported.
        pooling: name in `POOLINGS`: how frame embeddings become a video's embedding.
        head: about the file HEAD of a pooling that learns: "fingerprint", and "heads" of attention.
        words: about the file WORDS of a text side that reads words: "fingerprint", and what its "vectors" are.
        clip: of a model that takes whole clips: its "loader", "revision", "instruction", "dimensions", "fps",
            "least" number of frames, and "framing": a `Framing`'s "width" and "resize_mode".
        features: name of the features that videos are read as, see `nt2vr.datasets.features`; empty for frames.
        losses: loss name to weight and hyperparameters.
        metrics: measured values, such as "validation/original/MIR" to 0.7.
        exclusion: settings of `nt2vr.search.strategies`, chosen on validation clips: "lambda", "t", "beta" (α of
            `rectified`), "tau", and "anchor", a list of neutral texts.
        composition: weights of covr combinations, chosen on validation data; see `nt2vr.search.references.Weights`.
        fusion: about the file FUSION, see `nt2vr.models.fusion`: "hidden" units (0: linear), "blocks" of
            cross-attention, "weights", "data", "metrics" and "fingerprint".
        difference: about the file DIFFERENCE: the whole "model" that has the other tensors, and its "fingerprint";
            empty where WEIGHTS has all.
        shifts: of a training with the loss `vfc`: how often each verb phrase (lemmas of verb and noun) was a negative,
            changed captions included, for each time that it was a positive; 1 in a batch of captions as they are.
        changes: of a run whose loss became non-finite: from which "epoch" and "step" on it was resumed at which lower
            "learning_rate".
        created: ISO 8601, UTC.
        visual_fingerprint: hash of the visual tower's weights.
        text_fingerprint: hash of the text tower's weights, and of a tokenizer of its own.
        queries: number of texts that a file of embeddings knows; 0 for a model.
        visual_settings: hash of what else changes the embedding of a frame; `text_settings`: of a text.
        precision: of the arithmetic; empty for float32.
    """

    name: Annotated[str, Field(min_length=1)]
    objective: str = ""
    base: str = ""
    frames: Annotated[int, Field(gt=0)] = 8
    image_size: int = DEFAULT_SIZE
    pooling: Annotated[str, Field(pattern=f"^({'|'.join(POOLINGS)})$")] = MEAN
    head: Mapping[str, Any] = field(default_factory=dict)
    words: Mapping[str, Any] = field(default_factory=dict)
    clip: Mapping[str, Any] = field(default_factory=dict)
    features: str = ""
    positions: Annotated[str, Field(pattern="^(centres|ends)$")] = CENTRES
    losses: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    data: str = ""
    epoch: int = 0
    metrics: Mapping[str, float] = field(default_factory=dict)
    exclusion: Mapping[str, FiniteFloat | list[str]] = field(default_factory=dict)
    composition: Mapping[str, FiniteFloat] = field(default_factory=dict)
    fusion: Mapping[str, Any] = field(default_factory=dict)
    difference: Mapping[str, str] = field(default_factory=dict)
    shifts: Mapping[str, FiniteFloat] = field(default_factory=dict)
    changes: tuple[Mapping[str, FiniteFloat | int], ...] = ()
    notes: str = ""
    created: str = ""
    visual_fingerprint: str = ""
    text_fingerprint: str = ""
    queries: int = 0
    resize_mode: str = SHORTEST
    interpolation: str = BICUBIC
    fill_color: int = 0
    visual_settings: str = ""
    text_settings: str = ""
    precision: str = ""

    @property
    def fingerprint(self) -> str:
        """Identify the weights of both towers, and a tokenizer of its own."""
        return f"{self.visual_fingerprint} {self.text_fingerprint}"

    @property
    def capabilities(self) -> Capabilities:
        """What the model can do, as far as that is known before it is loaded."""
        takes_whole_clips = bool(self.clip)
        has_given_queries = bool(self.queries)
        reads_features = bool(self.features)
        return Capabilities(
            scores_frames=not (takes_whole_clips or has_given_queries or reads_features),
            reads_seconds=takes_whole_clips,
            is_slow=takes_whole_clips,
            weighs_frames=self.pooling == QUERY_SCORED,
            reads_features=reads_features,
            given_queries_only=has_given_queries,
            has_text_tower=not (takes_whole_clips or has_given_queries or self.words),
        )

    @property
    def framing(self) -> Framing:
        """How videos become the encoder's input."""
        own = Framing(self.image_size, self.resize_mode, self.interpolation, self.fill_color, self.positions)
        return replace(own, **self.clip.get("framing", {}))

    def framed(self, framing: Framing) -> "Card":
        how = {name: getattr(framing, name) for name in ("resize_mode", "interpolation", "fill_color")}
        return replace(self, image_size=framing.size, **how)

    @property
    def visual_key(self) -> str:
        """Key of frame embeddings: everything that they depend on, except the number of frames."""
        positions = self.positions if self.positions != CENTRES else ""
        raw = "" if self.normalises_frames else "raw"
        known = (self.visual_fingerprint, self.visual_settings, self.precision, positions, raw, self.features)
        return " ".join(filter(None, (*known, self.clip_key)))

    @property
    def clip_key(self) -> str:
        return json.dumps([self.clip, self.image_size], sort_keys=True) if self.clip else ""

    @property
    def text_key(self) -> str:
        """Key of text embeddings: everything that they depend on."""
        known = (self.text_fingerprint, self.text_settings, self.precision, str(self.words.get("fingerprint", "")))
        return " ".join(filter(None, (*known, self.clip_key)))

    def check_frames(self) -> None:
        """Raise a ConfigError if the model reads features of videos, which no frame can give it."""
        if self.features:
            raise ConfigError(
                f"{self.name} reads features {quoted(self.features)} of videos, and sees no frames. Evaluate it on a "
                "dataset that has them, or choose another model."
            )

    @property
    def normalises_frames(self) -> bool:
        return self.pooling not in OF_RAW

    @property
    def unpooled(self) -> "Card":
        """The card of videos as their frames' embeddings, with one key whatever pools these."""
        return replace(self, pooling=MEAN if self.normalises_frames else RAW_MEAN, head={"fingerprint": "frames"})

    @property
    def pooling_key(self) -> str:
        """Key of pooled embeddings among those of the same frame embeddings; fit to be the name of a file."""
        return "_".join(filter(None, (self.pooling, str(self.head.get("fingerprint", "")))))

    @property
    def video_key(self) -> str:
        """Key of video embeddings; models with equal keys share them."""
        return f"{self.visual_key} {self.frames} {self.pooling_key}"


def configured(card: Card, model_cfg: Mapping[str, Any], preprocess_cfg: Mapping[str, Any]) -> Card:
    """Return the card with the fields that follow from an open_clip configuration."""
    card = card.framed(Framing.of(preprocess_cfg, card.image_size))
    visual, text = visual_settings(model_cfg, preprocess_cfg), text_settings(model_cfg)
    return replace(card, visual_settings=visual, text_settings=text)


def write_card(folder: Path, card: Card) -> None:
    data = {key: value for key, value in asdict(card).items() if key not in DERIVED}
    write_json(folder / CARD, with_schema(data), indent=2)


STORED = {each.name for each in fields(Card)} - set(DERIVED)


@cache
def _reader() -> TypeAdapter[Card]:
    return TypeAdapter(Card)


def read_card(folder: Path) -> Card:
    """Read the card of a checkpoint folder; unknown keys are ignored."""
    try:
        data = without_schema(parse_json((folder / CARD).read_text(encoding="utf-8")), folder / CARD, CheckpointError)
        card = _reader().validate_python({key: value for key, value in data.items() if key in STORED})
    except FileNotFoundError as error:
        raise CheckpointError(f"{folder} has no readable {CARD}. {remedy(folder)}") from error
    except ValidationError as error:
        where = error.errors()[0]["loc"][0]
        raise CheckpointError(
            f"{folder / CARD} has an invalid “{where}”. Correct it, or choose another one."
        ) from error
    except (OSError, ValueError, AttributeError) as error:
        raise CheckpointError(f"{folder} has no readable {CARD} ({error}). Choose a checkpoint folder.") from error
    try:
        config = parse_json((folder / CONFIG).read_text(encoding="utf-8"))
        return configured(card, config["model_cfg"], config.get("preprocess_cfg") or {})
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError, CheckpointError):
        return card  # loading the model reports a configuration that cannot be used


def remedy(folder: Path) -> str:
    """Return the advice for a missing checkpoint folder: how to download it if its name is that of a download."""
    architecture, found, tag = folder.name.partition("--")
    if folder.exists() or not found or folder.parent.name != "models":
        return "Choose a checkpoint folder."
    flag = f"--data-dir {shlex.quote(str(folder.parent.parent))}"
    return f'Download it: nt2vr models add "{architecture}/{tag}" {flag}'
