"""Downloads of open_clip's pre-trained models as checkpoint folders, on request only.

Importing this does not import torch.
"""

import logging
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tqdm import tqdm

from nt2vr.errors import CheckpointError, ConfigError, DownloadError, Nt2vrError, quoted
from nt2vr.files import check_free
from nt2vr.models.card import Card
from nt2vr.models.checkpoint import build_model, check_text_tower, load_weights, write_checkpoint
from nt2vr.models.hub_errors import hub_errors
from nt2vr.models.tokenizer import TOKENIZER, TOKENIZER_CONFIG, load_tokenizer, needs_file
from nt2vr.progress import Progress

logger = logging.getLogger(__name__)
Announce = Callable[[str], None]
CONNECT_S = 5.0  # timeout for the hub; open_clip itself would try for 50 s
WEIGHT_FILES = ("open_clip_model.safetensors", "open_clip_pytorch_model.bin")  # on the hub, the first is preferred
PREPROCESS = ("mean", "std", "interpolation", "resize_mode", "fill_color")
WEIGHT_BYTES = 4  # of a weight in float32, as which a model is written
SPARE_BYTES = 200 << 20  # left free on the disk


def pretrained(name: str) -> tuple[str, str]:
    """Split "architecture/tag"; refuse models that open_clip lacks, or that need transformers."""
    import open_clip  # noqa: PLC0415  takes seconds, and is needed for a download only

    architecture, _, tag = (part.strip() for part in name.partition("/"))
    known = {f"{a}/{t}": (a, t) for a, t in open_clip.list_pretrained()}
    if f"{architecture}/{tag}" not in known:
        near = [key for key in known if key.startswith(f"{architecture}/")] or ["ViT-B-32/openai"]
        raise ConfigError(f"open_clip has no pre-trained model {quoted(name)}. Try {', '.join(near[:5])}.")
    check_text_tower(open_clip.get_model_config(architecture), name)
    return known[f"{architecture}/{tag}"]


def available() -> list[str]:
    """List open_clip's pre-trained models that can be downloaded, as "architecture/tag"."""
    import open_clip  # noqa: PLC0415  see `pretrained`

    names = []
    for architecture, tag in open_clip.list_pretrained():
        with suppress(ConfigError):
            check_text_tower(open_clip.get_model_config(architecture), architecture)
            names.append(f"{architecture}/{tag}")
    return names


def can_download(name: str) -> bool:
    """Ask the Hub, for a few seconds at most, whether it has the weights of one of open_clip's pre-trained models."""
    import open_clip  # noqa: PLC0415  see `pretrained`

    repository, _, file = open_clip.get_pretrained_cfg(*pretrained(name))["hf_hub"].rpartition("/")
    try:
        return _find([repository], (file,) if file else WEIGHT_FILES) is not None
    except Nt2vrError:
        return False


def preprocessing(architecture: str, tag: str) -> dict[str, Any]:
    """Return open_clip's preprocessing configuration of a pre-trained model."""
    import open_clip  # noqa: PLC0415  see `pretrained`

    config = open_clip.get_pretrained_cfg(architecture, tag)
    return {key: config[key] for key in PREPROCESS if key in config}


def fetch(folder: Path, architecture: str, tag: str, progress: Progress, announce: Announce) -> None:
    """Download weights and write them as a checkpoint folder.

    A transfer that breaks off is resumed next time; one that is cancelled, or brings damaged weights, leaves nothing.
    """
    import open_clip  # noqa: PLC0415  see `pretrained`

    name = f"{architecture} / {tag}"
    config = open_clip.get_pretrained_cfg(architecture, tag)
    model_cfg, preprocess_cfg = open_clip.get_model_config(architecture), preprocessing(architecture, tag)
    if "quick_gelu" in config:  # the activation is the weights' choice, not the architecture's
        model_cfg["quick_gelu"] = config["quick_gelu"]

    def report(done: int, total: int) -> None:
        progress(done, total, f"downloading {name}")

    with _resumable(folder, name) as partial:
        weights, *others = files = _located(config["hf_hub"], model_cfg["text_cfg"], name)
        check_space(name, files, model_cfg, preprocess_cfg, folder.parent, announce)
        bar, tokenizer_folder = transfer_bar(report), partial / "tokenizer"
        for file in others:
            _transfer(file, tokenizer_folder, bar)
        path = _transfer(weights, partial, bar)
        tokenizer = load_tokenizer(tokenizer_folder, model_cfg["text_cfg"])
        model = build_model(model_cfg, preprocess_cfg)
        load_weights(model, path)
        card = Card(name=name, objective="contrastive", data=f"{tag}, by open_clip")
        write_checkpoint(folder, model, model_cfg, preprocess_cfg, card, fp16=False, tokenizer=tokenizer)
        shutil.rmtree(partial, ignore_errors=True)


@contextmanager
def _resumable(folder: Path, name: str) -> Iterator[Path]:
    """Yield the folder of a transfer; after a failure of the network it stays, with the files that are complete."""
    partial = folder.with_name(f".{folder.name}.download")
    try:
        yield partial
    except CheckpointError as error:
        shutil.rmtree(partial, ignore_errors=True)
        raise CheckpointError(f"{name} was downloaded, but: {error}") from error
    except (KeyboardInterrupt, InterruptedError):
        shutil.rmtree(partial, ignore_errors=True)
        raise


def download_all(names: Sequence[str], download: Callable[[str], str]) -> None:
    """Download models one after another; failures are logged and do not stop the others."""
    for name in names:
        try:
            logger.info("%s is here.", download(name))
        except (Nt2vrError, OSError) as error:
            logger.warning("NT2VR_MODELS: %s", error)


@dataclass(frozen=True)
class RemoteFile:
    """A file on the hub, or in the hub's cache on this machine; its size is that of the transfer, in bytes."""

    repository: str
    file: str
    size: int
    cached: Path | None = None


def _located(hub_name: str, text_cfg: Mapping[str, Any], asked: str) -> list[RemoteFile]:
    """Find weights, "owner/repository/FILE" or without FILE, and the tokenizer, from there or where open_clip says."""
    repository, _, named = hub_name.rpartition("/")
    weights = _find([repository], (named,) if named else WEIGHT_FILES)
    if weights is None:
        raise DownloadError(f"{asked} has no weights that can be read, in {repository}. Choose another model.")
    if not needs_file(text_cfg):
        return [weights]
    tokenizer = _find([text_cfg["hf_tokenizer_name"], repository], (TOKENIZER,))
    if tokenizer is None:
        places = f"{text_cfg['hf_tokenizer_name']} or {repository}"
        raise DownloadError(f"{asked} has no {TOKENIZER}, in {places}. Choose another model.")
    config = _find([tokenizer.repository], (TOKENIZER_CONFIG,))
    return [weights, tokenizer, *([config] if config else [])]


def _find(repositories: Sequence[str], files: Sequence[str]) -> RemoteFile | None:
    import huggingface_hub as hub  # noqa: PLC0415  a quarter of a second, and needed for a download only

    for repository, file in ((repository, file) for repository in repositories for file in files):
        if isinstance(cached := hub.try_to_load_from_cache(repository, file), str):
            return RemoteFile(repository, file, 0, Path(cached))
        with hub_errors(repository), suppress(hub.errors.RemoteEntryNotFoundError):
            found = hub.get_hf_file_metadata(hub.hf_hub_url(repository, file), timeout=CONNECT_S)
            return RemoteFile(repository, file, found.size or 0)
    return None


def check_space(
    name: str,
    files: Sequence[RemoteFile],
    model_cfg: Mapping[str, Any],
    preprocess_cfg: Mapping[str, Any],
    home: Path,
    announce: Announce,
) -> None:
    """Announce the size of a download and of the model written from it; refuse it if the disk is too small."""
    import torch  # noqa: PLC0415  the page is up before torch is

    with torch.device("meta"):
        tensors = build_model(model_cfg, preprocess_cfg, "meta").state_dict().values()
    transfer = sum(file.size for file in files)
    model = sum(tensor.numel() for tensor in tensors) * WEIGHT_BYTES
    takes = f"{transfer >> 20:,} MB to download, and {transfer + model >> 20:,} MB of disk while it is converted"
    announce(f"{name}: {takes}; {model >> 20:,} MB stay.")
    check_free(home, transfer + model + SPARE_BYTES, f"Downloading {name}")


def _transfer(file: RemoteFile, folder: Path, bar: type[tqdm]) -> Path:
    """Download a file, or find it in the hub's cache; a tokenizer is copied from there, to lie with its other file."""
    import huggingface_hub as hub  # noqa: PLC0415  see `_find`

    if file.cached is not None and file.file not in (TOKENIZER, TOKENIZER_CONFIG):
        return file.cached
    folder.mkdir(parents=True, exist_ok=True)
    if file.cached is not None:
        return Path(shutil.copy(file.cached, folder / file.file))
    with hub_errors(file.repository):
        return Path(hub.hf_hub_download(file.repository, file.file, local_dir=folder, tqdm_class=bar))


def transfer_bar(report: Callable[[int, int], None]) -> type[tqdm]:
    """Return a tqdm that draws nothing, and reports the bytes transferred and in total (0: not known)."""

    class Bar(tqdm):  # type: ignore[misc]
        """Reports the bytes transferred; draws nothing."""

        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **{**options, "disable": True})

        def update(self, n: float | None = 1) -> None:
            self.n += n or 0  # a disabled tqdm does not count
            report(int(self.n), int(self.total or 0))

    return Bar
