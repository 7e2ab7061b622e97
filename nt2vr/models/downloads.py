"""Downloads of open_clip's pre-trained models as checkpoint folders; only on a person's request.

Importing this does not import torch.
"""

import logging
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tqdm import tqdm

from nt2vr.errors import ConfigError, DownloadError, Nt2vrError, quoted
from nt2vr.models.card import Card
from nt2vr.models.checkpoint import build_model, check_text_tower, load_weights, write_checkpoint
from nt2vr.progress import Progress

logger = logging.getLogger(__name__)
CONNECT_S = 5.0  # timeout for the hub; open_clip itself would try for 50 s
WEIGHT_FILES = ("open_clip_model.safetensors", "open_clip_pytorch_model.bin")  # on the hub, the first is preferred


def pretrained(name: str) -> tuple[str, str]:
    """Split "architecture/tag", and check that open_clip has it."""
    import open_clip  # noqa: PLC0415  takes seconds, and is needed for a download only

    architecture, _, tag = (part.strip() for part in name.partition("/"))
    known = {f"{a}/{t}": (a, t) for a, t in open_clip.list_pretrained()}
    if f"{architecture}/{tag}" not in known:
        near = [key for key in known if key.startswith(f"{architecture}/")] or ["ViT-B-32/openai"]
        raise ConfigError(f"open_clip has no pre-trained model {quoted(name)}. Try {', '.join(near[:5])}.")
    check_text_tower(open_clip.get_model_config(architecture), name)
    return known[f"{architecture}/{tag}"]


def fetch(folder: Path, architecture: str, tag: str, progress: Progress) -> None:
    """Download weights and write them as a checkpoint folder; an interrupted transfer is resumed next time."""
    import open_clip  # noqa: PLC0415  takes seconds, and is needed for a download only

    config = open_clip.get_pretrained_cfg(architecture, tag)
    partial = folder.with_name(f".{folder.name}.download")
    weights = _transfer(config["hf_hub"], partial, _progress_bar(progress, f"downloading {architecture} / {tag}"))
    model_cfg = open_clip.get_model_config(architecture)
    if "quick_gelu" in config:  # the activation is the weights' choice, not the architecture's
        model_cfg["quick_gelu"] = config["quick_gelu"]
    preprocess_cfg = {key: config[key] for key in ("mean", "std", "interpolation", "resize_mode") if key in config}
    model, _ = build_model(model_cfg, preprocess_cfg)
    load_weights(model, weights)
    card = Card(name=f"{architecture} / {tag}", objective="contrastive", data=f"{tag}, by open_clip")
    write_checkpoint(folder, model, model_cfg, preprocess_cfg, card, fp16=False)
    shutil.rmtree(partial, ignore_errors=True)


def download_all(names: Sequence[str], download: Callable[[str], str]) -> None:
    """Download models one after another; a failure is a line in the log, and does not keep the others from coming."""
    for name in names:
        try:
            logger.info("%s is here.", download(name))
        except (Nt2vrError, OSError) as error:
            logger.warning("NT2VR_MODELS: %s", error)


def _transfer(hub_name: str, folder: Path, bar: type[tqdm]) -> Path:
    """Download the weights file of "owner/repository/" or "owner/repository/file", or find it in the hub's cache."""
    import huggingface_hub as hub  # noqa: PLC0415  a quarter of a second, and needed for a download only

    repository, _, named = hub_name.rpartition("/")
    for file in (named,) if named else WEIGHT_FILES:
        if isinstance(cached := hub.try_to_load_from_cache(repository, file), str):
            return Path(cached)
        try:
            hub.get_hf_file_metadata(hub.hf_hub_url(repository, file), timeout=CONNECT_S)
            return Path(hub.hf_hub_download(repository, file, local_dir=folder, tqdm_class=bar))
        except hub.errors.RemoteEntryNotFoundError:
            continue
        except Exception as error:  # each version of the hub's library has the exceptions of another HTTP library
            reason = type(error).__name__
            raise DownloadError(
                f"{repository} could not be downloaded ({reason}). Check the network and try again."
            ) from error
    raise DownloadError(f"{repository} has no weights that can be read. Choose another model.")


def _progress_bar(progress: Progress, doing: str) -> type[tqdm]:
    class Bar(tqdm):  # type: ignore[misc]
        """Reports the bytes transferred; draws nothing."""

        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **{**options, "disable": True})

        def update(self, n: float | None = 1) -> None:
            self.n += n or 0  # a disabled tqdm does not count
            progress(int(self.n), int(self.total or 0), doing)

    return Bar
