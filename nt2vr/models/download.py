"""Open_clip's pre-trained models: downloads, on request only, and the recommended ones."""

import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from nt2vr.errors import CheckpointError, ConfigError, DownloadError, Nt2vrError, quoted, reason_of
from nt2vr.files import JsonObject
from nt2vr.models.card import Card
from nt2vr.models.checkpoint import read_checkpoint, write_checkpoint
from nt2vr.models.framing import Config
from nt2vr.models.hub import SPARE_BYTES, RemoteFile, remote_files, transfer
from nt2vr.models.open_clip_model import build_model, check_towers
from nt2vr.models.options import AddOptions
from nt2vr.models.origin import Built, Origin
from nt2vr.models.tokenizer import TOKENIZER, TOKENIZER_CONFIG, load_tokenizer, needs_file
from nt2vr.progress import Progress

logger = logging.getLogger(__name__)
Speed = Literal["fast", "medium", "slow"]
# On the Hub; the first is preferred.
WEIGHT_FILES = ("open_clip_model.safetensors", "open_clip_pytorch_model.bin")
PREPROCESS = ("mean", "std", "interpolation", "resize_mode", "fill_color")
# Times the download: a model is written in float32, and may come in half precision.
CONVERTED = 3
# Mbit/s, for which the page states how long a download takes.
BANDWIDTH = 100
PE_README = "apps/pe/README.md of github.com/facebookresearch/perception_models, VTT-T2V"


@dataclass(frozen=True)
class Recommended:
    """A pre-trained model that the page offers.

    Attributes:
        name: "architecture/tag".
        size_mb: of the checkpoint folder, in float32, without a tokenizer.
        gflops: of one frame, measured with PyTorch's FlopCounterMode.
        msrvtt: zero-shot text-to-video R@1 on MSR-VTT in percent, if its authors give one.
        source: where they give it.
        remark: on what it is good for.
    """

    name: str
    size_mb: int
    gflops: float
    msrvtt: float | None = None
    source: str = ""
    remark: str = ""

    @property
    def catalog_name(self) -> str:
        return self.name.replace("/", " / ")

    @property
    def speed(self) -> Speed:
        """Tell the time that a frame takes: fast is ViT-B/32's, slow ViT-L/14's and more."""
        if self.gflops < 20:
            return "fast"
        return "medium" if self.gflops < 100 else "slow"

    @property
    def download_s(self) -> float:
        return self.size_mb * 8 / BANDWIDTH


RECOMMENDED: Sequence[Recommended] = (
    Recommended("MobileCLIP2-S2/dfndr2b", 379, 15.7, remark="small and fast"),
    Recommended("ViT-B-32/openai", 577, 8.8, remark="the base of the paper's models"),
    Recommended("ViT-B-16-SigLIP2/webli", 1431, 35.4, remark="many languages"),
    Recommended("PE-Core-B-16/meta", 1708, 35.6, 47.6, PE_README, remark="trained with videos"),
    Recommended("ViT-L-14/openai", 1631, 162.0),
    Recommended(
        "PE-Core-L-14-336/meta", 2560, 384.4, 50.3, PE_README, remark="trained with videos"
    ),
    Recommended("ViT-SO400M-14-SigLIP2/webli", 4332, 220.4, remark="many languages"),
    Recommended(
        "ViT-H-14-worldwide-quickgelu/metaclip2_worldwide",
        7091,
        334.6,
        remark="MetaCLIP 2: many languages",
    ),
)
# To those whose models know only drawings.
OFFERED = next(model for model in RECOMMENDED if model.name == "ViT-B-32/openai")


def names_pretrained(text: str) -> bool:
    """Whether a text is ARCH/TAG of an architecture that open_clip has; a tag that it lacks is a slip of the pen."""
    architecture, slash, tag = (part.strip() for part in text.partition("/"))
    if not slash or not tag or "/" in tag or architecture[:1] in ("", ".", "~"):
        return False
    import open_clip  # noqa: PLC0415  see `pretrained`

    return architecture in open_clip.list_models()


def pretrained(name: str) -> tuple[str, str]:
    """Split "architecture/tag"; refuse models that open_clip lacks, or that need transformers."""
    import open_clip  # noqa: PLC0415  takes seconds, and is needed for a download only

    architecture, _, tag = (part.strip() for part in name.partition("/"))
    tags = open_clip.list_pretrained_tags_by_model(architecture)
    if tag not in tags:
        near = [f"{architecture}/{other_tag}" for other_tag in tags] or [OFFERED.name]
        raise ConfigError(
            f"open_clip has no pre-trained model {quoted(name)}. Try {', '.join(near[:5])}."
        )
    check_towers(open_clip.get_model_config(architecture), name)
    return architecture, tag


def available() -> list[str]:
    """List open_clip's pre-trained models that can be downloaded, as "architecture/tag"."""
    import open_clip  # noqa: PLC0415  see `pretrained`

    names = []
    for architecture, tag in open_clip.list_pretrained():
        with suppress(ConfigError):
            check_towers(open_clip.get_model_config(architecture), architecture)
            names.append(f"{architecture}/{tag}")
    return names


def can_download(name: str) -> bool:
    """Ask the Hub, for a few seconds at most, whether it has the weights of one of open_clip's pre-trained models."""
    try:
        return _weights(*pretrained(name)) is not None
    except Nt2vrError:
        return False


def preprocessing(architecture: str, tag: str) -> Config:
    import open_clip  # noqa: PLC0415  see `pretrained`

    config = open_clip.get_pretrained_cfg(architecture, tag)
    return {key: config[key] for key in PREPROCESS if key in config}


@dataclass(frozen=True, kw_only=True)
class Pretrained(Origin):
    """One of open_clip's pre-trained models, "ViT-B-32/openai", with the weights that its authors published."""

    tag: str
    model_cfg: Config
    preprocess_cfg: Config
    weights: RemoteFile
    tokenizer_files: tuple[RemoteFile, ...]

    @classmethod
    def of(cls, source: str, options: AddOptions) -> "Pretrained":
        """Ask the Hub, or its cache on this machine, for the files; an Nt2vrError says why there are none."""
        architecture, tag = pretrained(source)
        title = f"{architecture} / {tag}"
        options.check_used((), title)
        model_cfg = _model_cfg(architecture, tag)
        weights = _weights(architecture, tag)
        if weights is None:
            raise DownloadError(f"{title} has no weights that can be read. Choose another model.")
        tokenizer_files = tuple(_tokenizer_files(model_cfg["text_cfg"], weights.repository, title))

        files = (weights, *tokenizer_files)
        download_bytes = sum(file.size for file in files if not file.cached)
        needed_bytes = CONVERTED * sum(file.size for file in files)
        return cls(
            title=title,
            doing=f"Downloading {title}",
            disk_bytes=needed_bytes + SPARE_BYTES,
            num_bytes=weights.size,
            announcement=(
                f"{title}: {download_bytes >> 20:,} MB to download, and up to {needed_bytes >> 20:,} MB while it is "
                "converted."
            ),
            tag=tag,
            model_cfg=model_cfg,
            preprocess_cfg=preprocessing(architecture, tag),
            weights=weights,
            tokenizer_files=tokenizer_files,
        )

    def default_name(self, hidden: Path) -> str:
        return self.title

    def bring(self, hidden: Path, progress: Progress) -> None:
        downloads = _downloads(hidden)
        doing = f"downloading {self.title}"
        for file in self.tokenizer_files:
            transfer(file, downloads, progress, doing)
        if self.weights.cached is None:
            transfer(self.weights, downloads, progress, doing)

    def build(self, hidden: Path, name: str, progress: Progress) -> Built:
        path = self.weights.cached or _downloads(hidden) / self.weights.name
        try:
            tokenizer = load_tokenizer(_downloads(hidden), self.model_cfg["text_cfg"])
            model = build_model(self.model_cfg, self.preprocess_cfg)
            _load_weights(model, path)
            card = Card(name=name, objective="contrastive", data=f"{self.tag}, by open_clip")
            configs = (self.model_cfg, self.preprocess_cfg)
            write_checkpoint(hidden, model, *configs, card, fp16=False, tokenizer=tokenizer)
            # It would stay in memory while the written one is tried out.
            del model
        except CheckpointError as error:
            raise CheckpointError(f"{self.title} was downloaded, but: {error}") from error
        return Built(read_checkpoint(hidden))


def _downloads(hidden: Path) -> Path:
    """Return where downloaded files lie before they are converted: beside the hidden folder, and removed with it."""
    return hidden.with_name(f"{hidden.name}.download")


def _load_weights(model: Any, path: Path) -> None:
    import open_clip  # noqa: PLC0415  see `pretrained`

    try:
        open_clip.load_checkpoint(model, str(path), weights_only=True)
    # Damaged files fail in many ways: in zip, pickle, safetensors, or as missing keys.
    except Exception as error:
        raise CheckpointError(
            f"{path} cannot be loaded ({reason_of(error)}). Delete it and try again."
        ) from error


def download_all(names: Sequence[str], add: Callable[[str], object]) -> None:
    """Download models one after another; failures are logged and do not stop the others."""
    for name in names:
        try:
            add(name)
            logger.info("%s is here.", name)
        except (Nt2vrError, OSError) as error:
            logger.warning("NT2VR_MODELS: %s", error)


def _model_cfg(architecture: str, tag: str) -> Config:
    import open_clip  # noqa: PLC0415  see `pretrained`

    model_cfg: JsonObject = open_clip.get_model_config(architecture)
    # The weights have an activation, not the architecture.
    config = open_clip.get_pretrained_cfg(architecture, tag)
    if "quick_gelu" in config:
        model_cfg["quick_gelu"] = config["quick_gelu"]
    return model_cfg


def _weights(architecture: str, tag: str) -> RemoteFile | None:
    """Find weights, which open_clip knows as "owner/repository/FILE" or without FILE."""
    import open_clip  # noqa: PLC0415  see `pretrained`

    hub_name = open_clip.get_pretrained_cfg(architecture, tag)["hf_hub"]
    repository, _, file_name = hub_name.rpartition("/")
    if file_name:
        return _find(repository, file_name)
    return _find(repository, *WEIGHT_FILES)


def _tokenizer_files(text_cfg: Config, repository: str, title: str) -> list[RemoteFile]:
    """Find the files of a tokenizer other than CLIP's own, where open_clip says, or with the weights."""
    if not needs_file(text_cfg):
        return []
    for place in dict.fromkeys((text_cfg["hf_tokenizer_name"], repository)):
        tokenizer = _find(place, TOKENIZER)
        if tokenizer is not None:
            config = _find(place, TOKENIZER_CONFIG)
            return [tokenizer] if config is None else [tokenizer, config]
    raise DownloadError(f"{title} has no {TOKENIZER}, in {repository}. Choose another model.")


def _find(repository: str, *names: str) -> RemoteFile | None:
    """Return the first of these files in the Hub's cache on this machine, or on the Hub."""
    import huggingface_hub as hub  # noqa: PLC0415  a quarter of a second, and needed for a download only

    for name in names:
        cached = hub.try_to_load_from_cache(repository, name)
        if isinstance(cached, str):
            return RemoteFile(repository, name, Path(cached).stat().st_size, cached=Path(cached))
    files = remote_files(repository)
    return next((files[name] for name in names if name in files), None)
