"""Training config: read, changed and checked here once, so that a run carries a finished object. Imports no torch."""

import dataclasses
import json
from collections.abc import Mapping
from contextlib import suppress
from copy import deepcopy
from dataclasses import asdict, dataclass, fields, replace
from functools import cache, cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from pydantic import Field, TypeAdapter, ValidationError

from nt2vr.datasets.covr import covr_name
from nt2vr.datasets.features import find_features
from nt2vr.datasets.files import Files
from nt2vr.datasets.load import kind_and_path, load_dataset
from nt2vr.errors import MAX_QUOTED, ConfigError, quoted
from nt2vr.files import parse_json, with_schema, without_schema, write_json
from nt2vr.models.card import Card, read_card, remedy
from nt2vr.models.catalog import Catalog
from nt2vr.models.checkpoint import read_configs
from nt2vr.models.framing import Framing
from nt2vr.negation.generate.denials import DenialKind
from nt2vr.negation.generate.verb_changes import Rule
from nt2vr.settings import Settings, resolve_path
from nt2vr.world import WORLD

T = TypeVar("T")
MUST = {  # by pydantic's type of error
    "int_type": "be a whole number",
    "float_type": "be a number",
    "finite_number": "be a finite number",
    "bool_type": "be true or false",
    "string_type": "be text",
    "dict_type": 'be a mapping such as {{"weight": 1.0}}',
    "literal_error": "be {expected}",
    "greater_than": "be above {gt:g}",
    "greater_than_equal": "be at least {ge:g}",
    "less_than_equal": "be at most {le:g}",
}
Count = Annotated[int, Field(ge=1)]
Whole = Annotated[int, Field(ge=0)]
AnySize = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
PositiveOrInfinite = Annotated[float, Field(gt=0)]
Share = Annotated[float, Field(gt=0, le=1)]
ShareOrNone = Annotated[float, Field(ge=0, le=1)]


def option(default: T, text: str) -> T:
    """Declare a dataclass field with its default and help text; instances share a default mapping."""
    if isinstance(default, Mapping):
        return dataclasses.field(default_factory=lambda: default, metadata={"help": text})
    return dataclasses.field(default=default, metadata={"help": text})


def help_of(kind: type) -> dict[str, str]:
    """Return the help text of every field of a dataclass; fields of a loss of one's own may have none."""
    return {one.name: one.metadata.get("help", "") for one in fields(kind)}


@cache
def _adapters(kind: type) -> dict[str, TypeAdapter[Any]]:
    hints = get_type_hints(kind, include_extras=True)
    return {one.name: TypeAdapter(hints[one.name]) for one in fields(kind)}


def check_values(kind: type, values: Mapping[str, Any], of: str = "") -> None:
    """Raise a ConfigError for a value that is no field of a dataclass, or not of its type or range."""
    adapters = _adapters(kind)
    for name, value in values.items():
        if name not in adapters:
            known = ", ".join(sorted(adapters))
            raise ConfigError(f"There is no setting {quoted(name)}{of}. Choose among: {known}.")
        try:
            adapters[name].validate_python(value, strict=True)
        except ValidationError as error:
            problem = error.errors()[0]
            key = ".".join([name, *(str(part) for part in problem["loc"] if part != "[key]")])
            must = MUST.get(problem["type"], problem["msg"].removeprefix("Input should "))
            must = must.format(**problem.get("ctx", {}))
            raise ConfigError(f"{key}{of} must {must}, not {quoted(problem['input'])}.") from None


def read_settings(kind: type[T], values: Mapping[str, Any], of: str = "") -> T:
    """Build a dataclass of settings; `of` says in errors whose they are: " of the loss bnl"."""
    check_values(kind, values, of)
    return kind(**values)


@dataclass(frozen=True)
class WordSettings:
    """Settings of a text side that reads words, as in W2VV++ and SEA; the defaults are the papers'."""

    spaces: Literal["one", "each"] = option("one", "one space for all three encoders (W2VV++), or one for each (SEA)")
    size: Count = option(2048, "length of an embedding in a space")
    states: Count = option(1024, "width of the GRU")
    least: Count = option(5, "how often captions must have a word for the bag of words and the GRU to know it")
    vectors: str = option("", "a BigFile folder, or a word2vec file (.bin or text); empty for PPMI of the captions")
    vector_size: Count = option(500, "length of word vectors made of the captions")

    @property
    def number(self) -> int:
        return 1 if self.spaces == "one" else 3


@dataclass(frozen=True)
class FusionSettings:
    """Settings of a fusion's training in addition to those of every run."""

    hidden: Whole = option(0, "units of a hidden layer; 0 for a linear fusion")
    blocks: Whole = option(0, "blocks of cross-attention over the text's tokens and the reference's frames; or 0")
    iterate: Literal["families", "targets", "triplets"] = option(
        "targets", "what a step draws: families of the world, triplets in turn, or one triplet per distinct target"
    )
    random_clips: Whole = option(1_000, "further candidates per step, of other families")
    temperature: Positive = option(0.02, "divides cosines")
    loss: Literal["info_nce", "hn_nce"] = option("info_nce", "loss")
    hn_nce: Literal["as_published", "as_code"] = option(
        "as_published", "form of hn_nce: of CoVR's paper, though with fixed alpha and temperature, or of its code"
    )
    weigh_frames: bool = option(False, "weigh targets' frames by similarity to the wanted part; of the world only")

    def __post_init__(self) -> None:
        if self.hn_nce != "as_published" and self.loss != "hn_nce":
            raise ConfigError(f"The loss is {self.loss}, which has no form {self.hn_nce!r}. Choose the loss hn_nce.")

    def fits(self, is_world: bool) -> bool:
        return (self.iterate == "families") == is_world and (is_world or not self.weigh_frames)


PRESETS = Path(__file__).parent / "configs"
Towers = Literal["all", "text", "visual", "head", "fusion"]
Means = Literal["base", "mean", "raw_mean", "query_scored"]
Learnt = Literal["seqTransf", "unit_seqTransf", "attention", "projected", "unit_projected"]
OfVideos = Literal["original/MIR", "original/R@1", "original/R@5", "original/R@10"]
OfDenying = Literal[
    "composed/MIR", "composed/hard_pairs", "without/MIR", "without/hard_pairs", "not/auc", "negated/delta_MIR"
]
# of distillation on captions alone; no videos are searched
OfText = Literal["text/order_if_kept", "text/order", "text/target", "text/kept", "text/idioms"]
OfFusion = Literal["fusion/R@1", "fusion/R@5", "fusion/R@10"]  # queries of a picture plus a text
Metric = Literal[OfVideos, OfDenying, OfText, OfFusion]  # validation metrics that patience can watch; higher is better
METRICS: tuple[str, ...] = get_args(Metric)

# A small ResNet and a small text transformer with CLIP's tokenizer: 12.4 million weights, 9.5 of them token rows
SMALL_MODEL: dict[str, Any] = {
    "embed_dim": 192,
    "vision_cfg": {"image_size": 112, "layers": [1, 1, 1, 1], "width": 16},
    "text_cfg": {"context_length": 40, "vocab_size": 49408, "width": 192, "heads": 4, "layers": 4},
}
OPEN_CLIP_LAYERS = 12  # default of a text transformer whose configuration omits the number
MODEL_KEYS = {"embed_dim", "vision_cfg", "text_cfg"}
SentenceKind = Literal[DenialKind, "list", "except", "place"]  # the last three by the built-in world's grammar
SENTENCES: dict[SentenceKind, float] = {"composed": 0.4, "without": 0.3, "not": 0.15, "negated": 0.15}
# losses that must know what each clip shows, as only the built-in world tells; those that videos are not needed for
OF_WORLD, OF_CAPTIONS = frozenset({"composed", "labels", "order"}), frozenset({"distill"})
# presets that fit data of one's own
FOR_VIDEOS = ("own-videos", "clip-star", "clip-bnl", "paper-bnl")
FOR_CAPTIONS = ("teach-text",)
CAPTION_SUFFIXES = (".csv", ".json")  # of dataset files, which locate their videos


@dataclass(frozen=True)
class TrainConfig:
    """One training run; every field has a help text. The defaults train the built-in CLIP."""

    name: str = option("CLIP", "display name of the model")
    base: str = option(
        "",
        "model to start from; its name, such as ViT-B-32/openai, or the folder of an open_clip checkpoint; empty for "
        "random weights",
    )
    train: Towers = option(
        "all",
        "part that learns. With text, the visual tower is frozen: videos are embedded once, from all their "
        "frames, and checkpoints can be searched with the base's index. With visual, the text tower is frozen. "
        "With head, both are, and only the pooling learns. With fusion, only a fusion of pictures and texts learns",
    )
    keep_tokens: bool = option(
        False,
        "freeze the base's token embeddings. What is learned about negation then goes into the layers, and also "
        "holds for words that no training sentence negates",
    )
    keep_head: bool = option(
        False,
        "freeze the base's pooling, so that checkpoints can be searched with the base's index",
    )
    added_layers: Whole = option(
        0, "layers to add to the base's text transformer, evenly spaced; they change nothing until they learn"
    )
    model: Mapping[str, Any] = option(
        {},
        "open_clip model configuration; empty for the base's own or, without a base, the small built-in model. "
        "Its image size sets the frame size",
    )
    words: Mapping[str, Any] = option(
        {},
        "text side that replaces the text tower, and reads words as W2VV++ and SEA do: a bag of words, word "
        "vectors and a GRU. Its settings: spaces (one, or each), size of a space, states of the GRU, least number "
        "of occurrences of a word, and vectors (a BigFile folder or a word2vec file; if empty, vectors of "
        "vector_size numbers are made from the captions)",
    )
    features: str = option(
        "", "BigFile folder to read instead of frames, by its name in the dataset's folder; needs words"
    )
    fusion: Mapping[str, Any] = option(
        {},
        "settings of a fusion, if train is fusion: loss (hn_nce or info_nce), its temperature, iterate (targets, "
        "where each step draws triplets with distinct targets, or triplets), hidden units (0 for a linear "
        "fusion), blocks of cross-attention over tokens and frames (0 for none), random_clips for info_nce, and "
        "hn_nce (as_published or as_code)",
    )
    losses: Mapping[str, Mapping[str, Any]] = option(
        {"contrastive": {"weight": 1.0}}, "losses by name, each with its weight and its own settings"
    )
    sentences: Mapping[SentenceKind, AnySize] = option(
        SENTENCES,
        "share of each kind of negated sentence, for losses that need them: composed, without, not, negated, "
        "typed (the first two, as people type them), and idiom, which denies nothing (can't stop running); list, "
        "except and place, which only the built-in world's grammar makes; and fragment, which only captions give",
    )
    not_epochs: Whole = option(
        0,
        "first epochs with only the kind not, whose sentences want nothing. They teach within a few hundred steps "
        "that negation reverses a phrase; from mixed kinds, a model may never learn it",
    )
    keep_share: Share = option(1.0, "share of captions that distill holds in place, per batch; less is faster")
    free: ShareOrNone = option(
        0.0,
        "share of negated sentences made from captions, rather than by the built-in world's grammar; for that "
        "world only. Which clips fit them is unknown, so the composed loss skips them",
    )
    pool_clips: Whole = option(
        1024,
        "random clips per step to compare negated sentences with, in addition to the batch's. The con loss also "
        "picks its distractors from them (0: from all clips). Used only while the visual tower is frozen",
    )
    hard_clips: Whole = option(
        2,
        "hard clips per sentence, which show both its wanted and its unwanted part; used only while the visual "
        "tower is frozen",
    )
    verb_changes: str = option(
        "rules",
        "how captions get another verb, for vfc; by rules, or as controls by antonym or at random; or a file that "
        "`nt2vr queries verbs` wrote",
    )
    verb_negatives: Whole = option(5, "changed captions per caption and step, of up to 10 with another verb")
    calibrate: bool = option(
        True,
        "balance verbs in changed captions; keep one only while each of its verb phrases has been kept less often "
        "than it occurs in captions",
    )
    data: str = option(
        WORLD,
        "training data; world for the built-in one, or the path of a dataset. For distill alone, which needs no "
        "videos, also a file of captions in any query-set format. For a fusion, the folder of WebVid-CoVR, CIRR "
        "or FashionIQ, or of videos with a file *triplets*.jsonl",
    )
    num_clips: Count = option(
        32_000,
        "training clips, or captions if only these are read; for a dataset, at most this many. For a fusion, "
        "triplets, or families of the built-in world",
    )
    add_world: bool = option(
        False, "fill up with captions of the built-in world, if the data has fewer than num_clips; for distill alone"
    )
    add_model: bool = option(
        False,
        "add the best epoch to the models when finished, as “BASE taught”; only for a run in the data folder's runs",
    )
    num_captions: Whole = option(
        0,
        "most captions per epoch of a dataset, each taken once, as in the paper. 0 draws one caption per clip and "
        "pass. Validation searches with all captions of the held-out clips",
    )
    num_frames: Count = option(4, "frames stored per clip; the trained model also expects as many per video")
    positions: Literal["base", "centres", "ends"] = option(
        "base",
        "where frames are taken from a video; the centres of equal segments, or evenly spaced with both ends, as in "
        "nT2VR's code, or as for the base. Without a base, base means centres",
    )
    pooling: Literal[Means, Learnt] = option(
        "base",
        "how frames become one vector; their mean, or raw_mean, without normalising them first, as in nT2VR's "
        "code; or as for the base. Without a base, base means mean. seqTransf learns (CLIP4Clip's, which knows "
        "the order of frames), and so do unit_seqTransf, the same over normalised frames, and attention. "
        "projected and unit_projected need words. query_scored learns like mean, and searches with frames "
        "weighted by each query",
    )
    frames_per_step: Count = option(1, "random frames per clip and step, kept in order")
    flip: bool = option(True, "mirror clips at random; turn it off if captions mention left or right")
    validation_clips: Count = option(
        1_000, "held-out clips searched after each epoch; data without a validation split has at most 1,000"
    )
    epochs: Count = option(16, "number of epochs; each ends with validation and a checkpoint")
    passes: Count = option(1, "passes per epoch over the clips, each with newly drawn captions, or over the captions")
    patience: Whole = option(0, "epochs without improvement before the run stops; 0 for never (the paper: 2)")
    monitor: Metric = option(
        "original/MIR", "validation metric that decides which epoch is best; patience goes by it too"
    )
    keep_checkpoints: Whole = option(0, "newest checkpoints to keep, along with the best; 0 keeps all")
    batch_size: int = option(
        128, "clips per batch; each caption's negatives are the batch's other videos. Several processes share a batch"
    )
    accumulate: Count = option(1, "batches per optimizer step; their gradients are averaged")
    optimizer: Literal["adamw", "rmsprop"] = option("adamw", "AdamW or the paper's RMSProp")
    learning_rate: Positive = option(1e-3, "peak learning rate, reached after warmup_steps")
    head_learning_rate: AnySize = option(0.0, "learning rate of a pooling that learns; 0 for the same as the towers")
    schedule: Literal["cosine", "exponential"] = option(
        "cosine",
        "how the learning rate falls after warm-up; cosine, down to 0, or exponential (the paper's), by the "
        "factor decay every epoch",
    )
    decay: Positive = option(0.99, "learning-rate factor per epoch, if the schedule is exponential")
    weight_decay: AnySize = option(0.05, "weight decay, applied to matrices only")
    warmup_steps: Whole = option(60, "steps until the learning rate peaks; it rises linearly")
    max_grad_norm: PositiveOrInfinite = option(1.0, "maximum gradient norm; longer gradients are clipped to it")
    loss_scale: Positive = option(
        1.0,
        "factor of the loss during clipping, divided out afterwards. The gradient norm is then at most "
        "max_grad_norm / loss_scale, as in nT2VR's code, where the scale of fp16 starts at 65536",
    )
    precision: Literal["auto", "fp32", "bf16"] = option(
        "auto", "number format; bf16 is 2 to 10 times faster on processors that support it; auto uses it there"
    )
    gradient_checkpointing: bool = option(
        False,
        "save memory, at the cost of time: compute activations again in the backward pass; for transformers only",
    )
    seed: int = option(0, "random seed of weights, clips, captions and order")
    log_every: Count = option(20, "steps between two lines of metrics")
    tensorboard: bool = option(
        False, "also write metrics for TensorBoard, into RUN/tensorboard; needs the package tensorboard"
    )
    logger: Literal["", "trackio", "wandb"] = option(
        "", "also send metrics to Trackio or Weights & Biases, wherever that is set up to; needs its package"
    )

    def __post_init__(self) -> None:
        check_values(TrainConfig, vars(self))
        _ = self.word_settings  # refuses what it cannot read
        if problem := problem_of(self):
            raise ConfigError(problem)

    @cached_property
    def word_settings(self) -> WordSettings | None:
        """Settings of a text side that reads words; None for the text tower."""
        return read_settings(WordSettings, self.words, " of words") if self.words else None

    @cached_property
    def fusion_settings(self) -> FusionSettings | None:
        """Settings of a fusion's training; None if none is trained."""
        if self.train != "fusion":
            return None
        iterate = "families" if self.data == WORLD else "targets"
        return read_settings(FusionSettings, {"iterate": iterate, **self.fusion}, " of the fusion")

    @property
    def loss_names(self) -> list[str]:
        """Names of the losses in the metrics."""
        return [self.fusion_settings.loss] if self.fusion_settings else [*self.losses]

    @property
    def base_folder(self) -> Path | None:
        """The checkpoint folder to start from, "~" and shipped "assets/…" resolved; None for random weights."""
        return resolve_path(self.base) if self.base else None

    @cached_property
    def model_cfg(self) -> Mapping[str, Any]:
        """Complete model configuration: `model` if set, otherwise the base's with added layers, or `SMALL_MODEL`."""
        if self.model or self.base_folder is None:
            return self.model or SMALL_MODEL
        return deeper(self._base_configs[0], self.added_layers)

    @cached_property
    def _base_configs(self) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        if self.base_folder is None:
            return {}, {}
        try:
            return read_configs(self.base_folder)
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise ConfigError(f"The base {self.base} cannot be read ({error}). {remedy(self.base_folder)}") from error

    @property
    def image_size(self) -> int:
        size = self.model_cfg["vision_cfg"].get("image_size", 224)
        if not isinstance(size, int):
            raise ConfigError(f"image_size must be one number of pixels, not {quoted(size)}.")
        return size

    @property
    def framing(self) -> Framing:
        """Framing of the base, or open_clip's default, with this config's frame positions."""
        return replace(Framing.of(self._base_configs[1], self.image_size), positions=self.card_positions)

    @cached_property
    def card_positions(self) -> str:
        """Frame positions by their name on the card."""
        if self.positions != "base":
            return self.positions
        return read_card(self.base_folder).positions if self.base_folder else Card.positions

    @property
    def trains_text(self) -> bool:
        return self.train in ("all", "text")

    @property
    def trains_visual(self) -> bool:
        return self.train in ("all", "visual")

    @property
    def steps_per_epoch(self) -> int:
        return self.batches_per_epoch // self.accumulate

    @property
    def batches_per_epoch(self) -> int:
        """Full batches per epoch; a smaller last one would be an easier task and is dropped."""
        return self.passes * ((self.num_captions or self.num_clips) // self.batch_size)


def deeper(model_cfg: Mapping[str, Any], added_layers: int) -> dict[str, Any]:
    """Return an open_clip configuration with `added_layers` more layers in its text transformer."""
    text_cfg = model_cfg["text_cfg"]
    layers = text_cfg.get("layers", OPEN_CLIP_LAYERS) + added_layers
    return {**model_cfg, "text_cfg": {**text_cfg, "layers": layers} if added_layers else text_cfg}


CHOICES = {key: get_args(hint) for key, hint in get_type_hints(TrainConfig).items() if get_origin(hint) is Literal}


def problem_of(c: TrainConfig) -> str:
    """Return a sentence that says why no training can start from a config; "" if one can."""
    themes = (_about_names, _about_numbers, _about_towers, _about_fusion, _about_base, _about_sentences)
    return next(filter(None, (theme(c) for theme in themes)), "")


def _about_names(c: TrainConfig) -> str:
    if not c.name.strip() or len(c.name) > MAX_QUOTED or not c.name.isprintable():
        return f"The name of the model must have 1 to {MAX_QUOTED} printable characters."
    if not c.data.strip():
        return "data is empty. Enter world, or the path of a dataset."
    if not c.verb_changes.strip():
        return "verb_changes is empty. Enter rules, antonym, random, or a file."
    if c.model and MODEL_KEYS - set(c.model):
        return "The model must have embed_dim, vision_cfg and text_cfg."
    return ""


def _about_numbers(c: TrainConfig) -> str:
    if not sum(c.sentences.values()) > 0:
        return "At least one of the shares of sentences must be above 0."
    if not 2 <= c.batch_size <= c.num_clips:
        return f"batch_size must be from 2 to the number of clips or captions ({c.num_clips}), not {c.batch_size}."
    if c.num_captions and (c.data == WORLD or c.batch_size > c.num_captions):
        return f"num_captions is for datasets and at least batch_size ({c.batch_size}), not {c.num_captions}. Set 0."
    if c.steps_per_epoch < 1:
        return f"accumulate ({c.accumulate}) must not exceed the batches of an epoch ({c.batches_per_epoch})."
    if c.frames_per_step > c.num_frames:
        return f"frames_per_step ({c.frames_per_step}) must not exceed num_frames ({c.num_frames})."
    return ""


def _about_towers(c: TrainConfig) -> str:
    if not c.base and c.train != "all":
        return f"train is {c.train}, which needs a base whose other towers can be frozen. Name one."
    if bool(c.words) != (c.pooling in ("projected", "unit_projected")) or (c.words and c.train != "head"):
        return "words needs train head, and the pooling projected or unit_projected, which nothing else has. Set all."
    if c.features and (not c.words or c.data == WORLD):
        return "features needs words, and as data a dataset that has them. See the presets paper-w2vvpp and paper-sea."
    return ""


def _about_fusion(c: TrainConfig) -> str:
    if bool(c.fusion) != (c.train == "fusion") or (c.fusion and c.losses):
        return "fusion needs train fusion, which needs the settings fusion and no other losses. See the preset fusion."
    if c.fusion_settings and not c.fusion_settings.fits(is_world=c.data == WORLD):
        return (
            "fusion.iterate is families for the built-in world, and targets or triplets for a dataset, whose frames "
            "are not weighed. Leave iterate and weigh_frames out."
        )
    if (c.train == "fusion") != c.monitor.startswith("fusion/"):
        return (
            f"monitor is {c.monitor}, but of a fusion, and of it alone, fusion/R@1, /R@5 and /R@10 are measured. "
            "Choose another."
        )
    return ""


def _about_base(c: TrainConfig) -> str:
    if c.keep_tokens and not c.base:
        return "keep_tokens needs a base whose tokens can be frozen. Name one."
    if c.keep_head and (not c.base or c.train not in ("text", "visual")):
        return "keep_head needs a base whose pooling can be frozen while a tower learns. Set base, and train to text."
    if c.added_layers and not (c.base and c.trains_text):
        return "added_layers needs a base, and a text tower that learns. Set it to 0."
    return ""


def _about_sentences(c: TrainConfig) -> str:
    kinds = {*filter(c.sentences.get, c.sentences)}
    if "distill" in c.losses and kinds == {"idiom"}:
        return "distill needs sentences that deny something, which idioms do not. Give another kind a share."
    if c.keep_share != 1 and not set(c.losses) <= {"distill", "composed"}:
        return "keep_share is for distill and composed, as other losses need all captions. Set it to 1."
    if c.not_epochs and not c.sentences.get("not"):
        return 'not_epochs needs sentences of the kind "not". Give them a share, or set it to 0.'
    if c.data == WORLD and c.free != 1 and kinds == {"fragment"}:
        return "The built-in world's grammar makes no fragments. Add another kind of sentences, or set free to 1."
    return ""


def preset_names() -> list[str]:
    return sorted(path.stem for path in PRESETS.glob("*.json"))


def preset_or_file(path: Path) -> Path:
    """Return the config file itself, or the preset of that name; a folder of that name hides no preset."""
    if path.is_file():
        return path
    preset = PRESETS / f"{path}.json"
    if not preset.is_file():
        names = ", ".join(preset_names())
        raise ConfigError(
            f"{quoted(str(path))} is neither a config file nor a preset. Name a file or one of: {names}."
        )
    return preset


def load_config(path: Path, changes: Mapping[str, Any] = MappingProxyType({})) -> TrainConfig:
    """Read a config; fields left out have their defaults, and `changes` are values by key: losses.bnl.m4."""
    try:
        data = parse_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path} cannot be read as JSON ({error}). Name a config file.") from error
    if not isinstance(data, dict):
        raise ConfigError(f"{path} must hold one JSON object.")
    config = build_config(without_schema(data, path))
    return build_config(changed(asdict(config), changes)) if changes else config


def build_config(data: Mapping[str, Any]) -> TrainConfig:
    """Build a config from JSON values; a ConfigError names what is unknown or unusable."""
    return read_settings(TrainConfig, data)


def save_config(config: TrainConfig, path: Path) -> None:
    write_json(path, with_schema(asdict(config)), indent=2)


def changed(data: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of a config's data with other values by key, which may be dotted: losses.bnl.m4."""
    result = deepcopy(dict(data))
    for key, value in changes.items():
        place = result
        *parents, last = key.split(".")
        for parent in parents:
            place = place.setdefault(parent, {})
            if not isinstance(place, dict):
                raise ConfigError(f"{quoted(key)} is no setting: {parent} has no parts. Correct the key.")
        place[last] = value
    return result


def parse_change(text: str) -> tuple[str, Any]:
    """Parse KEY=VALUE; the value is JSON, a number such as -.1, or a plain string."""
    key, equals, value = text.partition("=")
    if not (key and equals):
        raise ConfigError(f"Expected KEY=VALUE, not {quoted(text)}.")
    return key, parse_value(value)  # which may be empty: base= is random weights


def parse_value(text: str) -> Any:
    """Parse JSON, a number such as -.1, or a plain string."""
    for read in (json.loads, float):
        with suppress(ValueError):
            return read(text)
    return text


def resolved(config: TrainConfig, data_dir: Path | None = None) -> TrainConfig:
    """Make paths absolute, so that the run finds its files from anywhere, and check that base and data can serve.

    The base may be the name of a model of the data folder. An error refuses data, and names presets that fit it.
    """
    kind, colon, data = config.data.partition(":") if kind_and_path(config.data)[0] else ("", "", config.data)
    config = replace(
        config,
        base=_base_folder(config.base, data_dir),
        words={key: _absolute(value) if key == "vectors" else value for key, value in config.words.items()},
        data=config.data if config.data == WORLD else f"{kind}{colon}{_absolute(data)}",
        verb_changes=config.verb_changes if config.verb_changes in get_args(Rule) else _absolute(config.verb_changes),
    )
    if config.base_folder and (card := read_card(config.base_folder)).clip:
        raise ConfigError(f"{card.name} takes whole clips. Only open_clip's models are trained: choose one of those.")
    if config.data != WORLD:
        _check_data(config)
    return config


def names_files(config: TrainConfig) -> bool:
    return config.verb_changes not in get_args(Rule) or bool(config.words.get("vectors"))


def is_captions_file(path: Path) -> bool:
    """Return True for a file of captions without videos: a query set or plain text, but not a dataset's own file."""
    if not path.is_file() or path.suffix.lower() in CAPTION_SUFFIXES:
        return False
    with suppress(ValueError, TypeError, OSError), path.open(encoding="utf-8-sig") as file:
        return "path" not in parse_json(next(filter(str.strip, file), "{}"))
    return True


def _base_folder(base: str, data_dir: Path | None) -> str:
    """Return the folder of a base, which may be the name of a model, in any letter case."""
    if not base or resolve_path(base).is_absolute() or resolve_path(base).exists():
        return _absolute(base)
    models = Catalog.of(Settings.read(data_dir))
    if not models.named(base):
        raise ConfigError(
            f"No model or checkpoint folder is called {quoted(base)}. `nt2vr models list` has names; "
            f'`nt2vr models add "{base}"`, or “More models” in Search, downloads a model of open_clip\'s.'
        )
    return str(models.folder(base).absolute())


def _absolute(path: str) -> str:
    return path if not path or resolve_path(path).is_absolute() else str(Path(path).absolute())


def _check_data(config: TrainConfig) -> None:
    path = kind_and_path(config.data)[1]
    if config.train == "fusion":
        covr_name(Files(path))
        return
    if not path.exists():
        raise ConfigError(f"{config.data} is not there. Name world, a captions file or the folder of a dataset.")
    is_captions, of_videos = is_captions_file(path), sorted(config.losses.keys() - OF_CAPTIONS)
    fit = " or ".join(FOR_CAPTIONS if is_captions else FOR_VIDEOS)
    if of_world := sorted(OF_WORLD & config.losses.keys()):
        raise ConfigError(
            f"{', '.join(of_world)} must know what each clip shows, as only the built-in world tells. "
            f"For {path.name}, choose the preset {fit}, or other losses."
        )
    if not of_videos:
        return
    if is_captions:
        raise ConfigError(
            f"{path.name} has captions but no videos, which {', '.join(of_videos)} cannot do without. "
            f"Choose the preset {fit}, or name a dataset with videos."
        )
    if config.features:
        find_features(path, config.features)
    videos = load_dataset(config.data, "train", with_files=not config.features).videos
    if len(videos) < config.batch_size:
        raise ConfigError(
            f"{path.name} has {len(videos)} clips to train on, too few for a batch_size of {config.batch_size}. "
            "Make it smaller."
        )
