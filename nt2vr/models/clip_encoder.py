"""Models that take whole clips: any of sentence-transformers with pictures or videos, and video CLIPs of transformers.

They need the extras `nt2vr[st]` and `nt2vr[transformers]`. Their folders have a card, and in MODEL
the library's files and never code.
"""

import json
import math
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import blake2b
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from PIL import Image

from nt2vr.errors import CheckpointError, ConfigError, Nt2vrError, reason_of
from nt2vr.files import hash_file
from nt2vr.models.capabilities import Capabilities
from nt2vr.models.card import Card, ClipSection, read_card, write_card
from nt2vr.models.clip_files import check_model_files, limited_layers
from nt2vr.models.device import precision_of, resolve_device
from nt2vr.models.encoder import Encoder, Frames, Vectors, encode_unknown, normalised
from nt2vr.models.framing import LONGEST, SQUASH, frame_positions
from nt2vr.models.hub import SPARE_BYTES, RemoteFile, transfer
from nt2vr.models.options import AddOptions
from nt2vr.models.origin import Built, Origin
from nt2vr.progress import Progress

MODEL = "model"  # folder of the files of a model that takes clips, in its checkpoint folder
ST, TRANSFORMERS = "sentence-transformers", "transformers"
EXTRAS = {ST: "st", TRANSFORMERS: "transformers"}
DEFAULT_FRAMES, MOST_FRAMES = 8, 16  # of pictures; of a video model that takes any number
WIDE = (
    256,
    448,
)  # pixels, 16:9, for models that take frames of any size: 112 tokens of Qwen3-VL for two frames
ON_GPU = (
    16  # clips in one forward pass; fewer where they do not fit. A CPU gains nothing by several
)
PREFIXES = {"st": ST, "hf": TRANSFORMERS}
CLIP_OPTIONS = ("frames", "fps", "size", "instruction", "dimensions")
VIDEO_PROCESSOR = "video_preprocessor_config.json"  # of transformers
PROCESSORS = (
    "processor_config.json",
    "preprocessor_config.json",
)  # which tell a video processor by these keys
VIDEO_KEYS = ("video_processor", "video_processor_type")
WEIGHTS_SUFFIX, SUFFIXES = ".safetensors", (".safetensors", ".json", ".txt", ".model", ".jinja")
MODULES = "modules.json"  # of a folder of sentence-transformers
LIBRARIES = 1 << 30  # bytes of weights whose time and memory the libraries take as well
# Set here, not by a folder's config, which could name one of the Hub's. All models have the second.
ATTENTION = ("sdpa", "eager")


class Clip(NamedTuple):
    """Frames (F, H, W, 3) as the model is given them, and how many of them are a second."""

    frames: Frames
    fps: float
    is_picture: bool = False


class SentenceTransformers:
    """A model of sentence-transformers; one without videos gets the mean of a clip's frames as pictures.

    Attributes:
        defaults: "frames", "least", "fps" and "size", height and width, and if fixed "resize_mode".
    """

    def __init__(self, folder: Path, card: Card, device: str) -> None:
        library = _imported("sentence_transformers", ST)
        settings = _settings_of(card)
        self._prompt = settings.instruction or None

        def load(**model_options: Any) -> Any:
            return library.SentenceTransformer(
                str(folder),
                device=device,
                local_files_only=True,
                trust_remote_code=False,
                truncate_dim=settings.dimensions or None,
                model_kwargs=model_options,
            )

        self.model = _with_attention(load, _dtype(card))
        self._padded: dict[str, Any] = {}
        if self.model[0].modality_config.get("text", {}).get("method") == "get_text_features":
            self._padded = {"text": _padding(self.model.config)}  # SigLIP's text tower has no mask
        self._has_videos = self.model.supports("video")
        if not self._has_videos and not self.model.supports("image"):
            raise CheckpointError(
                f"{card.name} reads neither videos nor pictures. Choose a multimodal model."
            )
        processor = self.model.processor
        reader = getattr(
            processor, "video_processor" if self._has_videos else "image_processor", processor
        )
        most, least, fps = DEFAULT_FRAMES, DEFAULT_FRAMES, 0.0
        if self._has_videos:
            most = min(getattr(reader, "max_frames", None) or MOST_FRAMES, MOST_FRAMES)
            least = min(getattr(reader, "min_frames", None) or 1, most)
            fps = float(getattr(reader, "fps", None) or 0)
        self.defaults = {"frames": most, "least": least, "fps": fps, **_size_of(reader)}

    def texts(self, texts: Sequence[str]) -> Any:
        options = {"prompt": self._prompt, "processing_kwargs": self._padded}
        return self.model.encode_query(list(texts), show_progress_bar=False, **options)

    def clips(self, clips: Sequence[Clip]) -> Any:
        if not self._has_videos:
            return self._means_of_pictures(clips)
        pictures_too = self.model.supports("image")
        items = [
            Image.fromarray(clip.frames[0]) if clip.is_picture and pictures_too else _video(clip)
            for clip in clips
        ]
        kinds = [isinstance(item, dict) for item in items]  # one call takes one kind
        found = np.empty((len(items), self.model.get_embedding_dimension()), np.float32)
        for kind in set(kinds):
            rows = np.flatnonzero(np.equal(kinds, kind))
            found[rows] = self.model.encode_document(
                [items[row] for row in rows],
                batch_size=len(rows),
                processing_kwargs={"video": {"do_sample_frames": False}} if kind else {},
                show_progress_bar=False,
            )
        return found

    def _means_of_pictures(self, clips: Sequence[Clip]) -> Any:
        pictures = [Image.fromarray(frame) for clip in clips for frame in clip.frames]
        found = normalised(self.model.encode_document(pictures, show_progress_bar=False))
        ends = np.cumsum([len(clip.frames) for clip in clips])[:-1]
        return np.stack([part.mean(axis=0) for part in np.split(found, ends)])

    @property
    def composes(self) -> bool:
        """Whether the model embeds a picture and a text as one query."""
        return bool(self.model.supports(("image", "text")))

    def composed(self, picture: Frames, text: str) -> Any:
        """Embed a picture (H, W, 3) and a text as one query: (D,)."""
        asked = [{"image": Image.fromarray(picture), "text": text}]
        return self.model.encode_query(asked, prompt=self._prompt, show_progress_bar=False)[0]


class Transformers:
    """A model of transformers with features of texts and videos, such as VideoPrism-LvT."""

    composes = False

    def __init__(self, folder: Path, card: Card, device: str) -> None:
        library = _imported("transformers", TRANSFORMERS)

        def load(**model_options: Any) -> Any:
            return library.AutoModel.from_pretrained(folder, local_files_only=True, **model_options)

        self.model = _with_attention(load, _dtype(card)).eval().to(device)
        self._processor = library.AutoProcessor.from_pretrained(folder, local_files_only=True)
        if not all(hasattr(self.model, f"get_{each}_features") for each in ("text", "video")):
            kind = type(self.model).__name__
            raise CheckpointError(
                f"{card.name} is a {kind}, which has no features of texts and videos to compare."
            )
        count = getattr(self.model.config.vision_config, "num_frames", DEFAULT_FRAMES)
        self.defaults = {
            "frames": count,
            "least": count,
            "fps": 0.0,
            **_size_of(self._processor.video_processor),
        }

    def texts(self, texts: Sequence[str]) -> Any:
        padding = _padding(self.model.config)
        return self._features(
            "text", self._processor(text=list(texts), return_tensors="pt", **padding)
        )

    def clips(self, clips: Sequence[Clip]) -> Any:
        videos = [clip.frames.transpose(0, 3, 1, 2) for clip in clips]
        return self._features(
            "video", self._processor(videos=videos, do_sample_frames=False, return_tensors="pt")
        )

    def composed(self, picture: Frames, text: str) -> Any:
        raise NotImplementedError("a model of transformers composes nothing")

    def _features(self, kind: str, inputs: Any) -> Any:
        import torch  # noqa: PLC0415  the page is up before torch is

        given = {name: each.to(self.model.device) for name, each in inputs.items()}
        given = {
            name: each.to(self.model.dtype) if each.is_floating_point() else each
            for name, each in given.items()
        }
        with torch.inference_mode():
            found = getattr(self.model, f"get_{kind}_features")(**given).pooler_output
            return found.float().cpu().numpy().reshape(len(found), -1)  # videos come as (N, 1, D)


class ClipModel(Encoder):
    """An encoder that takes whole clips, each as one embedding.

    Attributes:
        batch_size: clips in one forward pass.
        cached_texts: as of `OpenClipEncoder`.
    """

    batch_size: int = ON_GPU

    def __init__(self, folder: Path, device: str = "cpu", card: Card | None = None) -> None:
        """Load the files in the folder's MODEL; `card` is the folder's own, unless given."""
        card, self._device = card or read_card(folder), resolve_device(device)
        self.card = card.replace(precision=precision_of(self._device))
        settings = _settings_of(card)
        backend = SentenceTransformers if settings.loader == ST else Transformers
        try:
            check_model_files(folder / MODEL, card.name)
            with limited_layers(card.name):
                self.backend: SentenceTransformers | Transformers = backend(
                    folder / MODEL, self.card, self._device
                )
        except Nt2vrError:
            raise
        except Exception as error:  # of any kind: libraries, configurations and weights
            raise CheckpointError(
                f"{card.name} cannot be loaded ({reason_of(error)}). Add it again."
            ) from error
        self.cached_texts: dict[str, Vectors] = {}
        if self._device == "cpu":
            self.batch_size = 1
        self.embed_dim = settings.dimensions or self.encode_text(["a dog"]).shape[1]
        self.num_bytes = sum(
            each.numel() * each.element_size() for each in self.backend.model.parameters()
        )

    def encode_text(self, texts: Sequence[str]) -> Vectors:
        rows, self.cached_texts = encode_unknown(
            self.cached_texts, texts, lambda new: normalised(self.backend.texts(new))
        )
        return rows

    def prepare_texts(self, texts: Sequence[str]) -> None:
        self.encode_text(texts)

    def encode_video(self, frames: Frames, seconds: Vectors | None = None) -> Vectors:
        """Embed clips (N, F, H, W, 3), framed by the card: (N, 1, D), L2-normalised.

        At the model's fps, a short clip has fewer frames, and one without any length, a picture, is
        given as such.
        """
        clips = []
        for row, clip_frames in enumerate(frames):
            length_s = None if seconds is None else seconds[row, 0] + seconds[row, -1]
            clips.append(self._clip(clip_frames, length_s))
        if not clips:
            return np.zeros((0, 1, self.embed_dim), np.float32)
        return normalised(self._encoded(clips))[:, None]

    def _clip(self, frames: Frames, length_s: float | None) -> Clip:
        settings = _settings_of(self.card)
        fps = float(settings.fps)
        if not length_s:
            return Clip(frames, fps or 1.0, is_picture=length_s is not None)
        count = len(frames)
        if fps:
            count = min(count, max(math.ceil(length_s * fps), settings.least))
        return Clip(frames[frame_positions(len(frames), count)], count / length_s)

    def _encoded(self, clips: Sequence[Clip]) -> Any:
        import torch  # noqa: PLC0415  the page is up before torch is

        try:
            if len(clips) <= self.batch_size:
                return self.backend.clips(clips)
        except torch.OutOfMemoryError as error:
            if len(clips) == 1:
                raise ConfigError(
                    f"A clip does not fit into the memory of {self._device} with {self.name}. Choose fewer frames, or "
                    "--device cpu."
                ) from error
            self.batch_size = len(clips) // 2
        half = len(clips) // 2
        return np.concatenate([self._encoded(clips[:half]), self._encoded(clips[half:])])

    @property
    def capabilities(self) -> Capabilities:
        return replace(self.card.capabilities, composes=self.backend.composes)

    @property
    def stored_shape(self) -> tuple[int, int]:
        return 1, self.embed_dim

    def composed(self, picture: Frames, text: str) -> Vectors:
        return normalised(self.backend.composed(picture, text))

    def pool(self, stored: Vectors) -> Vectors:
        return stored[..., 0, :]

    def move_to(self, device: str) -> None:
        self.backend.model.to(device)
        self._device = device


def _settings_of(card: Card) -> ClipSection:
    """Return the settings of a model that takes whole clips, or raise a CheckpointError if the card has none."""
    if card.clip is None:
        raise CheckpointError(
            f"The card of {card.name} does not say how its clips are loaded. Add it again."
        )
    return card.clip


def _imported(module: str, loader: str) -> Any:
    try:
        library, logging = import_module(module), import_module("transformers.utils.logging")
    except ImportError:
        raise ConfigError(
            f"Such a model needs its package: pip install 'nt2vr[{EXTRAS[loader]}]'."
        ) from None
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    return library


def _dtype(card: Card) -> dict[str, Any]:
    import torch  # noqa: PLC0415  the page is up before torch is

    return {"dtype": torch.bfloat16 if card.precision else torch.float32}


def _with_attention(load: Callable[..., Any], options: dict[str, Any]) -> Any:
    """Load a model with the fastest attention of the library's own that it supports."""
    fastest, slowest = ATTENTION
    try:
        return load(**options, attn_implementation=fastest)
    except ValueError as error:
        if "scaled_dot_product_attention" not in str(error):
            raise
        return load(**options, attn_implementation=slowest)


def _padding(config: Any) -> dict[str, Any]:
    """Pad as CLIPs of transformers are trained, to the longest text that they take."""
    return {
        "padding": "max_length",
        "truncation": True,
        "max_length": config.text_config.max_position_embeddings,
    }


def _size_of(reader: Any) -> dict[str, Any]:
    """Return the height and width of a processor's input, with what makes it so; it may take any."""
    size = getattr(reader, "size", None) or {}
    height, width = (
        size.get(side) if hasattr(size, "get") else getattr(size, side)
        for side in ("height", "width")
    )
    return {"size": (height, width), "resize_mode": SQUASH} if height and width else {"size": WIDE}


def _video(clip: Clip) -> dict[str, Any]:
    count = len(clip.frames)
    told = {"fps": clip.fps, "total_num_frames": count, "duration": count / clip.fps}
    metadata = {**told, "frames_indices": list(range(count))}
    return {"array": clip.frames.transpose(0, 3, 1, 2), "video_metadata": metadata}


@dataclass(frozen=True, kw_only=True)
class _ClipOrigin(Origin):
    """Files of a model of sentence-transformers or transformers, without code.

    Attributes:
        loader: the library, ST or TRANSFORMERS.
        authors_name: what its authors call it.
        num_bytes: size of the files.
        revision: of the repository; empty for a folder.
    """

    loader: str
    authors_name: str
    num_bytes: int
    options: AddOptions
    revision: str = ""

    def weight_bytes(self, hidden: Path) -> int:
        return self.num_bytes + LIBRARIES

    def build(self, hidden: Path, name: str, progress: Progress) -> Built:
        """Load the model, and write a card of what its files say and a person does not."""
        self._check_loader(hidden)
        options = self.options
        digest = blake2b(digest_size=16)
        for path in sorted(path for path in (hidden / MODEL).rglob("*") if path.is_file()):
            digest.update(f"{path.relative_to(hidden).as_posix()} {hash_file(path)}\n".encode())
        clip: dict[str, Any] = {"loader": self.loader}
        if options.instruction:
            clip["instruction"] = options.instruction
        if options.dimensions:
            clip["dimensions"] = options.dimensions
        if self.revision:
            clip["revision"] = self.revision
        card = Card(
            name,
            objective="whole clips",
            data=f"{self.authors_name}, by its authors",
            visual_fingerprint=digest.hexdigest(),
            text_fingerprint=digest.hexdigest(),
            clip=clip,
        )
        model = ClipModel(hidden, card=card)

        # What a person leaves out is taken from the model's files.
        defaults = model.backend.defaults
        height, width = options.shape or defaults["size"]
        num_frames = options.frames or defaults["frames"]
        clip = {
            **clip,
            "fps": options.fps or defaults["fps"],
            "least": min(num_frames, defaults["least"]),
            "framing": {"width": width, "resize_mode": defaults.get("resize_mode", LONGEST)},
            "dimensions": model.embed_dim,
        }
        model.card = card.replace(frames=num_frames, image_size=height, clip=clip)
        write_card(hidden, model.card)
        return Built(model)

    def _check_loader(self, hidden: Path) -> None:
        check_model_files(hidden / MODEL, self.title)
        if self.loader == TRANSFORMERS and (self.options.instruction or self.options.dimensions):
            raise ConfigError(
                f"The options instruction and dimensions do not apply to {self.title}, a model of transformers. Leave "
                "them out."
            )


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
        num_bytes = _size({Path(file.name): file.size for file in wanted}, repository)
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
        for file in self.files:
            transfer(file, hidden / MODEL, progress, f"downloading {file.name}")
        shutil.rmtree(hidden / MODEL / ".cache", ignore_errors=True)


@dataclass(frozen=True, kw_only=True)
class ClipFolder(_ClipOrigin):
    """A folder of sentence-transformers or transformers, which is copied."""

    folder: Path
    paths: tuple[Path, ...]  # of its files, within the folder

    @classmethod
    def of(cls, folder: Path, options: AddOptions) -> "ClipFolder":
        """Return a folder's model; a CheckpointError refuses one without weights."""
        options.check_used(CLIP_OPTIONS, folder.name)
        loader = ST if (folder / MODULES).is_file() else TRANSFORMERS
        files = (
            path
            for path in folder.rglob("*")
            if path.is_file() and _is_wanted(path.relative_to(folder))
        )
        sizes = {path.relative_to(folder): path.stat().st_size for path in files}
        num_bytes = _size(sizes, folder.name)
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
        return f"{prefix}:{self.folder.name}"

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
    for name in PROCESSORS:  # of other versions of transformers
        with suppress(OSError, ValueError, RecursionError):
            content = json.loads((folder / name).read_text(encoding="utf-8"))
            if isinstance(content, dict) and not content.keys().isdisjoint(VIDEO_KEYS):
                return True
    return False


def _is_wanted(path: Path) -> bool:
    hidden = any(part.startswith(".") for part in path.parts)
    return path.suffix in SUFFIXES and not hidden and path.parts[0] not in ("onnx", "openvino")


def _size(files: dict[Path, int], name: str) -> int:
    if not any(path.suffix == WEIGHTS_SUFFIX for path in files):
        raise CheckpointError(
            f"{name} has no weights as {WEIGHTS_SUFFIX}. Choose a model that has."
        )
    return sum(files.values())
