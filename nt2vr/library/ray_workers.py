"""Encoding on a Ray cluster: its workers decode and encode clips, and this process alone stores the embeddings.

It needs the extra `nt2vr[ray]`; every node needs nT2VR, the model and, under the same paths, the
videos. Workers are plain actors, not Ray Data's: those lose a whole block with a worker, and a
batch here is one forward pass.
"""

import re
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import Any
from warnings import catch_warnings

import numpy as np
from numpy.typing import NDArray

from nt2vr.errors import ConfigError, GalleryError, Nt2vrError, quoted, reason_of
from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import Video
from nt2vr.media.video_files import decode_files
from nt2vr.models.catalog import Catalog
from nt2vr.models.encoder import BATCH_FRAMES, Encoder
from nt2vr.search.embed_clips import Encode, Some, embeddings_of
from nt2vr.settings import Settings, project_version

ADDRESS = re.compile(r"auto|(ray://)?[^\s/]+:\d+")
AT_ONCE = 4  # batches per worker: one is encoded while others are decoded
MOST_CORES = 8  # of a worker without a GPU
TRIES = 3  # workers that may end with a batch under way
READY = -1  # instead of the number of a batch: asks a worker whether it is ready
POLL_S = 0.5  # between looks at whether to stop
Load = Callable[[], Encoder]


class Worker:
    """An encoder with a decoder, in a process of its own; one of another identity than `expected` is refused."""

    def __init__(self, load: Load, expected: str, num_cores: int) -> None:
        self._load, self._expected, self._one_at_a_time = load, expected, Lock()
        self._encoder: Encoder | None = None
        self._decoder = Decoder(num_cores)

    def encode(self, clips: Sequence[Video]) -> tuple[NDArray[np.float32], dict[str, str]]:
        """Return the embeddings (B, F, D) of the clips that can be decoded, and ids and reasons of the others."""
        with self._one_at_a_time:
            encoder = self._encoder or self._load()
            if (own := identity_of(encoder)) != self._expected:
                problem = f"is not that of this process ({own}, not {self._expected})"
                raise ConfigError(f"its model or version {problem}. Install the same on all nodes.")
            self._encoder = encoder
        failed: dict[str, str] = {}
        read = list(decode_files(clips, encoder.num_frames, encoder.framing, self._decoder, failed))
        with self._one_at_a_time:
            if not read:
                return np.empty((0, *encoder.stored_shape), np.float32), failed
            clips, frames = zip(*read, strict=True)
            return embeddings_of(clips, frames, encoder, self._decoder), failed


def identity_of(encoder: Encoder) -> str:
    """Return what embeddings depend on: the version of nT2VR, and the encoder's key."""
    return f"nT2VR {project_version()}, {encoder.name}, {encoder.card.visual_key}"


def load_like(data_dir: Path, device: str, name: str, precision: str) -> Encoder:
    """Load a model on a worker, to compute in the precision of the process that stores the embeddings."""
    encoder = Catalog.of(Settings.read(data_dir, device)).load(name)
    encoder.set_precision(precision)
    return encoder


def plan(nodes: Sequence[Mapping[str, float]]) -> tuple[int, int, int]:
    """Return how many workers a cluster has room for, and the cores and GPUs of each, from its nodes' resources.

    Each GPU has a worker. Without any, the smallest node has one, or several of MOST_CORES.
    """
    with_gpus = [
        (int(node.get("CPU", 0)), int(node["GPU"])) for node in nodes if node.get("GPU", 0) >= 1
    ]
    if with_gpus:
        return (
            sum(gpus for _, gpus in with_gpus),
            min(cores // gpus for cores, gpus in with_gpus),
            1,
        )
    cores = [int(node["CPU"]) for node in nodes if node.get("CPU", 0) >= 1]
    if not cores:
        raise ConfigError("The Ray cluster has neither GPUs nor cores. Start its nodes with some.")
    each = min(MOST_CORES, *cores)
    return sum(own // each for own in cores), each, 0


@contextmanager
def ray_workers(address: str, load: Load, like: Encoder) -> Iterator[Encode]:
    """Connect to a Ray cluster ("auto", "ray://host:10001", "host:6379"); yield what encodes there as `like` does."""
    if not ADDRESS.fullmatch(address):
        raise ConfigError(f"{quoted(address)} is no Ray cluster. Write auto, or ray://host:10001.")
    try:
        ray = import_module("ray")
    except ImportError:
        raise ConfigError("Encoding on Ray needs its package: pip install 'nt2vr[ray]'.") from None
    try:
        with catch_warnings(action="ignore"):  # the error says it all
            ray.init(address, logging_level="error", log_to_driver=False)
        resources = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    except (OSError, RuntimeError, ValueError, ImportError) as error:
        where = f"{address} ({reason_of(error).rstrip('.')})"
        raise ConfigError(
            f"No Ray cluster answers at {where}. Start one there: ray start --head."
        ) from error

    def encode(
        clips: Sequence[Video], failed: dict[str, str], report: Callable[[], None]
    ) -> Iterator[Some]:
        size = max(1, BATCH_FRAMES // like.num_frames)
        batches = [clips[start : start + size] for start in range(0, len(clips), size)]
        crew = _Crew(ray, partial(actor.remote, load, identity_of(like), num_cores), batches)
        try:
            for _ in range(min(most, len(batches))):
                crew.start_worker()
            unfinished = len(batches)
            while unfinished:
                report()
                for batch, (embeddings, reasons) in crew.results():
                    unfinished -= 1
                    failed |= reasons
                    if embedded := [clip for clip in batch if clip.video_id not in reasons]:
                        yield embedded, embeddings
        finally:
            for worker in crew.workers:
                ray.kill(worker)

    try:
        most, num_cores, num_gpus = plan(resources)
        actor = ray.remote(num_cpus=num_cores, num_gpus=num_gpus, max_concurrency=AT_ONCE)(Worker)
        yield encode
    finally:
        ray.shutdown()


class _Crew:
    """Workers with batches to do; one that ends is replaced, and its batches are given to others."""

    def __init__(
        self, ray: Any, start: Callable[[], Any], batches: Sequence[Sequence[Video]]
    ) -> None:
        self._ray, self._start, self._batches = ray, start, batches
        self.workers = list[Any]()
        self._todo = deque(range(len(batches)))
        self._free = list[Any]()  # workers, once per batch that they can take
        self._running = dict[
            Any, tuple[Any, int]
        ]()  # worker and number of the batch, by the reference of the result
        self._ended = Counter[int]()  # workers, by the batch under way

    def start_worker(self) -> None:
        """Start a worker; it is given batches once it is ready, which on a busy cluster it may never be."""
        self.workers.append(self._start())
        self._send(self.workers[-1], READY)

    def _send(self, worker: Any, number: int) -> None:
        clips = self._batches[number] if number != READY else ()
        self._running[worker.encode.remote(clips)] = worker, number

    def results(
        self,
    ) -> Iterator[tuple[Sequence[Video], tuple[NDArray[np.float32], dict[str, str]]]]:
        """Give out batches, wait POLL_S at most, and yield the files and results of those that are back."""
        while self._free and self._todo:
            self._send(self._free.pop(), self._todo.popleft())
        for reference in self._ray.wait(list(self._running), timeout=POLL_S)[0]:
            worker, number = self._running.pop(reference)
            try:
                result = self._ray.get(reference)
            except self._ray.exceptions.RayTaskError as error:
                if isinstance(error.cause, Nt2vrError):
                    raise ConfigError(f"A Ray worker cannot encode: {error.cause}") from None
                raise
            except self._ray.exceptions.RayError as error:
                self._replace(worker, number, error)
                continue
            if worker in self.workers:
                self._free += [worker] * (AT_ONCE if number == READY else 1)
            if number != READY:
                yield self._batches[number], result

    def _replace(self, worker: Any, number: int, error: Exception) -> None:
        self._ended[number] += 1
        is_starting = number == READY
        if self._ended[number] == TRIES * (len(self.workers) if is_starting else 1):
            doing = (
                "start" if is_starting else f"encode {self._batches[number][0].video_id} and others"
            )
            raise GalleryError(
                f"The workers of the Ray cluster end as they {doing} ({reason_of(error).rstrip('.')}). What is "
                "embedded is kept. Read the cluster's logs, then update the library."
            )
        if not is_starting:
            self._todo.appendleft(number)
        if worker in self.workers:  # this is the first of its batches that fails
            self.workers.remove(worker)
            self._free = [other for other in self._free if other != worker]
            self._ray.kill(worker)
            self.start_worker()
