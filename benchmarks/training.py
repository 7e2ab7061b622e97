"""Training speed in captions per second, compared with two plain loops: `python -m benchmarks.training [ROW …]`.

It runs on the GPU if CUDA is available.

The plain loops resemble typical research code: per step, the main thread reads and preprocesses the
frames of a batch, encodes each list of padded texts separately, and computes in float32. One
decodes video files; the other opens JPEG files of frames extracted beforehand, as the authors of
nT2VR do. All three train with CLIP-bnl's losses on the gallery's clips, and take turns: each round
times all three, and a table row has the medians of all rounds, with their range.
"""

import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import cv2
import numpy as np
import open_clip
import torch
from PIL import Image
from torch.nn.functional import normalize

from benchmarks.harness import arguments, built_in_gallery, ranged, write_head, write_row
from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import Video
from nt2vr.models.card import read_configs
from nt2vr.models.framing import frame_positions
from nt2vr.settings import ASSETS, prepare_environment
from nt2vr.world.scenes import Scene
from trainer.config import TrainConfig
from trainer.data.batches import Batch, epoch_batches
from trainer.data.clips import Clips
from trainer.data.sentences import WorldSentences
from trainer.inputs import EmbeddedBatch, Negated
from trainer.inputs.negated import EmbeddedNegated
from trainer.learner import Learner
from trainer.loop import AHEAD, prefetched
from trainer.losses import build_losses
from trainer.start import Start

BASE = ASSETS / "models" / "clip"
VIT = "ViT-B/32, random weights, 8 frames"
# Takes a training step, and returns its number of captions.
Step = Callable[[], int]
# Returns the frames of a clip.
Reader = Callable[[Path], list[Image.Image]]


@dataclass(frozen=True)
class Row:
    """One benchmarked training.

    Attributes:
        name: in the table.
        config: what to train.
        steps: of each loop per round.
    """

    name: str
    config: TrainConfig
    steps: int = 2


def rows() -> dict[str, Row]:
    """Return all rows; on a processor, a step of ViT-B/32 on 16 clips takes a quarter of a minute or more."""
    common: dict[str, Any] = {
        "losses": {"retrieval": {"weight": 1.0}, "bnl": {"weight": 1e-3}},
        "optimizer": "rmsprop",
        "learning_rate": 1e-6,
        "flip": False,
        "num_clips": 400,
    }
    built_in = {
        **common,
        "base": str(BASE),
        "model": read_configs(BASE)[0],
        "num_frames": 4,
        "frames_per_step": 4,
    }
    vit = {
        **common,
        "model": open_clip.get_model_config("ViT-B-32"),
        "num_frames": 8,
        "frames_per_step": 8,
    }
    vit_row = Row(VIT, TrainConfig(**vit, batch_size=16), steps=1)
    if torch.cuda.is_available():
        vit_row = Row(VIT, TrainConfig(**vit, batch_size=64))
    return {
        "built-in": Row("built-in model, 4 frames", TrainConfig(**built_in, batch_size=64)),
        "text": Row(
            "built-in model, text tower alone",
            TrainConfig(**built_in, batch_size=128, train="text"),
        ),
        "vit": vit_row,
    }


def gallery_clips(config: TrainConfig, videos: Sequence[Video]) -> Clips:
    """Decode the gallery once, as training does with video files."""
    with Decoder() as decoder:
        decodings = []
        for video in videos:
            decoding = decoder.frames(video.path, config.frames.num_frames, config.framing)
            decodings.append(decoding)
        frames = np.stack([decoding.result() for decoding in decodings])
    return Clips(frames, WorldSentences(scenes_of(videos)))


def scenes_of(videos: Sequence[Video]) -> list[Scene]:
    """Return the scenes of the clips."""
    return [Scene.from_dict(video.scene) for video in videos if video.scene]


def trainer_loop(config: TrainConfig, clips: Clips) -> Step:
    """Return one step of the project's trainer."""
    learner = Learner(config)
    if config.encoder.train == "text":
        learner.use_videos(clips.embeddings(learner.encoder()))
    learner.start_epoch()
    epochs = (
        epoch_batches(clips, config, epoch, inputs=learner.losses.inputs) for epoch in count(1)
    )
    drawn: Iterator[Batch] = chain.from_iterable(epochs)
    batches = prefetched(drawn) if learner.device == "cuda" else drawn

    def step() -> int:
        learner.step([next(batches)])
        return config.batches.batch_size

    return step


class PlainLoop:
    """A plain loop with the same model, losses and data; it decodes files unless told how to read clips."""

    def __init__(
        self, config: TrainConfig, videos: Sequence[Video], read: Reader | None = None
    ) -> None:
        start = Start.of(config)
        self._config = config
        self._videos = videos
        self._read = read or partial(decoded, num_frames=config.frames.num_frames)
        self._device = start.device
        self._tokenizer = start.tokenizer
        self._transform = open_clip.image_transform(config.encoder.image_size, is_train=False)

        self._model = start.model
        self._model.train()
        if config.encoder.train == "text":
            self._model.visual.requires_grad_(False).eval()
        self._losses = build_losses(config.objective.losses)
        learning = [weight for weight in self._model.parameters() if weight.requires_grad]
        self._optimizer = torch.optim.RMSprop(learning, lr=config.rate.learning_rate)
        self._rows = _shuffled(len(videos))
        self._sentences = WorldSentences(scenes_of(videos))

    def step(self) -> int:
        """Take a training step, and return its number of captions."""
        rows = [next(self._rows) for _ in range(self._config.batches.batch_size)]
        captions = [self._sentences.draw(row, random.Random(row)) for row in rows]
        negations = [caption.negate() or caption.text for caption in captions]
        batch = EmbeddedBatch(
            video=self._encode_videos(rows),
            caption=self._encode_texts([caption.text for caption in captions]),
            logit_scale=self._model.logit_scale.exp(),
            inputs={Negated: EmbeddedNegated(self._encode_texts(negations))},
        )
        loss, _ = self._losses(batch)
        self._optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self._optimizer.step()
        return len(rows)

    def _encode_videos(self, rows: Sequence[int]) -> torch.Tensor:
        pictures = []
        for row in rows:
            for frame in self._read(self._videos[row].path):
                pictures.append(self._transform(frame))
        frames = torch.stack(pictures).to(self._device)  # (b F, 3, S, S)
        embeddings = self._model.encode_image(frames, normalize=True)
        return normalize(embeddings.unflatten(0, (len(rows), -1)).mean(dim=1), dim=-1)  # (b, D)

    def _encode_texts(self, texts: list[str]) -> torch.Tensor:
        tokens = self._tokenizer(texts).to(self._device)
        embeddings: torch.Tensor = self._model.encode_text(tokens, normalize=True)
        return embeddings


def _shuffled(length: int) -> Iterator[int]:
    rng = random.Random(0)
    while True:
        yield from rng.sample(range(length), length)


def decoded(path: Path, num_frames: int) -> list[Image.Image]:
    """Decode all frames of a file, and return those at the centres of equal segments."""
    capture = cv2.VideoCapture(str(path))
    frames = []
    while True:
        was_read, pixels = capture.read()
        if not was_read:
            break
        frames.append(Image.fromarray(cv2.cvtColor(pixels, cv2.COLOR_BGR2RGB)))
    capture.release()
    return [frames[position] for position in frame_positions(len(frames), num_frames)]


def extracted(videos: Sequence[Video], num_frames: int, folder: Path) -> Reader:
    """Write the frames of all clips as JPEG files, and return how to read them."""
    for video in videos:
        for number, frame in enumerate(decoded(video.path, num_frames)):
            frame.save(folder / f"{video.path.stem}_{number}.jpg", quality=95)

    def read(path: Path) -> list[Image.Image]:
        return [
            Image.open(folder / f"{path.stem}_{number}.jpg").convert("RGB")
            for number in range(num_frames)
        ]

    return read


def captions_per_s(step: Step, steps: int) -> float:
    """Time some steps, including pending GPU work."""
    if torch.cuda.is_available():
        # Their batches were drawn during the other loops' turns.
        for _ in range(AHEAD):
            step()
        torch.cuda.synchronize()
    start_s = time.perf_counter()
    captions = sum(step() for _ in range(steps))
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return captions / (time.perf_counter() - start_s)


def measure(row: Row, videos: Sequence[Video], rounds: int) -> list[object]:
    """Return a table row: captions per second of the three loops, and how many times the plain ones."""
    config = row.config
    with TemporaryDirectory() as folder:
        reader = extracted(videos, config.frames.num_frames, Path(folder))
        clips = gallery_clips(config, videos)
        loops = (
            trainer_loop(config, clips),
            PlainLoop(config, videos).step,
            PlainLoop(config, videos, reader).step,
        )
        # The first step warms up.
        for step in loops:
            step()
        rates = np.zeros((rounds, len(loops)))
        for number in range(rounds):
            for column, step in enumerate(loops):
                rates[number, column] = captions_per_s(step, row.steps)
    # How many times the rate of each plain loop.
    factors = rates[:, :1] / rates[:, 1:]
    cells = [ranged(column.tolist()) for column in np.hstack([rates, factors]).T]
    return [row.name, config.batches.batch_size, *cells]


def main() -> None:
    """Print one table row per model."""
    prepare_environment()
    parser = arguments("training", __doc__)
    choices = rows()
    parser.add_argument(
        "rows", nargs="*", metavar="ROW", help=f"{', '.join(choices)} (default: all)"
    )
    parser.add_argument(
        "--rounds",
        type=int,
        default=5,
        help="rounds per loop, after a step to warm up (default: 5)",
    )
    options = parser.parse_args()
    videos = built_in_gallery().videos
    loops = "trainer", "loop that decodes", "loop on extracted frames"
    write_head("captions/s", "clips per step", *loops, "times the first", "times the second")
    for name in options.rows or choices:
        write_row(*measure(choices[name], videos, options.rounds))


if __name__ == "__main__":
    main()
