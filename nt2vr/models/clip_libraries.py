"""Models of sentence-transformers and transformers that take whole clips, as their libraries run them."""

from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from PIL import Image

from nt2vr.errors import CheckpointError, ConfigError
from nt2vr.models.card import DEFAULT_FRAMES, Card, ClipSection
from nt2vr.models.encoder import Frames, normalised
from nt2vr.models.framing import LONGEST, SQUASH

# Keyword arguments of a library's functions.
Options = dict[str, Any]
ST = "sentence-transformers"
TRANSFORMERS = "transformers"
EXTRAS = {ST: "st", TRANSFORMERS: "transformers"}
# Of a video model that takes any number.
MOST_FRAMES = 16
# Height and width in pixels, 16:9, for models that take frames of any size: 112 tokens of Qwen3-VL
# for two frames.
WIDE = (256, 448)
# Set here, not by a folder's config, which could name one of the Hub's. All models have the second.
ATTENTION = ("sdpa", "eager")


class Clip(NamedTuple):
    """Frames (F, H, W, 3) as the model is given them, and how many of them are a second."""

    frames: Frames
    fps: float
    is_picture: bool = False


class FrameDefaults(NamedTuple):
    """The frames that a model takes, as its files say; a person may choose others.

    Attributes:
        frames: per clip.
        least: frames of a clip that is short.
        fps: frames per second, of which a short clip has fewer; 0 for the same number of each clip.
        size: height and width in pixels.
        resize_mode: as of `Framing`.
    """

    frames: int
    least: int
    fps: float
    size: tuple[int, int]
    resize_mode: str


class SentenceTransformers:
    """A model of sentence-transformers; one without videos gets the mean of a clip's frames as pictures."""

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

        self.model = _loaded(load, card.precision)
        self._text_options: Options = {}
        # SigLIP's text tower has no mask.
        if self.model[0].modality_config.get("text", {}).get("method") == "get_text_features":
            self._text_options = {"text": _padding(self.model.config)}
        self._has_videos = self.model.supports("video")
        if not self._has_videos and not self.model.supports("image"):
            raise CheckpointError(
                f"{card.name} reads neither videos nor pictures. Choose a multimodal model."
            )
        self.defaults = self._frame_defaults()

    def _frame_defaults(self) -> FrameDefaults:
        processor = self.model.processor
        if not self._has_videos:
            reader = getattr(processor, "image_processor", processor)
            return FrameDefaults(DEFAULT_FRAMES, DEFAULT_FRAMES, 0.0, *_size_of(reader))
        reader = getattr(processor, "video_processor", processor)
        most = min(getattr(reader, "max_frames", None) or MOST_FRAMES, MOST_FRAMES)
        least = min(getattr(reader, "min_frames", None) or 1, most)
        fps = float(getattr(reader, "fps", None) or 0)
        return FrameDefaults(most, least, fps, *_size_of(reader))

    def texts(self, texts: Sequence[str]) -> Any:
        return self.model.encode_query(
            list(texts),
            prompt=self._prompt,
            processing_kwargs=self._text_options,
            show_progress_bar=False,
        )

    def clips(self, clips: Sequence[Clip]) -> Any:
        if not self._has_videos:
            return self._means_of_pictures(clips)
        reads_pictures = self.model.supports("image")
        pictures = [row for row, clip in enumerate(clips) if clip.is_picture and reads_pictures]
        videos = [row for row in range(len(clips)) if row not in pictures]

        # One call takes documents of one kind.
        embeddings = np.empty((len(clips), self.model.get_embedding_dimension()), np.float32)
        if pictures:
            documents = [Image.fromarray(clips[row].frames[0]) for row in pictures]
            embeddings[pictures] = self._encode(documents, {})
        if videos:
            # The frames are sampled already.
            options = {"video": {"do_sample_frames": False}}
            embeddings[videos] = self._encode([_video(clips[row]) for row in videos], options)
        return embeddings

    def _encode(self, documents: list[Any], options: Options) -> Any:
        return self.model.encode_document(
            documents,
            batch_size=len(documents),
            processing_kwargs=options,
            show_progress_bar=False,
        )

    def _means_of_pictures(self, clips: Sequence[Clip]) -> Any:
        pictures: list[Any] = []
        ends = []
        for clip in clips:
            pictures += map(Image.fromarray, clip.frames)
            ends.append(len(pictures))
        embeddings = normalised(self.model.encode_document(pictures, show_progress_bar=False))
        of_clips = np.split(embeddings, ends[:-1])
        return np.stack([of_clip.mean(axis=0) for of_clip in of_clips])

    @property
    def composes(self) -> bool:
        """Whether the model embeds a picture and a text as one query."""
        return bool(self.model.supports(("image", "text")))

    def composed(self, picture: Frames, text: str) -> Any:
        """Embed a picture (H, W, 3) and a text as one query: (D,)."""
        query = {"image": Image.fromarray(picture), "text": text}
        return self.model.encode_query([query], prompt=self._prompt, show_progress_bar=False)[0]


class Transformers:
    """A model of transformers with features of texts and videos, such as VideoPrism-LvT."""

    composes = False

    def __init__(self, folder: Path, card: Card, device: str) -> None:
        library = _imported("transformers", TRANSFORMERS)

        def load(**model_options: Any) -> Any:
            return library.AutoModel.from_pretrained(folder, local_files_only=True, **model_options)

        self.model = _loaded(load, card.precision).eval().to(device)
        self._processor = library.AutoProcessor.from_pretrained(folder, local_files_only=True)
        for kind in ("text", "video"):
            if not hasattr(self.model, f"get_{kind}_features"):
                raise CheckpointError(
                    f"{card.name} is a {type(self.model).__name__}, which has no features of texts and videos to "
                    "compare."
                )
        num_frames = getattr(self.model.config.vision_config, "num_frames", DEFAULT_FRAMES)
        size = _size_of(self._processor.video_processor)
        self.defaults = FrameDefaults(num_frames, num_frames, 0.0, *size)

    def texts(self, texts: Sequence[str]) -> Any:
        padding = _padding(self.model.config)
        inputs = self._processor(text=list(texts), return_tensors="pt", **padding)
        return self._features("text", inputs)

    def clips(self, clips: Sequence[Clip]) -> Any:
        videos = [clip.frames.transpose(0, 3, 1, 2) for clip in clips]
        inputs = self._processor(videos=videos, do_sample_frames=False, return_tensors="pt")
        return self._features("video", inputs)

    def composed(self, picture: Frames, text: str) -> Any:
        raise NotImplementedError("a model of transformers composes nothing")

    def _features(self, kind: str, inputs: Any) -> Any:
        import torch  # noqa: PLC0415  the page is up before torch is

        tensors = {}
        for name, tensor in inputs.items():
            dtype = self.model.dtype if tensor.is_floating_point() else tensor.dtype
            tensors[name] = tensor.to(self.model.device, dtype)
        with torch.inference_mode():
            output = getattr(self.model, f"get_{kind}_features")(**tensors).pooler_output
            # Videos come as (N, 1, D).
            return output.float().cpu().numpy().reshape(len(output), -1)


def clip_settings(card: Card) -> ClipSection:
    """Return the settings of a model that takes whole clips, or raise a CheckpointError if the card has none."""
    if card.clip is None:
        raise CheckpointError(
            f"The card of {card.name} does not say how its clips are loaded. Add it again."
        )
    return card.clip


def _imported(module: str, loader: str) -> Any:
    try:
        library = import_module(module)
        logging = import_module("transformers.utils.logging")
    except ImportError:
        raise ConfigError(
            f"Such a model needs its package: pip install 'nt2vr[{EXTRAS[loader]}]'."
        ) from None
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    return library


def _loaded(load: Callable[..., Any], precision: str) -> Any:
    """Load a model with the fastest attention of the library's own that it supports."""
    import torch  # noqa: PLC0415  the page is up before torch is

    dtype = torch.bfloat16 if precision else torch.float32
    fastest, slowest = ATTENTION
    try:
        return load(dtype=dtype, attn_implementation=fastest)
    except ValueError as error:
        if "scaled_dot_product_attention" not in str(error):
            raise
        return load(dtype=dtype, attn_implementation=slowest)


def _padding(config: Any) -> Options:
    """Pad as CLIPs of transformers are trained, to the longest text that they take."""
    return {
        "padding": "max_length",
        "truncation": True,
        "max_length": config.text_config.max_position_embeddings,
    }


def _size_of(reader: Any) -> tuple[tuple[int, int], str]:
    """Return the height and width of a processor's input, and the resize mode; it may take any size."""
    size = getattr(reader, "size", None) or {}
    get = size.get if hasattr(size, "get") else partial(getattr, size)
    height = get("height")
    width = get("width")
    if height and width:
        return (height, width), SQUASH
    return WIDE, LONGEST


def _video(clip: Clip) -> Options:
    """Return a video as sentence-transformers takes it."""
    num_frames = len(clip.frames)
    metadata = {
        "fps": clip.fps,
        "total_num_frames": num_frames,
        "duration": num_frames / clip.fps,
        "frames_indices": list(range(num_frames)),
    }
    return {"array": clip.frames.transpose(0, 3, 1, 2), "video_metadata": metadata}
