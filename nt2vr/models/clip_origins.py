"""Sources of models that take whole clips: repositories and folders, of which no code is taken."""

import json
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from nt2vr.errors import CheckpointError, ConfigError, reason_of
from nt2vr.files import hash_file
from nt2vr.models.card import Card, write_card
from nt2vr.models.clip_encoder import MODEL, ClipModel
from nt2vr.models.clip_files import check_model_files
from nt2vr.models.clip_libraries import ST, TRANSFORMERS
from nt2vr.models.hub import SPARE_BYTES, RemoteFile, transfer_all
from nt2vr.models.options import AddOptions
from nt2vr.models.origin import Built, Origin
from nt2vr.progress import Progress

PREFIXES = {"st": ST, "hf": TRANSFORMERS}
CLIP_OPTIONS = ("frames", "fps", "size", "instruction", "dimensions")
# Of a model of transformers that takes videos.
VIDEO_PROCESSOR = "video_preprocessor_config.json"
# Files of other versions of transformers, and the keys by which they tell such a model.
PROCESSORS = ("processor_config.json", "preprocessor_config.json")
VIDEO_KEYS = ("video_processor", "video_processor_type")
# Of a folder of sentence-transformers.
MODULES = "modules.json"
WEIGHTS_SUFFIX = ".safetensors"
SUFFIXES = (WEIGHTS_SUFFIX, ".json", ".txt", ".model", ".jinja")
OTHER_RUNTIMES = ("onnx", "openvino")
# Bytes of weights whose time and memory the libraries take as well.
LIBRARIES = 1 << 30


@dataclass(frozen=True, kw_only=True)
class _ClipOrigin(Origin):
    """Files of a model of sentence-transformers or transformers, without code.

    Attributes:
        loader: the library, ST or TRANSFORMERS.
        authors_name: what its authors call it.
        revision: of the repository; empty for a folder.
    """

    loader: str
    authors_name: str
    options: AddOptions
    revision: str = ""

    def weight_bytes(self, hidden: Path) -> int:
        return self.num_bytes + LIBRARIES

    def build(self, hidden: Path, name: str, progress: Progress) -> Built:
        """Load the model, and write a card of what its files say and a person does not."""
        check_model_files(hidden / MODEL, self.title)
        options = self.options
        if self.loader == TRANSFORMERS and (options.instruction or options.dimensions):
            raise ConfigError(
                f"The options instruction and dimensions do not apply to {self.title}, a model of transformers. Leave "
                "them out."
            )
        fingerprint = _fingerprint(hidden)
        settings = {
            "loader": self.loader,
            "instruction": options.instruction,
            "dimensions": options.dimensions,
            "revision": self.revision,
        }
        clip = {name: value for name, value in settings.items() if value}
        card = Card(
            name,
            objective="whole clips",
            data=f"{self.authors_name}, by its authors",
            visual_fingerprint=fingerprint,
            text_fingerprint=fingerprint,
            clip=clip,
        )
        model = ClipModel(hidden, card=card)
        model.card = self._completed(card, clip, model)
        write_card(hidden, model.card)
        return Built(model)

    def _completed(self, card: Card, clip: Mapping[str, Any], model: ClipModel) -> Card:
        """Take what a person leaves out from the model's files."""
        options = self.options
        defaults = model.backend.defaults
        num_frames = options.frames or defaults.frames
        height, width = options.shape or defaults.size
        framed_clip = {
            **clip,
            "fps": options.fps or defaults.fps,
            "least": min(num_frames, defaults.least),
            "framing": {"width": width, "resize_mode": defaults.resize_mode},
            "dimensions": model.embed_dim,
        }
        return card.replace(frames=num_frames, image_size=height, clip=framed_clip)


def _fingerprint(hidden: Path) -> str:
    """Hash the names and contents of a model's files."""
    digest = blake2b(digest_size=16)
    for path in sorted((hidden / MODEL).rglob("*")):
        if path.is_file():
            name = path.relative_to(hidden).as_posix()
            digest.update(f"{name} {hash_file(path)}\n".encode())
    return digest.hexdigest()


@dataclass(frozen=True, kw_only=True)
class ClipRepository(_ClipOrigin):
    """A repository on the Hub: "st:OWNER/NAME" or "hf:OWNER/NAME"."""

    files: tuple[RemoteFile, ...]

    @classmethod
    def of(
        cls, source: str, files: Mapping[str, RemoteFile], options: AddOptions
    ) -> "ClipRepository":
        """Return a repository that has these files; a CheckpointError refuses one without weights."""
        options.check_used(CLIP_OPTIONS, source)
        prefix, _, repository = source.partition(":")
        wanted = tuple(file for name, file in files.items() if _is_wanted(Path(name)))
        num_bytes = _num_bytes({Path(file.name): file.size for file in wanted}, repository)
        return cls(
            title=source,
            doing=f"Downloading {source}",
            disk_bytes=num_bytes + SPARE_BYTES,
            announcement=f"{source}: {num_bytes >> 20:,} MB to download.",
            loader=PREFIXES[prefix],
            authors_name=repository,
            num_bytes=num_bytes,
            options=options,
            revision=wanted[0].revision,
            files=wanted,
        )

    def default_name(self, hidden: Path) -> str:
        return self.title

    def bring(self, hidden: Path, progress: Progress) -> None:
        transfer_all(self.files, hidden / MODEL, progress)


@dataclass(frozen=True, kw_only=True)
class ClipFolder(_ClipOrigin):
    """A folder of sentence-transformers or transformers, which is copied."""

    folder: Path
    # Of its files, within the folder.
    paths: tuple[Path, ...]

    @classmethod
    def of(cls, folder: Path, options: AddOptions) -> "ClipFolder":
        """Return a folder's model; a CheckpointError refuses one without weights."""
        options.check_used(CLIP_OPTIONS, folder.name)
        sizes = {}
        for path in folder.rglob("*"):
            name = path.relative_to(folder)
            if path.is_file() and _is_wanted(name):
                sizes[name] = path.stat().st_size
        num_bytes = _num_bytes(sizes, folder.name)
        loader = TRANSFORMERS
        if (folder / MODULES).is_file():
            loader = ST
        return cls(
            title=folder.name,
            doing=f"Adding {folder.name}",
            disk_bytes=num_bytes + SPARE_BYTES,
            loader=loader,
            authors_name=folder.name,
            num_bytes=num_bytes,
            options=options,
            folder=folder,
            paths=tuple(sizes),
        )

    def default_name(self, hidden: Path) -> str:
        prefix = next(prefix for prefix, loader in PREFIXES.items() if loader == self.loader)
        return f"{prefix}:{self.title}"

    def bring(self, hidden: Path, progress: Progress) -> None:
        copied_bytes = 0
        for path in self.paths:
            progress(copied_bytes, self.num_bytes, f"copying {path.name}")
            target = hidden / MODEL / path
            try:
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(self.folder / path, target)
            except OSError as error:
                raise CheckpointError(
                    f"{path} of {self.title} cannot be copied ({reason_of(error)})."
                ) from error
            copied_bytes += target.stat().st_size


def is_clip_folder(folder: Path) -> bool:
    """Whether a folder is of sentence-transformers, or of a model of transformers that takes videos."""
    if (folder / MODULES).is_file() or (folder / VIDEO_PROCESSOR).is_file():
        return True
    for name in PROCESSORS:
        with suppress(OSError, ValueError, RecursionError):
            content = json.loads((folder / name).read_text(encoding="utf-8"))
            if isinstance(content, dict) and not content.keys().isdisjoint(VIDEO_KEYS):
                return True
    return False


def _is_wanted(path: Path) -> bool:
    is_hidden = any(part.startswith(".") for part in path.parts)
    return path.suffix in SUFFIXES and not is_hidden and path.parts[0] not in OTHER_RUNTIMES


def _num_bytes(sizes: Mapping[Path, int], name: str) -> int:
    """Return the size of a model's files; a CheckpointError refuses one without weights."""
    if not any(path.suffix == WEIGHTS_SUFFIX for path in sizes):
        raise CheckpointError(
            f"{name} has no weights as {WEIGHTS_SUFFIX}. Choose a model that has."
        )
    return sum(sizes.values())
