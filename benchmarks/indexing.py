"""Time and memory of indexing a library: `python -m benchmarks.indexing pipeline|long [--count N] [--model NAME]`.

The videos are copies of those inside the installed `gradio` package, each with its own number
appended, so that all contents differ. Times include starting and ending the decoder's children, whose
CPU time is known only once they have ended.
"""

import os
import resource
import struct
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any, NamedTuple

import av
import gradio
import numpy as np

from benchmarks.harness import arguments, memory_mb, with_children
from nt2vr.library.libraries import Libraries
from nt2vr.library.update import update_library
from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import Video
from nt2vr.media.store import Cache
from nt2vr.media.video import sample_windows
from nt2vr.models.card import Card
from nt2vr.models.catalog import Catalog
from nt2vr.models.checkpoint import read_checkpoint, write_checkpoint
from nt2vr.models.encoder import Encoder
from nt2vr.models.framing import Framing
from nt2vr.settings import ASSETS, Settings, prepare_environment

FOOTAGE = Path(gradio.__file__).parent / "media_assets" / "videos"
# 480 x 270 pixels, 5 s.
SHORT = ("b.mp4", "muted_b.mp4", "b.avi")
RANDOM = "ViT-B-32 with random weights"
CORES = os.cpu_count() or 1
LONG_VIDEO_S = 7200
HEAD = "| | wall s | CPU s | wall × cores / CPU | per s |\n|:--|--:|--:|--:|--:|\n"


class Cost(NamedTuple):
    """What a piece of work took, children included."""

    wall_s: float
    cpu_s: float

    def row(self, name: str, count: int) -> str:
        """Write a row of the table."""
        ratio = self.wall_s / (self.cpu_s / CORES)
        return f"| {name} | {self.wall_s:.1f} | {self.cpu_s:.1f} | {ratio:.2f} | {count / self.wall_s:.1f} |\n"


class Memory(Thread):
    """Looks at the memory of this process and its children twice a second, and keeps the largest sum."""

    def __init__(self) -> None:
        """Begin."""
        super().__init__(daemon=True)
        self.peak_mb = 0.0
        self.own_mb = 0.0
        self.start()

    def run(self) -> None:
        """Look until the process ends."""
        while True:
            process_mb = [memory_mb(pid) for pid in with_children(os.getpid())]
            self.own_mb = max(self.own_mb, process_mb[0])
            self.peak_mb = max(self.peak_mb, sum(process_mb))
            time.sleep(0.5)

    def text(self) -> str:
        """Say it."""
        return f"\nPeak memory so far: {self.peak_mb:,.0f} MB with the children, {self.own_mb:,.0f} MB without.\n\n"


def cost_of(work: Callable[[], object]) -> Cost:
    """Run work that ends its child processes."""

    def cpu_s() -> float:
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        return time.process_time() + ended.ru_utime + ended.ru_stime

    start_s = time.perf_counter()
    start_cpu_s = cpu_s()
    work()
    return Cost(time.perf_counter() - start_s, cpu_s() - start_cpu_s)


def write_videos(folder: Path, count: int) -> None:
    """Copy short footage under `count` names, each with other content."""
    folder.mkdir()
    contents = [(FOOTAGE / name).read_bytes() for name in SHORT]
    for number in range(count):
        suffix = Path(SHORT[number % len(SHORT)]).suffix
        # A box that players skip.
        mark = struct.pack(">I4sQ", 16, b"free", number)
        (folder / f"{number:05}{suffix}").write_bytes(contents[number % len(SHORT)] + mark)


def load(name: str, settings: Settings, folder: Path) -> Encoder:
    """Load a model of the app's, or build the one with random weights."""
    if name != RANDOM:
        folders = [ASSETS / "models", settings.data_dir / "models"]
        return Catalog(folders, settings.device).load(name)
    import open_clip  # noqa: PLC0415

    config = open_clip.get_model_config("ViT-B-32")
    write_checkpoint(folder, open_clip.create_model("ViT-B-32"), config, {}, Card(RANDOM))
    return read_checkpoint(folder, settings.device)


def pipeline(count: int, encoder: Encoder, folder: Path, memory: Memory) -> Iterator[str]:
    """Index a folder of short videos, beside the parts alone and one after the other."""
    write_videos(folder / "videos", count)
    libraries = Libraries(folder / "libraries")
    libraries.add("videos", "folder", folder / "videos")
    framing = encoder.framing
    num_frames = encoder.num_frames
    # It warms torch up.
    encoder.encode_video(np.zeros((1, num_frames, framing.size, framing.size, 3), np.uint8))

    def update(embed: bool, previews: bool = False) -> None:
        with Decoder() as decoder, Cache.of(folder) as cache:
            embedder = encoder if embed else None
            update_library(libraries, "videos", embedder, decoder, cache, previews=previews)

    def decode() -> list[Any]:
        with Decoder() as decoder:
            decodings = [decoder.windows(*window_of(video)) for video in videos()]
            return [decoding.result() for decoding in decodings]

    def window_of(video: Video) -> tuple[Path, list[tuple[float, float]], int, Framing]:
        return video.path, [(video.start, video.end or 0.0)], num_frames, framing

    def videos() -> Sequence[Video]:
        return libraries.gallery("videos").videos

    def encode() -> None:
        frames = np.zeros((8 * num_frames, framing.size, framing.size, 3), np.uint8)
        for _ in range(0, count, 8):
            encoder.encode_video(frames[None])

    def in_turn() -> None:
        for video in videos():
            (frames,) = sample_windows(*window_of(video))
            if not isinstance(frames, str):
                encoder.encode_video(frames[None])

    yield f"\n{count} videos, {encoder.name}\n\n{HEAD}"
    yield cost_of(lambda: update(False)).row("scan: hash and probe", count)
    yield cost_of(decode).row("decoding alone, in the children", count)
    yield cost_of(encode).row("encoding alone", count)
    yield cost_of(in_turn).row("decode, then encode, in one process", count)
    yield cost_of(lambda: update(True)).row("embedding (decode, encode and write at once)", count)
    yield cost_of(lambda: update(False, True)).row("posters and previews", count)
    libraries.remove("videos")
    libraries.add("videos", "folder", folder / "videos")
    indexing = cost_of(lambda: update(True))
    yield indexing.row("**indexing: scan and embedding, without previews**", count)
    yield memory.text()


def long_video(seconds: int, encoder: Encoder, folder: Path, memory: Memory) -> Iterator[str]:
    """Index one long video."""
    (folder / "videos").mkdir()
    write_video(folder / "videos" / "long.mp4", seconds)
    libraries = Libraries(folder / "libraries")
    libraries.add("videos", "folder", folder / "videos")

    def update(previews: bool) -> None:
        with Decoder() as decoder, Cache.of(folder) as cache:
            update_library(libraries, "videos", encoder, decoder, cache, previews=previews)

    yield f"\nA video of {seconds} s, and seconds of it per second\n\n{HEAD}"
    yield cost_of(lambda: update(False)).row("indexing", seconds)
    yield cost_of(lambda: update(True)).row("posters and previews", seconds)
    yield f"\n{libraries.find('videos').num_clips} moments.\n" + memory.text()


def write_video(path: Path, seconds: int) -> None:
    """Repeat the frames of real footage, 480 x 270 at 30 per second, and encode them as H.264."""
    with av.open(str(FOOTAGE / "world.mp4")) as source:
        frames = [frame.to_ndarray(format="yuv420p") for frame in source.decode(video=0)]
    with av.open(str(path), "w") as container:
        stream: Any = container.add_stream("libx264", rate=Fraction(30))
        # Two thirds of the rows of such an array are brightness.
        stream.height = frames[0].shape[0] * 2 // 3
        stream.width = frames[0].shape[1]
        stream.pix_fmt = "yuv420p"
        stream.options = {"preset": "ultrafast", "g": "250"}
        for number in range(30 * seconds):
            frame = av.VideoFrame.from_ndarray(frames[number % len(frames)], format="yuv420p")
            container.mux(stream.encode(frame))
        container.mux(stream.encode())


PARTS = {
    "pipeline": (pipeline, 600),
    "long": (long_video, LONG_VIDEO_S),
}


def main() -> None:
    """Print the tables of one part."""
    parser = arguments("indexing", __doc__)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--count", type=int, help="videos, or seconds of a long video")
    parser.add_argument("--model", default="CLIP", help=f'a model of the app\'s, or "{RANDOM}"')
    options = parser.parse_args()
    prepare_environment()
    work, count = PARTS[options.part]
    memory = Memory()
    with TemporaryDirectory() as name:
        encoder = load(options.model, Settings.read(), Path(name) / "model")
        for text in work(options.count or count, encoder, Path(name), memory):
            sys.stdout.write(text)
            sys.stdout.flush()


if __name__ == "__main__":
    main()
