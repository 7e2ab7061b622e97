"""Loads the clips of a training: rendered, decoded, embedded beforehand, or captions alone."""

import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from random import Random
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
from nt2vr.models.encoder import Frames
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
from trainer.runs.run_folder import data_dir_of

logger = logging.getLogger(__name__)
# Captions of the built-in world that are parsed: they are long and much alike.
MAX_FREE = 8_000


class Reading(NamedTuple):
    """What of a training's clips is read.

    Attributes:
        videos: otherwise captions alone are read, or written about the built-in world.
        denials: captions are parsed, so that denying sentences can be made of them.
    """

    videos: bool = True
    denials: bool = False


VIDEOS_ALONE = Reading()


@dataclass(frozen=True)
class ClipLoader:
    """Loads a training's clips.

    Those that are not in the folder `cache`, or in `frame_cache`, are rendered or decoded.
    """

    config: TrainConfig
    cache: Path
    reading: Reading = VIDEOS_ALONE
    progress: Progress = silent

    def load(self, split: TrainingSplit) -> Clips:
        """Load the clips that the config trains or validates on: always the same ones."""
        config = self.config
        count = config.dataset.num_clips
        if split == "validation":
            count = config.validation.validation_clips
        if not self.reading.videos:
            return self._captions(split, count)
        if not config.dataset.is_world:
            return self._dataset(split, count)

        free = 0.0
        if self.reading.denials and split == "train":
            free = config.negation.free
        return world_clips(
            split,
            count=count,
            num_frames=config.frames.num_frames,
            framing=config.framing,
            seed=config.run.seed,
            cache=self.cache,
            free=free,
            progress=self.progress,
            # A frozen visual tower embeds the clips once, and needs no frames after that.
            draws=config.encoder.trains_visual,
        )

    def _captions(self, split: TrainingSplit, count: int) -> Clips:
        settings = self.config.dataset
        name = NAME
        captions: list[str] = []
        if not settings.is_world:
            name, captions = read_split(self.config, split)
            # An unusable validation split is refused now, before all captions are parsed.
            if split == "train":
                read_split(self.config, "validation")

        is_filled_up = settings.is_world or (settings.add_world and split == "train")
        num_missing = count - len(captions)
        if is_filled_up and num_missing > 0:
            captions += world_captions(
                split,
                count=num_missing,
                seed=self.config.run.seed,
                progress=self.progress,
                folder=self.cache,
            )
        return caption_clips(name, captions, progress=self.progress, cache=self.cache)

    def _dataset(self, split: TrainingSplit, count: int) -> Clips:
        data = self.config.dataset.data
        video_input = self.config.video_input
        has_files = video_input is None
        with progress_bar(self.progress) as report:
            dataset = load_dataset(data, split, with_files=has_files, progress=report)
            # An unusable validation split is refused now, before all videos are decoded.
            if split == "train":
                load_dataset(data, split="validation", with_files=has_files, progress=report)
        if split == "train":
            for remark in dataset.remarks:
                logger.warning(remark)
        if video_input is None:
            return self._of_frames(dataset, split, count)
        return self._of_vectors(dataset, split, count=count, video_input=video_input)

    def _of_frames(self, dataset: Dataset, split: TrainingSplit, count: int) -> Clips:
        chosen = sample(dataset.videos, count)
        # The other processes read what the first one has stored.
        decodes = process_rank() == 0
        with progress_bar(self.progress) as report, frame_cache(self.cache) as store:
            videos, frames, name = decode_videos(
                chosen,
                self.config.frames.num_frames,
                self.config.framing,
                cache=store,
                progress=report,
                decodes=decodes,
            )
        ids = [f"{video.video_id} {video.key}" for video in videos]
        clips = Clips(
            frames=frames,
            sentences=self._sentences(videos),
            path=self.cache / name,
            name=dataset.name,
            ids=ids,
        )
        return self._with_queries(
            clips, split, dataset=dataset.videos, chosen=chosen, readable=videos
        )

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
        return self._with_queries(clips, split, dataset=usable, chosen=videos, readable=videos)

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
        with progress_bar(self.progress) as report:
            queries = evaluation_queries(
                in_order, clips=readable, folder=query_folder(self.cache), progress=report
            )
        return replace(clips, queries=queries)

    def _sentences(self, videos: Sequence[Video]) -> CaptionSentences:
        captions = [video.captions for video in videos]
        denials = None
        if self.reading.denials:
            max_per_video = math.ceil(MAX_PARSED / len(videos))
            to_parse = chain.from_iterable(of_video[:max_per_video] for of_video in captions)
            denials = denials_of(list(to_parse), self.progress, self.cache)
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
    """Render clips of the built-in world, or read them from `cache`.

    Args:
        free: share of denying sentences that are made of parsed captions, and so are freer than
            the world's grammar.
        draws: False if embeddings are enough.
    """
    scenes = sample_scenes(split, count, seed)
    file = ClipFile.of(split, scenes, num_frames=num_frames, framing=framing, cache=cache)
    frames: Frames | ClipFile = file
    if draws:
        with progress_bar(progress) as report:
            frames = file.frames(report)

    denials = None
    if free:
        captions = []
        for row, scene in enumerate(scenes[:MAX_FREE]):
            rng = Random(f"{seed} free {row}")
            captions.append(describe(scene, rng).text)
        denials = denials_of(captions, progress, cache)
    return Clips(
        frames=frames,
        sentences=WorldSentences(scenes, free, denials),
        path=file.path,
        name=NAME,
    )


def frame_cache(folder: Path) -> Cache:
    """Open the cache of video files.

    For runs in a data folder it is the app's, so that evaluation shares the frames.
    """
    data_dir = data_dir_of(folder)
    if data_dir is None:
        return Cache(folder / "content", frames=folder / "frames")
    return Cache.of(data_dir)
