"""Training data: frames, cached on disk, sentences, and words. No other module knows where data comes from."""

import logging
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter

from nt2vr.datasets.base import Dataset
from nt2vr.datasets.load import load_dataset
from nt2vr.datasets.splits import held_out_of, sample, sample_ids
from nt2vr.datasets.video_inputs import read_vectors
from nt2vr.errors import DatasetError
from nt2vr.evaluation.queries import JudgedQuery
from nt2vr.files import expanded
from nt2vr.media.clip_frames import decode_videos
from nt2vr.media.frames import StoredClips
from nt2vr.media.gallery import Video
from nt2vr.media.store import Cache
from nt2vr.models.capabilities import VideoInputName
from nt2vr.models.encoder import Encoder
from nt2vr.models.framing import Framing
from nt2vr.negation.generate.denials import CaptionDenials, ParsedCaption, parse_caption
from nt2vr.negation.generate.query_sets import read_any_captions
from nt2vr.progress import Progress, progress_bar, silent, tracked
from nt2vr.settings import process_rank
from nt2vr.world import NAME
from nt2vr.world.captions import describe
from nt2vr.world.drawn.clips import ClipFile, embed_frames, embedded_once
from nt2vr.world.drawn.shipped import embed_undrawn
from nt2vr.world.sampling import sample_scenes
from nt2vr.world.scenes import Scene, SceneSplit
from trainer.config import TrainConfig, is_captions_file
from trainer.data.queries import evaluation_queries, query_folder
from trainer.data.remembered import remembered
from trainer.data.sentences import (
    MAX_PARSED,
    CaptionSentences,
    SentenceSource,
    WorldSentences,
    captions_of,
)

TrainingSplit = Literal["train", "validation"]
Captions = Mapping[str, Sequence[str]]  # by the id of their video

logger = logging.getLogger(__name__)
DRAFTS = 3  # of a caption for a text tower alone: people write shorter ones than the built-in world
MAX_FREE = 8_000  # captions of the built-in world, which are long and much alike
TEXT, PARSED = TypeAdapter(str), TypeAdapter(ParsedCaption)  # as JSON


@dataclass(frozen=True, eq=False)
class Clips:
    # (N, F, S, S, 3) uint8 RGB, on disk or undrawn; F is 0 for captions alone, and S where vectors
    # stand for frames
    frames: NDArray[np.uint8] | StoredClips | ClipFile
    sentences: SentenceSource
    path: Path | None = (
        None  # identifies the frames, next to the cache of their embeddings; None: nothing is cached
    )
    name: str = "unnamed"
    # (N, W), of the input that is read instead of frames; None for clips that are seen
    vectors: NDArray[np.float32] | None = None
    ids: Sequence[
        str
    ] = ()  # N names of clips with what their files contain; none where only captions are read
    queries: tuple[
        JudgedQuery, ...
    ] = ()  # of held-out clips of a dataset; none where `sentences` make them

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
        return "clips" if self.has_videos else "captions"

    def captions(self, seed: str) -> list[str]:
        """Draw one caption per clip; equal seeds give equal captions."""
        return captions_of(self.sentences, seed)

    def all_captions(self, rows: Iterable[int]) -> list[str]:
        numbered = (
            (row, number) for row in rows for number in range(self.sentences.num_captions(row))
        )
        return [self.sentences.caption(row, random.Random(), number) for row, number in numbered]

    def embeddings(self, encoder: Encoder, progress: Progress = silent) -> NDArray[np.float32]:
        """Encode and pool all clips: (N, D), L2-normalised, or whatever the encoder pools to; vectors stay as is."""
        if self.vectors is not None:
            return self.vectors
        with progress_bar(progress) as shown:
            if isinstance(self.frames, ClipFile):
                return embed_undrawn(self.frames, encoder, shown)
            each = (self.frames[row] for row in range(len(self)))
            return embed_frames(encoder, tracked(each, len(self), "embedding clips", shown))

    def embedded_once(self, encoder: Encoder, progress: Progress = silent) -> NDArray[np.float32]:
        """Encode all clips, or read the cached embeddings; a visual tower is identified by its fingerprint."""
        if self.path is None:
            return self.embeddings(encoder, progress)
        return embedded_once(
            self.path, encoder, encoder.card, lambda: self.embeddings(encoder, progress)
        )


class Reading(NamedTuple):
    """What of a training's clips is read."""

    videos: bool = True  # otherwise captions alone are read, or written about the built-in world
    denials: bool = False  # captions are parsed, so that denying sentences can be made of them


VIDEOS_ALONE = Reading()


@dataclass(frozen=True)
class ClipLoader:
    """Loads a training's clips; renders or decodes those that are not in the folder `cache`, or in `frame_cache`."""

    config: TrainConfig
    cache: Path
    reading: Reading = VIDEOS_ALONE
    progress: Progress = silent

    def load(self, split: TrainingSplit) -> Clips:
        """Load the clips that the config trains or validates on: always the same ones."""
        config, cache, progress = self.config, self.cache, self.progress
        count = config.dataset.num_clips if split == "train" else config.validation.validation_clips
        if not self.reading.videos:
            return self._captions(split, count)
        if not config.dataset.is_world:
            return self._dataset(split, count)
        free = config.negation.free if self.reading.denials and split == "train" else 0.0
        draws = config.encoder.trains_visual  # a frozen visual tower needs no frames again
        sizes = count, config.frames.num_frames, config.framing, config.run.seed
        return world_clips(split, *sizes, cache, free, progress, draws)

    def _captions(self, split: TrainingSplit, count: int) -> Clips:
        config = self.config
        if config.dataset.is_world:
            captions = world_captions(split, count, config.run.seed, self.progress, self.cache)
            return caption_clips(NAME, captions, self.progress, self.cache)
        name, captions = read_split(config, split)
        if split == "train":
            read_split(config, "validation")  # fails now, before all is parsed
            if missing := config.dataset.add_world and max(
                0, config.dataset.num_clips - len(captions)
            ):
                captions += world_captions(
                    split, missing, config.run.seed, self.progress, self.cache
                )
        return caption_clips(name, captions, self.progress, self.cache)

    def _dataset(self, split: TrainingSplit, count: int) -> Clips:
        data = self.config.dataset.data
        video_input = self.config.video_input
        has_files = video_input is None
        with progress_bar(self.progress) as shown:
            dataset = load_dataset(data, split, with_files=has_files, progress=shown)
            # What is wrong with the other split fails now, before all is decoded.
            if split == "train":
                load_dataset(data, "validation", with_files=has_files, progress=shown)
        if split == "train":
            for remark in dataset.remarks:
                logger.warning(remark)
        if video_input is None:
            return self._of_frames(dataset, split, count)
        return self._of_vectors(dataset, split, count, video_input)

    def _of_frames(self, dataset: Dataset, split: TrainingSplit, count: int) -> Clips:
        decodes = process_rank() == 0  # the others take what the first has stored
        chosen = sample(dataset.videos, count)
        with progress_bar(self.progress) as shown, frame_cache(self.cache) as store:
            sizes = (self.config.frames.num_frames, self.config.framing)
            videos, frames, name = decode_videos(chosen, *sizes, store, shown, decodes)
        ids = [f"{video.video_id} {video.key}" for video in videos]
        clips = Clips(frames, self._sentences(videos), self.cache / name, dataset.name, ids=ids)
        return self._with_queries(clips, split, dataset.videos, chosen, videos)

    def _of_vectors(
        self, dataset: Dataset, split: TrainingSplit, count: int, video_input: VideoInputName
    ) -> Clips:
        video_ids = [video.video_id for video in dataset.videos]
        of_video = read_vectors(video_input, self.config.dataset.data, video_ids).of_video
        usable = [video for video in dataset.videos if video.video_id in of_video]
        num_missing = len(dataset.videos) - len(usable)
        if num_missing:
            remark = "%d of %d videos (%s) have no %s %s; they are left out."
            logger.warning(remark, num_missing, len(dataset.videos), split, *video_input)

        videos = sample(usable, count)
        clips = Clips(
            frames=np.empty((len(videos), 1, 0, 0, 3), np.uint8),
            sentences=self._sentences(videos),
            name=dataset.name,
            vectors=np.stack([of_video[video.video_id] for video in videos]),
            ids=[video.video_id for video in videos],
        )
        return self._with_queries(clips, split, usable, videos, videos)

    def _with_queries(
        self,
        clips: Clips,
        split: TrainingSplit,
        dataset: Sequence[Video],
        chosen: Sequence[Video],
        readable: Sequence[Video],
    ) -> Clips:
        """Add the queries of held-out clips, of which the leading process alone has any use."""
        if split == "train" or process_rank() > 0:
            return clips
        chosen_ids = {video.video_id for video in chosen}
        in_order = [video for video in dataset if video.video_id in chosen_ids]
        with progress_bar(self.progress) as shown:
            queries = evaluation_queries(in_order, readable, query_folder(self.cache), shown)
        return replace(clips, queries=queries)

    def _sentences(self, videos: Sequence[Video]) -> CaptionSentences:
        captions = [video.captions for video in videos]
        denials = None
        if self.reading.denials:
            most = -(-MAX_PARSED // len(videos))
            parsed = [caption for of_video in captions for caption in of_video[:most]]
            denials = denials_of(parsed, self.progress, self.cache)
        return CaptionSentences(captions, denials, queries_all=self.config.dataset.num_captions > 0)


def caption_clips(
    name: str, captions: Sequence[str], progress: Progress = silent, cache: Path | None = None
) -> Clips:
    """Return captions, each standing for a clip that nothing looks at; what is parsed is kept in `cache`."""
    each, denials = [[caption] for caption in captions], denials_of(captions, progress, cache)
    frames = np.empty((len(captions), 0, 1, 1, 3), np.uint8)
    return Clips(frames, CaptionSentences(each, denials, has_videos=False), name=name)


def world_captions(
    split: SceneSplit,
    count: int,
    seed: int,
    progress: Progress = silent,
    folder: Path | None = None,
) -> list[str]:
    """Write captions of the built-in world, one per scene, the shortest of DRAFTS, none twice: at most `count`.

    They are kept in `folder`, and read from it.
    """

    @cache
    def scenes() -> list[Scene]:
        return sample_scenes(split, count, seed)  # half of the time, which kept captions need not

    def shortest(row: int) -> str:
        scene = scenes()[row]
        drafts = [
            describe(scene, random.Random(f"{seed} text {row} {draft}")).text
            for draft in range(DRAFTS)
        ]
        return min(drafts, key=len)

    key = f"captions {split} {count} {seed} {DRAFTS}"
    with progress_bar(progress) as shown:
        rows = tracked(range(count), count, "writing captions", shown)
        return list(dict.fromkeys(remembered(folder, key, rows, shortest, TEXT)))


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
    denials = None
    if free:  # sentences freer than the world's grammar are made of captions
        described = enumerate(scenes[:MAX_FREE])
        captions = [
            describe(scene, random.Random(f"{seed} free {row}")).text for row, scene in described
        ]
        denials = denials_of(captions, progress, cache)
    return Clips(frames, WorldSentences(scenes, free, denials), file.path, NAME)


def read_split(config: TrainConfig, split: TrainingSplit) -> tuple[str, list[str]]:
    """Read the display name and at most `num_clips` or `validation_clips` captions; the videos need not exist.

    A tenth of a captions file's videos is held out, at most HELD_OUT, by a hash of their ids, as in
    a dataset without a validation split. No validation caption also occurs in the training split,
    whichever video it describes.
    """
    name, training, validation = _captions_by_video(config.dataset.data)
    captions = _sampled(training, config.dataset.num_clips)
    if split == "validation":
        trained = {caption.lower() for some in training.values() for caption in some}
        unseen = {
            video: [text for text in some if text.lower() not in trained]
            for video, some in validation.items()
        }
        captions = _sampled(unseen, config.validation.validation_clips)
    if not captions:
        raise DatasetError(
            f"{name} has no captions that could be held out for validation. Add captions."
        )
    return name, captions


def _captions_by_video(data: str) -> tuple[str, Captions, Captions]:
    """Return a display name, and the captions to train and to validate on."""
    if is_captions_file(path := expanded(data)):
        videos = read_any_captions(path)
        held_out = held_out_of(videos)
        kept = {video: some for video, some in videos.items() if video not in held_out}
        return path.name, kept, {video: videos[video] for video in held_out}
    train, validation = (
        load_dataset(data, part, with_files=False) for part in ("train", "validation")
    )
    trained, others = (
        {video.video_id: video.captions for video in each.videos} for each in (train, validation)
    )
    return train.name, trained, others


def _sampled(videos: Captions, count: int) -> list[str]:
    numbered = {
        f"{video}#{n}": text for video, texts in videos.items() for n, text in enumerate(texts)
    }
    return list(dict.fromkeys(numbered[key] for key in sample_ids(numbered, len(numbered))))[:count]


def denials_of(
    captions: Sequence[str], progress: Progress = silent, cache: Path | None = None
) -> CaptionDenials:
    """Parse captions to draw denying sentences from, which takes about a minute for 30,000, or read them parsed."""
    key = "\n".join(["parsed", *captions])
    with progress_bar(progress) as shown:
        items = tracked(captions, len(captions), "parsing captions", shown)
        return CaptionDenials(parsed=remembered(cache, key, items, parse_caption, PARSED))
