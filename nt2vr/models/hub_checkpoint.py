"""Checkpoint folders on the Hugging Face Hub, as a source of models."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from nt2vr.errors import CheckpointError
from nt2vr.extension import composers, text_sides
from nt2vr.models.card import (
    CARD,
    CONFIG,
    DIFFERENCE,
    HEAD,
    MAX_HEAD,
    WEIGHTS,
    Card,
    extension_file,
    read_card,
    read_configs,
    write_card,
)
from nt2vr.models.checkpoint import identified, read_checkpoint, read_model
from nt2vr.models.difference import whole_folder
from nt2vr.models.encoder import Encoder
from nt2vr.models.hub import SPARE_BYTES, RemoteFile, transfer, transfer_all
from nt2vr.models.options import MAX_FRAMES, AddOptions
from nt2vr.models.origin import Built, Origin
from nt2vr.models.tokenizer import TOKENIZER, TOKENIZER_CONFIG
from nt2vr.progress import Progress, silent

SMALL_BYTES = 1 << 20
MAX_IMAGE_SIZE = 1024  # pixels
# Of timm's own: a name with ":" or "/" would be fetched from the Hub.
TIMM_NAME = re.compile(r"[\w.]+")


def limits() -> dict[str, int]:
    """Return the most bytes of each file of a checkpoint, in the order in which they are pulled."""
    return {
        CARD: SMALL_BYTES,
        CONFIG: SMALL_BYTES,
        TOKENIZER_CONFIG: SMALL_BYTES,
        # 34 MB for 256,000 tokens.
        TOKENIZER: 128 << 20,
        HEAD: MAX_HEAD,
        **{extension_file(name): MAX_HEAD for name in (*text_sides(), *composers())},
        DIFFERENCE: 8 << 30,
        WEIGHTS: 8 << 30,
    }


@dataclass(frozen=True, kw_only=True)
class HubCheckpoint(Origin):
    """A checkpoint folder on the Hub, in open_clip's format; its nt2vr.json may be missing."""

    # In the order of `limits`: the large one is the last.
    files: tuple[RemoteFile, ...]

    @classmethod
    def of(
        cls, repository: str, files: Mapping[str, RemoteFile], options: AddOptions
    ) -> "HubCheckpoint":
        """Return a repository that has these files; a CheckpointError refuses one that is incomplete or too large."""
        options.check_used((), repository)
        wanted = tuple(_wanted_files(repository, files))
        num_bytes = sum(file.size for file in wanted)
        return cls(
            title=repository,
            doing=f"Downloading {repository}",
            disk_bytes=num_bytes + SPARE_BYTES,
            num_bytes=num_bytes,
            announcement=f"{repository}: {num_bytes >> 20:,} MB to download.",
            files=wanted,
        )

    def default_name(self, hidden: Path) -> str:
        """Return the name on the card, which is brought for that, or the repository's."""
        for file in self.files:
            if file.name == CARD:
                transfer(file, hidden, silent, f"downloading {CARD}")
                return read_card(hidden).name
        return self.title.partition("/")[2]

    def bring(self, hidden: Path, progress: Progress) -> None:
        missing = [file for file in self.files if not (hidden / file.name).exists()]
        transfer_all(missing, hidden, progress)

    def weight_bytes(self, hidden: Path) -> int:
        base = hidden
        if (hidden / DIFFERENCE).is_file():
            base = whole_folder(hidden, read_card(hidden))
        return self.num_bytes + (base / WEIGHTS).stat().st_size

    def build(self, hidden: Path, name: str, progress: Progress) -> Built:
        """Compare the weights with their card, and write the name on it."""
        _check_configuration(hidden)
        if not (hidden / CARD).exists():
            _write_missing_card(hidden)
        encoder = read_checkpoint(hidden, verify=True)
        _check_card(read_card(hidden), encoder)
        if encoder.card.name != name:
            write_card(hidden, encoder.card.replace(name=name))
        return Built(encoder)


def _wanted_files(repository: str, files: Mapping[str, RemoteFile]) -> list[RemoteFile]:
    """Return a checkpoint's files in the order of `limits`; refuse one that is not complete, or too large."""
    weights = DIFFERENCE if {CARD, DIFFERENCE} <= files.keys() else WEIGHTS
    for needed in (CONFIG, weights):
        if needed not in files:
            raise CheckpointError(
                f"{repository} has no {needed}. Choose one in open_clip's safetensors format."
            )
    most_bytes = limits()
    wanted = [files[name] for name in most_bytes if name in files]
    for file in wanted:
        limit = most_bytes[file.name]
        if file.size > limit:
            raise CheckpointError(
                f"{file.name} of {repository} has {file.size >> 20:,} MB. At most {limit >> 20:,} fit."
            )
    return wanted


def _check_configuration(folder: Path) -> None:
    """Refuse a configuration that names files outside its folder."""
    model_cfg, _ = read_configs(folder)
    timm_name = model_cfg["vision_cfg"].get("timm_model_name", "timm")
    tokenizer_options = model_cfg["text_cfg"].get("tokenizer_kwargs", {})
    if not TIMM_NAME.fullmatch(timm_name) or "bpe_path" in tokenizer_options:
        raise CheckpointError(
            f"{CONFIG} names files outside the repository. Choose another repository."
        )


def _write_missing_card(folder: Path) -> None:
    """Write the card of a model that has none, such as open_clip's own."""
    write_card(folder, Card("unnamed", objective="contrastive"))
    model, tokenizer, card = read_model(folder)
    write_card(folder, identified(card, model, tokenizer))


def _check_card(card: Card, encoder: Encoder) -> None:
    """Refuse a card whose values cannot be those of the model, or of any."""
    if not all(map(math.isfinite, card.metrics.values())):
        raise CheckpointError(
            f"{CARD} has measures that are not numbers. Choose another repository."
        )
    frames = card.framing.frames
    image_size = card.framing.image_size
    if frames > MAX_FRAMES or image_size != encoder.image_size or image_size > MAX_IMAGE_SIZE:
        raise CheckpointError(f"{CARD} has values that cannot be used. Choose another repository.")
