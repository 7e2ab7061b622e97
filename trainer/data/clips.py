"""Training data: frames, cached on disk, and a source of sentences. No other module knows where data comes from."""

import logging
import random
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from nt2vr.datasets.features import read_features
from nt2vr.datasets.load import held_out_of, load_dataset, sample, sample_ids
from nt2vr.errors import DatasetError
from nt2vr.files import expanded
from nt2vr.media.gallery import Video
from nt2vr.media.store import Cache, StoredClips
from nt2vr.media.video_files import decode_videos
from nt2vr.models.encoder import Encoder
from nt2vr.models.framing import Framing
from nt2vr.negation.generate.denials import CaptionDenials
from nt2vr.negation.generate.query_sets import read_any_captions
from nt2vr.progress import Progress, progress_bar, silent, tracked
from nt2vr.settings import process_rank
from nt2vr.world import NAME, WORLD
from nt2vr.world.captions import describe
from nt2vr.world.drawn.clips import ClipFile, embed_frames, embedded_once
from nt2vr.world.drawn.shipped import embed_undrawn
from nt2vr.world.sampling import sample_scenes
from nt2vr.world.scenes import Scene, SceneSplit
from trainer.config import TrainConfig, is_captions_file
from trainer.data.sentences import CaptionSentences, SentenceSource, WorldSentences, captions_of
from trainer.data.verbs import Verbs

TrainingSplit = Literal["train", "validation"]
Captions = Mapping[str, Sequence[str]]  # by the id of their video

logger = logging.getLogger(__name__)
MAX_PARSED = 40_000  # captions of a dataset with videos that denying sentences are made of: a minute's work
DRAFTS = 3  # of a caption for a text tower alone: people write shorter ones than the built-in world
MAX_FREE = 8_000  # captions of the built-in world, which are long and much alike


@dataclass(frozen=True, eq=False)
class Clips:
    """Clips to train or to validate on.

    Attributes:
        frames: (N, F, S, S, 3) uint8 RGB, maybe on disk, or undrawn; F is 0 where only captions are read, and S where
            features stand for frames.
        path: identifies the frames, next to the cache of their embeddings; None if these are not cached.
        verbs: captions with another verb; None where no loss needs them.
        features: (N, W), computed by other code; None for clips that are seen.
    """

    frames: NDArray[np.uint8] | StoredClips | ClipFile
    sentences: SentenceSource
    path: Path | None = None
    name: str = "unnamed"
    verbs: Verbs | None = None
    features: NDArray[np.float32] | None = None

    def __len__(self) -> int:
        return len(self.frames)

    @property
    def num_captions(self) -> int:
        """Total number of captions; 0 if they are generated as they are drawn."""
        return sum(map(self.sentences.num_captions, range(len(self))))

    @property
    def has_videos(self) -> bool:
        """True unless only captions are read."""
        return bool(self.frames.shape[1])

    @property
    def unit(self) -> str:
        """The noun for what `len` counts."""
        return "clips" if self.has_videos else "captions"

    def captions(self, seed: str) -> list[str]:
        """Draw one caption per clip; equal seeds give equal captions."""
        return captions_of(self.sentences, seed)

    def all_captions(self, rows: Iterable[int]) -> list[str]:
        """Return every caption of these clips."""
        numbered = ((row, number) for row in rows for number in range(self.sentences.num_captions(row)))
        return [self.sentences.caption(row, random.Random(), number) for row, number in numbered]

    def embeddings(self, encoder: Encoder, progress: Progress = silent) -> NDArray[np.float32]:
        """Encode and pool all clips: (N, D), L2-normalised, or whatever the encoder pools to; features stay as is."""
        if self.features is not None:
            return self.features
        with progress_bar(progress) as shown:
            if isinstance(self.frames, ClipFile):
                return embed_undrawn(self.frames, encoder, shown)
            each = (self.frames[row] for row in range(len(self)))
            return embed_frames(encoder, tracked(each, len(self), "embedding clips", shown))

    def embedded_once(self, encoder: Encoder, progress: Progress = silent) -> NDArray[np.float32]:
        """Encode all clips, or read the cached embeddings; a visual tower is identified by its fingerprint."""
        if self.path is None:
            return self.embeddings(encoder, progress)
        return embedded_once(self.path, encoder, encoder.card, lambda: self.embeddings(encoder, progress))


@dataclass(frozen=True)
class ClipLoader:
    """Loads a training's clips, rendering or decoding those that are not in the folder `cache`, or in `frame_cache`.

    Without "video" among `needs`, as of `WeightedLosses`, only captions are read, or written about the built-in world.
    """

    config: TrainConfig
    cache: Path
    needs: Set[str] = frozenset({"video"})
    progress: Progress = silent

    def load(self, split: TrainingSplit) -> Clips:
        """Load the clips that the config trains or validates on: always the same ones."""
        if "video" not in self.needs:
            clips = self._captions(split)
        elif self.config.data == WORLD:
            clips = self._world(split)
        else:
            clips = self._features(split) if self.config.features else self._videos(split)
        if "verbs" in self.needs and split == "train":
            with progress_bar(self.progress) as shown:
                return replace(clips, verbs=Verbs.of(clips.sentences, self.config, shown))
        return clips

    def _world(self, split: TrainingSplit) -> Clips:
        config = self.config
        return world_clips(
            split,
            config.num_clips if split == "train" else config.validation_clips,
            config.num_frames,
            config.framing,
            config.seed,
            self.cache,
            config.free if "denied" in self.needs and split == "train" else 0.0,
            self.progress,
            draws=config.trains_visual,  # a frozen visual tower needs no frames again
        )

    def _captions(self, split: TrainingSplit) -> Clips:
        config = self.config
        if config.data == WORLD:
            count = config.num_clips if split == "train" else config.validation_clips
            return caption_clips(NAME, world_captions(split, count, config.seed, self.progress), self.progress)
        name, captions = read_split(config, split)
        if split == "train":
            read_split(config, "validation")  # fails now, before all is parsed
            if missing := config.add_world and max(0, config.num_clips - len(captions)):
                captions += world_captions(split, missing, config.seed, self.progress)
        return caption_clips(name, captions, self.progress)

    def _videos(self, split: TrainingSplit) -> Clips:
        config = self.config
        dataset = load_dataset(config.data, split)
        videos = sample(dataset.videos, config.num_clips if split == "train" else config.validation_clips)
        if split == "train":
            load_dataset(config.data, "validation")  # fails now, before all is decoded
            for remark in dataset.remarks:
                logger.warning(remark)
        decodes = process_rank() == 0  # the others take what the first has stored
        with progress_bar(self.progress) as shown, frame_cache(self.cache) as store:
            videos, frames, name = decode_videos(videos, config.num_frames, config.framing, store, shown, decodes)
        return Clips(frames, self._sentences(videos), self.cache / name, dataset.name)

    def _features(self, split: TrainingSplit) -> Clips:
        config = self.config
        dataset = load_dataset(config.data, split, with_files=False)
        if split == "train":
            load_dataset(config.data, "validation", with_files=False)  # fails now, before all are read
        features = read_features(config.data, config.features, [video.video_id for video in dataset.videos])
        videos = [video for video in dataset.videos if video.video_id in features.of_video]
        chosen = sample(videos, config.num_clips if split == "train" else config.validation_clips)
        if missing := len(dataset.videos) - len(videos):
            remark = "%d of %d videos (%s) have no features %s; they are left out."
            logger.warning(remark, missing, len(dataset.videos), split, config.features)
        rows = np.stack([features.of_video[video.video_id] for video in chosen])
        no_frames = np.empty((len(rows), 1, 0, 0, 3), np.uint8)
        return Clips(no_frames, self._sentences(chosen), name=dataset.name, features=rows)

    def _sentences(self, videos: Sequence[Video]) -> CaptionSentences:
        captions = [video.captions for video in videos]
        denials = None
        if "denied" in self.needs:
            most = -(-MAX_PARSED // len(videos))
            denials = denials_of([caption for some in captions for caption in some[:most]], self.progress)
        return CaptionSentences(captions, denials, queries_all=self.config.num_captions > 0)


def caption_clips(name: str, captions: Sequence[str], progress: Progress = silent) -> Clips:
    """Return captions, each standing for a clip that nothing looks at."""
    frames = np.empty((len(captions), 0, 1, 1, 3), np.uint8)
    each = [[caption] for caption in captions]
    return Clips(frames, CaptionSentences(each, denials_of(captions, progress), has_videos=False), name=name)


def world_captions(split: SceneSplit, count: int, seed: int, progress: Progress = silent) -> list[str]:
    """Write captions of the built-in world, one per scene, the shortest of DRAFTS, none twice: at most `count`."""
    with progress_bar(progress) as shown:
        drawn = tracked(enumerate(sample_scenes(split, count, seed)), count, "writing captions", shown)
        drafts = (
            [describe(scene, random.Random(f"{seed} text {row} {draft}")).text for draft in range(DRAFTS)]
            for row, scene in drawn
        )
        return list(dict.fromkeys(min(texts, key=len) for texts in drafts))


def frame_cache(folder: Path) -> Cache:
    """Open the cache of video files: the app's for runs in its data folder, so that evaluation shares the frames."""
    if folder.parts[-2:] == ("runs", ".frames"):
        return Cache.of(folder.parents[1])
    return Cache(folder / "content", frames=folder / "frames")


def world_clips(
    split: SceneSplit,
    count: int,
    num_frames: int,
    framing: Framing,
    seed: int,
    cache: Path,
    free: float = 0.0,
    progress: Progress = silent,
    draws: bool = True,
) -> Clips:
    """Render clips of the built-in world, or read them from `cache`; `draws` is False if embeddings are enough."""
    scenes = sample_scenes(split, count, seed)
    file = ClipFile.of(split, scenes, num_frames, framing, cache)
    with progress_bar(progress) as shown:
        frames = file.frames(shown) if draws else file
    denials = free_denials(scenes, seed, progress) if free else None
    return Clips(frames, WorldSentences(scenes, free, denials), file.path, NAME)


def free_denials(scenes: Sequence[Scene], seed: int, progress: Progress = silent) -> CaptionDenials:
    """Parse captions of the first scenes, so that sentences freer than the world's grammar can be made of them."""
    described = enumerate(scenes[:MAX_FREE])
    captions = [describe(scene, random.Random(f"{seed} free {row}")).text for row, scene in described]
    return denials_of(captions, progress)


def read_split(config: TrainConfig, split: TrainingSplit) -> tuple[str, list[str]]:
    """Read the display name and at most `num_clips` or `validation_clips` captions; the videos need not exist.

    A tenth of a captions file's videos is held out, at most HELD_OUT, by a hash of their ids, as in a dataset without
    a validation split. No validation caption also occurs in the training split, whichever video it describes.
    """
    name, training, validation = _captions_by_video(config.data)
    captions = _sampled(training, config.num_clips)
    if split == "validation":
        trained = {caption.lower() for some in training.values() for caption in some}
        unseen = {video: [text for text in some if text.lower() not in trained] for video, some in validation.items()}
        captions = _sampled(unseen, config.validation_clips)
    if not captions:
        raise DatasetError(f"{name} has no captions that could be held out for validation. Add captions.")
    return name, captions


def _captions_by_video(data: str) -> tuple[str, Captions, Captions]:
    """Return a display name, and the captions to train and to validate on."""
    if is_captions_file(path := expanded(data)):
        videos = read_any_captions(path)
        held_out = held_out_of(videos)
        kept = {video: some for video, some in videos.items() if video not in held_out}
        return path.name, kept, {video: videos[video] for video in held_out}
    train, validation = (load_dataset(data, part, with_files=False) for part in ("train", "validation"))
    trained, others = ({video.video_id: video.captions for video in each.videos} for each in (train, validation))
    return train.name, trained, others


def _sampled(videos: Captions, count: int) -> list[str]:
    numbered = {f"{video}#{n}": text for video, texts in videos.items() for n, text in enumerate(texts)}
    return list(dict.fromkeys(numbered[key] for key in sample_ids(numbered, len(numbered))))[:count]


def denials_of(captions: Sequence[str], progress: Progress = silent) -> CaptionDenials:
    """Parse captions to draw denying sentences from; takes about a minute for 30,000."""
    with progress_bar(progress) as shown:
        return CaptionDenials(tracked(captions, len(captions), "parsing captions", shown))
