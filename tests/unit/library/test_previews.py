"""Posters and previews that every browser shows."""

from collections.abc import Callable
from pathlib import Path

import av
import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from nt2vr.errors import MediaError
from nt2vr.library.previews import Previews
from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import Video
from tests.support.disks import mounted
from tests.support.video_files import FOOTAGE, write_grey_video

WriteVideo = Callable[..., Path]
# Of previews, per second.
FRAME_RATE = 12


def read_preview(path: Path) -> NDArray[np.uint8]:
    """Return the frames of a silent WebM: (F, H, W, 3)."""
    with av.open(str(path)) as container:
        assert len(container.streams) == 1
        (stream,) = container.streams.video
        assert stream.codec_context.codec.canonical_name == "vp9"
        return np.stack([frame.to_ndarray(format="rgb24") for frame in container.decode(stream)])


def seconds_of(frames: NDArray[np.uint8]) -> float:
    return len(frames) / FRAME_RATE


def test_a_preview_is_small_silent_and_of_its_clips_length(
    tmp_path: Path, decoder: Decoder
) -> None:
    previews = Previews(tmp_path / "previews", decoder)
    # 480 by 270 pixels, with sound.
    video = Video("a", FOOTAGE / "b.mp4", end=5.0, content="b")
    assert not previews.has(video)
    path = previews.preview(video)
    frames = read_preview(path)
    assert seconds_of(frames) == pytest.approx(5.0, abs=0.1)
    assert frames.shape[1:3] == (224, 398)
    assert path.stat().st_size < 60_000
    with Image.open(previews.poster(video)) as poster:
        assert poster.format == "JPEG"
        assert poster.size == (398, 224)
    assert previews.has(video)


def test_a_window_shows_at_most_ten_of_its_seconds(tmp_path: Path, decoder: Decoder) -> None:
    # Each second is lighter by 5.
    path = write_grey_video(tmp_path / "a.mp4", range(0, 200, 5), rate=1)
    previews = Previews(tmp_path / "previews", decoder)
    window = Video("w", path, start=20.0, end=35.0, long_video="a", content="a")
    frames = read_preview(previews.preview(window))
    assert seconds_of(frames) == pytest.approx(10.0, abs=0.1)
    assert frames[0].mean() == pytest.approx(100, abs=6)
    assert frames[-1].mean() == pytest.approx(145, abs=6)

    whole_video = read_preview(previews.preview(Video("a", path, content="a")))
    assert seconds_of(whole_video) == pytest.approx(10.0, abs=0.1)


@pytest.mark.parametrize("size", [(1, 1), (3, 2000), (5000, 7), (225, 223), (4000, 3000)])
def test_a_picture_of_any_shape_has_a_poster_and_preview(
    tmp_path: Path, decoder: Decoder, size: tuple[int, int]
) -> None:
    Image.new("RGB", size, (90, 90, 90)).save(tmp_path / "a.png")
    previews = Previews(tmp_path / "previews", decoder)
    video = Video("a", tmp_path / "a.png", content="a")
    with Image.open(previews.poster(video)) as poster:
        assert min(poster.size) <= 224
        assert max(poster.size) <= 640
        assert np.asarray(poster).mean() == pytest.approx(90, abs=2)
    assert len(read_preview(previews.preview(video))) == 1


def test_what_cannot_be_decoded_stops_no_other(
    tmp_path: Path, write_video: WriteVideo, decoder: Decoder
) -> None:
    (tmp_path / "bad.mp4").write_text("no video")
    bad = Video("bad", tmp_path / "bad.mp4", content="x")
    good = Video("good", write_video("a.avi", [9] * 5), content="y")
    previews = Previews(tmp_path / "previews", decoder)
    previews.make([bad, good])
    assert previews.has(good)
    assert not previews.has(bad)
    with pytest.raises(MediaError, match=r"^bad\.mp4 "):
        previews.poster(bad)


def test_a_full_disk_leaves_no_half_a_preview(tmp_path: Path, decoder: Decoder) -> None:
    folder = tmp_path / "previews"
    folder.mkdir()
    with mounted(folder, "size=8k"):
        previews = Previews(folder, decoder)
        video = Video("a", FOOTAGE / "b.mp4", end=5.0, content="b")
        with pytest.raises(MediaError, match="disk is full"):
            previews.preview(video)
        assert not list(folder.rglob("*.webm"))
