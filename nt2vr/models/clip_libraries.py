"""Models of sentence-transformers and transformers that take whole clips, as their libraries run them."""

from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from PIL import Image

from nt2vr.errors import CheckpointError, ConfigError
from nt2vr.models.card import Card, ClipSection
from nt2vr.models.encoder import Frames, normalised
from nt2vr.models.framing import SQUASH

ST, TRANSFORMERS = "sentence-transformers", "transformers"
EXTRAS = {ST: "st", TRANSFORMERS: "transformers"}
DEFAULT_FRAMES, MOST_FRAMES = 8, 16  # of pictures; of a video model that takes any number
WIDE = (
    256,
    448,
)  # pixels, 16:9, for models that take frames of any size: 112 tokens of Qwen3-VL for two frames
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
        settings = clip_settings(card)
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


def clip_settings(card: Card) -> ClipSection:
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
