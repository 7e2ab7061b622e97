"""Loads the clips of a training: rendered, decoded, embedded beforehand, or captions alone."""

import logging
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from nt2vr.datasets.base import Dataset
from nt2vr.datasets.load import load_dataset
from nt2vr.datasets.splits import sample
from nt2vr.datasets.video_inputs import read_vectors
from nt2vr.media.clip_frames import decode_videos
from nt2vr.media.gallery import Video
from nt2vr.media.store import Cache
from nt2vr.models.capabilities import VideoInputName
from nt2vr.models.framing import Framing
from nt2vr.progress import Progress, progress_bar, silent
from nt2vr.settings import process_rank
from nt2vr.world import NAME
from nt2vr.world.captions import describe
from nt2vr.world.drawn.clips import ClipFile
from nt2vr.world.sampling import sample_scenes
from nt2vr.world.scenes import SceneSplit
from trainer.config import TrainConfig
from trainer.data.caption_clips import (
    TrainingSplit,
    caption_clips,
    denials_of,
    read_split,
    world_captions,
)
from trainer.data.clips import Clips
from trainer.data.queries import evaluation_queries, query_folder
from trainer.data.sentences import (
    MAX_PARSED,
    CaptionSentences,
    WorldSentences,
)

logger = logging.getLogger(__name__)
MAX_FREE = 8_000  # captions of the built-in world, which are long and much alike


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


def frame_cache(folder: Path) -> Cache:
    """Open the cache of video files: the app's for runs in its data folder, so that evaluation shares the frames."""
    if folder.parts[-2:] == ("runs", ".frames"):
        return Cache.of(folder.parents[1])
    return Cache(folder / "content", frames=folder / "frames")
