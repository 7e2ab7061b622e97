"""Videos of the kinds that people have, which readers get wrong: each looks like its plain twin."""

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from nt2vr.media import video
from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import load_gallery
from nt2vr.media.video import probe, sample_frames, sample_windows
from nt2vr.models.checkpoint import read_checkpoint
from nt2vr.models.encoder import Encoder
from nt2vr.settings import ASSETS
from tests.support.paths import ROOT
from tests.support.video_files import MIRROR, turned, write_grey_video, write_pictures

HDR = "colorprim=bt2020:colormatrix=bt2020nc:log-level=none:transfer="
has_h265 = pytest.mark.skipif(
    "libx265" not in av.codecs_available, reason="PyAV has no encoder of H.265 here"
)
# `pictures` in AV1: a file, as PyAV's one encoder of it, SVT-AV1, takes real-time priority under
# root, and once held both cores.
AV1 = ROOT / "tests" / "data" / "av1.mp4"


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    return read_checkpoint(ASSETS / "models" / "clip")


@pytest.fixture(scope="module")
def pictures() -> list[NDArray[np.uint8]]:
    """A clip of the built-in gallery, whose left and right differ."""
    gallery = load_gallery(ASSETS / "gallery" / "gallery.jsonl")
    return list(sample_frames(gallery.videos[0].path, 20))


def cosine(first: Path, second: Path, encoder: Encoder) -> float:
    """Return how similar the embeddings of two videos are."""
    videos = [sample_frames(path, encoder.num_frames, encoder.framing) for path in (first, second)]
    first_vector, second_vector = encoder.pool(encoder.encode_video(np.stack(videos)))
    return float(first_vector @ second_vector)


def test_an_interlaced_video_and_av1_embed_as_their_plain_twin(
    tmp_path: Path, pictures: list[NDArray[np.uint8]], encoder: Encoder
) -> None:
    plain = write_pictures(tmp_path / "plain.mp4", pictures)
    interlaced = write_pictures(
        tmp_path / "interlaced.mp4", pictures, options={"x264-params": "tff=1"}
    )
    for path in (interlaced, AV1):
        assert cosine(plain, path, encoder) > 0.98


def test_a_mirrored_video_is_mirrored_and_not_turned(
    tmp_path: Path, pictures: list[NDArray[np.uint8]]
) -> None:
    plain = write_pictures(tmp_path / "a.mp4", pictures)
    mirrored = turned(plain, tmp_path / "mirrored.mp4", MIRROR)
    expected = sample_frames(plain, 2)[:, :, ::-1]
    np.testing.assert_array_equal(sample_frames(mirrored, 2), expected)


def test_pixels_that_are_not_square_are_shown_at_their_width(
    tmp_path: Path, pictures: list[NDArray[np.uint8]], decoder: Decoder, encoder: Encoder
) -> None:
    narrow = write_pictures(tmp_path / "narrow.mp4", pictures, aspect=Fraction(2))
    height, width, _ = pictures[0].shape
    assert sample_frames(narrow, 1).shape == (1, height, 2 * width, 3)

    wide_pictures = []
    for picture in pictures:
        wide_pictures.append(np.asarray(Image.fromarray(picture).resize((2 * width, height))))
    wide = write_pictures(tmp_path / "wide.mp4", wide_pictures)
    assert cosine(narrow, wide, encoder) > 0.99

    decoder.preview(narrow, 0.0, None, tmp_path / "p.jpg", tmp_path / "p.webm").result()
    with Image.open(tmp_path / "p.jpg") as poster:
        assert poster.width == pytest.approx(2 * poster.height, abs=2)


@pytest.mark.parametrize("name", ["a.mp4", "a.mkv"])
def test_of_several_video_streams_the_video_is_taken(
    tmp_path: Path, name: str, pictures: list[NDArray[np.uint8]]
) -> None:
    with av.open(str(tmp_path / name), "w") as container:
        still = container.add_stream("libx264", rate=10)
        moving = container.add_stream("libx264", rate=10)
        for stream in (still, moving):
            stream.height, stream.width = pictures[0].shape[:2]
        for stream, stream_pictures in ((still, pictures[:1]), (moving, pictures)):
            for picture in stream_pictures:
                frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
                container.mux(stream.encode(frame))
            container.mux(stream.encode())
    content = probe(tmp_path / name)
    assert content.kind == "video"
    assert content.num_frames == len(pictures)


@pytest.fixture
def joined(tmp_path: Path) -> Path:
    """Three recordings of ten seconds each, one after the other: the grey levels rise by 8 each second.

    The first recording starts with level 0 at second 0, the second with 80 at 1000, the third with 160 at 2000.
    """
    parts = []
    for number in range(3):
        path = tmp_path / f"{number}.ts"
        levels = range(80 * number, 80 * number + 80, 8)
        seconds = range(1000 * number, 1000 * number + 10)
        write_grey_video(path, levels, seconds, rate=1, options={"g": "2"})
        parts.append(path.read_bytes())
    # Time jumps forwards, then backwards.
    (tmp_path / "joined.ts").write_bytes(parts[0] + parts[2] + parts[1])
    return tmp_path / "joined.ts"


def first_levels(samples: Sequence[NDArray[np.uint8] | str]) -> list[float]:
    """Return the grey level of the first frame of each window."""
    return [float(np.mean(frames[0])) for frames in samples if not isinstance(frames, str)]


def test_joined_recordings_go_on_where_time_jumps(
    joined: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert probe(joined).seconds == pytest.approx(30, abs=1.5)
    assert probe(joined).num_frames == 30
    windows = [(3.0, 5.0), (13.0, 15.0), (23.0, 25.0)]
    in_order = sample_windows(joined, windows, 2, None)
    # The fourth second of the first, third and second recording.
    assert first_levels(in_order) == pytest.approx([24, 184, 104], abs=12)
    monkeypatch.setattr(video, "SEEK_S", 1.0)
    for window, frames in zip(windows, in_order, strict=True):
        (alone,) = sample_windows(joined, [window], 2, None)
        np.testing.assert_allclose(np.asarray(alone, float), np.asarray(frames, float), atol=12)


@pytest.mark.parametrize("name", ["a.mp4", "a.mkv"])
def test_a_recording_with_a_leap_in_time_goes_on(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds = [*range(20), *range(80_000, 80_010)]
    path = write_grey_video(
        tmp_path / name, range(0, 240, 8), seconds, rate=1, options={"g": "2", "bf": "0"}
    )
    assert probe(path).seconds == pytest.approx(30, abs=1.5)
    assert probe(path).num_frames == 30
    for seek_s in (10.0, 1.0):
        monkeypatch.setattr(video, "SEEK_S", seek_s)
        samples = sample_windows(path, [(3.0, 5.0), (23.0, 25.0)], 2, None)
        assert first_levels(samples) == pytest.approx([24, 184], abs=12)


@pytest.mark.parametrize("name", ["a.mp4", "a.mkv"])
def test_a_slide_show_keeps_its_time(tmp_path: Path, name: str) -> None:
    path = write_grey_video(tmp_path / name, range(0, 40, 8), [0, 100, 200, 300, 310], rate=1)
    assert probe(path).seconds > 300


@has_h265
@pytest.mark.parametrize("transfer", ["smpte2084", "arib-std-b67"])
def test_hdr_is_mapped_to_one_picture_by_every_path(
    tmp_path: Path, decoder: Decoder, encoder: Encoder, transfer: str
) -> None:
    ramp = np.tile(np.linspace(0, 255, 64, dtype=np.uint8)[None, :, None], (64, 1, 3))
    path = write_pictures(
        tmp_path / "a.mp4",
        [ramp] * 5,
        codec="libx265",
        options={"x265-params": HDR + transfer},
        pixels="yuv420p10le",
    )
    frames = sample_frames(path, 1)
    levels = frames[0].mean((0, 2))
    assert (np.diff(levels) > -1).all()
    assert levels[0] < 5
    assert levels[-1] > 240
    # White paper, of 203 cd/m² (ITU-R BT.2408), is at this share of the ramp.
    paper_share = {"smpte2084": 0.58, "arib-std-b67": 0.75}[transfer]
    assert 190 < levels[round(63 * paper_share)] < 250
    (window,) = sample_windows(path, [(0.0, 0.5)], 1, None)
    np.testing.assert_array_equal(window, frames)
    decoder.preview(path, 0.0, None, tmp_path / "p.jpg", tmp_path / "p.webm").result()
    with Image.open(tmp_path / "p.jpg") as poster:
        assert np.abs(np.asarray(poster).mean((0, 2)) - levels).mean() < 3
