"""Encoding on a Ray cluster, whose workers decode and encode clips; this process stores embeddings.

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
from typing import Any, NamedTuple
from warnings import catch_warnings

import numpy as np
from numpy.typing import NDArray

from nt2vr.errors import ConfigError, GalleryError, Nt2vrError, quoted, reason_of
from nt2vr.media.clip_frames import Reasons, decode_files
from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import Video
from nt2vr.models.catalog import Catalog
from nt2vr.models.encoder import BATCH_FRAMES, Encoder
from nt2vr.search.embed_clips import Batch, Encode, embeddings_of
from nt2vr.settings import Settings, project_version

ADDRESS = re.compile(r"auto|(ray://)?[^\s/]+:\d+")
# Batches per worker: one is encoded while others are decoded.
AT_ONCE = 4
# Cores of a worker without a GPU.
MOST_CORES = 8
# Number of workers that may end while they encode the same batch.
TRIES = 3
# The number that stands for no batch: it asks a worker whether it is ready.
READY = -1
# Seconds between two looks at whether to stop.
POLL_S = 0.5
Load = Callable[[], Encoder]
# Embeddings (B, F, D) of the clips that can be decoded, and reasons of the others by clip id.
EncodedBatch = tuple[NDArray[np.float32], Reasons]


class Worker:
    """An encoder with a decoder, in a process of its own.

    Args:
        expected: the identity that the encoder must have (see `identity_of`).
    """

    def __init__(self, load: Load, expected: str, num_cores: int) -> None:
        self._load = load
        self._expected = expected
        self._encoder: Encoder | None = None
        self._encoder_lock = Lock()
        self._decoder = Decoder(num_cores)

    def encode(self, clips: Sequence[Video]) -> EncodedBatch:
        """Decode clips, several calls at a time, and encode them, one call at a time."""
        with self._encoder_lock:
            encoder = self._loaded_encoder()

        failed: Reasons = {}
        decoded = list(
            decode_files(clips, encoder.num_frames, encoder.framing, self._decoder, failed)
        )
        if not decoded:
            return np.empty((0, *encoder.stored_shape), np.float32), failed

        decoded_clips, frames = zip(*decoded, strict=True)
        with self._encoder_lock:
            embeddings = embeddings_of(decoded_clips, frames, encoder, self._decoder)
        return embeddings, failed

    def _loaded_encoder(self) -> Encoder:
        """Return the encoder, loaded with the first call; raise a ConfigError if it is another."""
        if self._encoder is not None:
            return self._encoder

        encoder = self._load()
        identity = identity_of(encoder)
        if identity != self._expected:
            problem = f"is not that of this process ({identity}, not {self._expected})"
            raise ConfigError(f"its model or version {problem}. Install the same on all nodes.")
        self._encoder = encoder
        return encoder


def identity_of(encoder: Encoder) -> str:
    """Return what embeddings depend on: the version of nT2VR, and the encoder's key."""
    return f"nT2VR {project_version()}, {encoder.name}, {encoder.card.visual_key}"


def load_like(data_dir: Path, device: str, name: str, precision: str) -> Encoder:
    """Load a model on a worker, in the precision of the process that stores the embeddings."""
    encoder = Catalog.of(Settings.read(data_dir, device)).load(name)
    encoder.set_precision(precision)
    return encoder


class WorkerPlan(NamedTuple):
    """The workers that a cluster has room for."""

    num_workers: int
    cores_per_worker: int
    gpus_per_worker: int


def plan_workers(nodes: Sequence[Mapping[str, float]]) -> WorkerPlan:
    """Plan the workers of a cluster from the resources of its nodes.

    Each GPU has a worker. Without GPUs, the smallest node has one worker, or several of MOST_CORES.
    """
    gpu_nodes = [node for node in nodes if node.get("GPU", 0) >= 1]
    if gpu_nodes:
        num_gpus = sum(int(node["GPU"]) for node in gpu_nodes)
        cores_per_gpu = min(int(node.get("CPU", 0)) // int(node["GPU"]) for node in gpu_nodes)
        return WorkerPlan(num_gpus, cores_per_worker=cores_per_gpu, gpus_per_worker=1)

    node_cores = [int(node["CPU"]) for node in nodes if node.get("CPU", 0) >= 1]
    if not node_cores:
        raise ConfigError("The Ray cluster has neither GPUs nor cores. Start its nodes with some.")
    cores_per_worker = min(MOST_CORES, *node_cores)
    num_workers = sum(cores // cores_per_worker for cores in node_cores)
    return WorkerPlan(num_workers, cores_per_worker, gpus_per_worker=0)


@contextmanager
def ray_workers(address: str, load: Load, like: Encoder) -> Iterator[Encode]:
    """Connect to a Ray cluster, and yield a function that encodes there as `like` does.

    Args:
        address: "auto", "ray://host:10001" or "host:6379".
    """
    if not ADDRESS.fullmatch(address):
        raise ConfigError(
            f"{quoted(address)} is not a Ray cluster. Write auto, or ray://host:10001."
        )
    ray = _import_ray()
    resources = _connect(ray, address)
    try:
        plan = plan_workers(resources)
        worker_class = ray.remote(
            num_cpus=plan.cores_per_worker,
            num_gpus=plan.gpus_per_worker,
            max_concurrency=AT_ONCE,
        )(Worker)
        yield partial(
            _encode_on_workers,
            ray,
            partial(worker_class.remote, load, identity_of(like), plan.cores_per_worker),
            plan.num_workers,
            max(1, BATCH_FRAMES // like.num_frames),
        )
    finally:
        ray.shutdown()


def _import_ray() -> Any:
    try:
        return import_module("ray")
    except ImportError:
        raise ConfigError("Encoding on Ray needs its package: pip install 'nt2vr[ray]'.") from None


def _connect(ray: Any, address: str) -> list[Mapping[str, float]]:
    """Connect to a cluster, and return the resources of its nodes."""
    try:
        # Ray warns of what its error says, too.
        with catch_warnings(action="ignore"):
            ray.init(address, logging_level="error", log_to_driver=False)
        return [node["Resources"] for node in ray.nodes() if node["Alive"]]
    except (OSError, RuntimeError, ValueError, ImportError) as error:
        reason = reason_of(error).rstrip(".")
        raise ConfigError(
            f"No Ray cluster answers at {address} ({reason}). Start one there: ray start --head."
        ) from error


def _encode_on_workers(
    ray: Any,
    start_worker: Callable[[], Any],
    num_workers: int,
    batch_size: int,
    clips: Sequence[Video],
    failed: Reasons,
    report: Callable[[], None],
) -> Iterator[Batch]:
    """Encode clips in batches, as `Encode` does, by workers that end with the last batch."""
    starts = range(0, len(clips), batch_size)
    batches = [clips[start : start + batch_size] for start in starts]
    crew = _Crew(ray, start_worker, batches)
    try:
        for _ in range(min(num_workers, len(batches))):
            crew.start_worker()

        num_unfinished = len(batches)
        while num_unfinished:
            report()
            for batch, (embeddings, reasons) in crew.encoded_batches():
                num_unfinished -= 1
                failed.update(reasons)
                embedded = [clip for clip in batch if clip.video_id not in reasons]
                if embedded:
                    yield embedded, embeddings
    finally:
        for worker in crew.workers:
            ray.kill(worker)


class _WorkerTask(NamedTuple):
    """What a worker does: it encodes a batch, or starts, which has the number READY."""

    worker: Any
    batch_number: int

    @property
    def is_start(self) -> bool:
        return self.batch_number == READY


class _Crew:
    """Workers that encode batches. One that ends is replaced, and its batches go to others."""

    def __init__(
        self, ray: Any, start: Callable[[], Any], batches: Sequence[Sequence[Video]]
    ) -> None:
        self.workers = list[Any]()
        self._ray = ray
        self._start = start
        self._batches = batches
        self._waiting = deque(range(len(batches)))
        # A worker is in this list once for each batch that it can take.
        self._free = list[Any]()
        # Tasks by the reference of their result.
        self._running = dict[Any, _WorkerTask]()
        # Workers that have ended, counted by the batch that they were encoding.
        self._ended = Counter[int]()

    def start_worker(self) -> None:
        """Start a worker. It gets batches once it is ready, perhaps never on a busy cluster."""
        worker = self._start()
        self.workers.append(worker)
        self._running[worker.encode.remote(())] = _WorkerTask(worker, READY)

    def encoded_batches(self) -> Iterator[tuple[Sequence[Video], EncodedBatch]]:
        """Hand out batches, wait for POLL_S at most, and yield those that have come back."""
        while self._free and self._waiting:
            self._hand_out(self._waiting.popleft())

        finished, _ = self._ray.wait(list(self._running), timeout=POLL_S)
        for reference in finished:
            task = self._running.pop(reference)
            try:
                encoded = self._ray.get(reference)
            except self._ray.exceptions.RayTaskError as error:
                if isinstance(error.cause, Nt2vrError):
                    raise ConfigError(f"A Ray worker cannot encode: {error.cause}") from None
                raise
            except self._ray.exceptions.RayError as error:
                self._give_up(task, error)
                continue

            # Another task of this worker may have failed in the meantime.
            if task.worker in self.workers:
                num_batches = AT_ONCE if task.is_start else 1
                self._free += [task.worker] * num_batches
            if not task.is_start:
                yield self._batches[task.batch_number], encoded

    def _hand_out(self, batch_number: int) -> None:
        worker = self._free.pop()
        reference = worker.encode.remote(self._batches[batch_number])
        self._running[reference] = _WorkerTask(worker, batch_number)

    def _give_up(self, task: _WorkerTask, error: Exception) -> None:
        """Replace a worker that has ended, and put its batch first; raise after too many."""
        self._ended[task.batch_number] += 1
        limit = TRIES * len(self.workers) if task.is_start else TRIES
        if self._ended[task.batch_number] == limit:
            raise GalleryError(self._end_text(task, error))

        if not task.is_start:
            self._waiting.appendleft(task.batch_number)

        # The first of its tasks that fails takes the worker from the list.
        if task.worker in self.workers:
            self.workers.remove(task.worker)
            self._free = [worker for worker in self._free if worker != task.worker]
            self._ray.kill(task.worker)
            self.start_worker()

    def _end_text(self, task: _WorkerTask, error: Exception) -> str:
        action = "start"
        if not task.is_start:
            first_clip = self._batches[task.batch_number][0]
            action = f"encode {first_clip.video_id} and others"
        reason = reason_of(error).rstrip(".")
        return (
            f"The workers of the Ray cluster end as they {action} ({reason}). What is embedded is "
            "kept. Read the cluster's logs, then update the library."
        )
