"""Posters and previews that every browser shows."""

from collections.abc import Callable
from pathlib import Path

import av
import numpy as np
import pytest
from PIL import Image

from nt2vr.errors import MediaError
from nt2vr.library.previews import Previews
from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import Video
from tests.support.disks import mounted
from tests.support.video_files import FOOTAGE, write_grey_video

WriteVideo = Callable[..., Path]


def shown(path: Path) -> tuple[float, tuple[int, int], list[float]]:
    """Return a WebM's duration, size, and the mean of every frame."""
    with av.open(str(path)) as container:
        assert [stream.type for stream in container.streams] == ["video"]
        stream = container.streams.video[0]
        assert stream.codec_context.codec.canonical_name == "vp9"
        frames = [
            float(frame.to_ndarray(format="rgb24").mean()) for frame in container.decode(stream)
        ]
        return len(frames) / 12, (stream.width, stream.height), frames


def test_a_preview_is_small_silent_and_of_its_clips_length(
    tmp_path: Path, decoder: Decoder
) -> None:
    previews = Previews(tmp_path / "previews", decoder)
    # 480 by 270 pixels, with sound.
    video = Video("a", FOOTAGE / "b.mp4", end=5.0, content="b")
    assert not previews.has(video)
    path = previews.preview(video)
    seconds, size, _ = shown(path)
    assert seconds == pytest.approx(5.0, abs=0.1)
    assert size == (398, 224)
    assert path.stat().st_size < 60_000
    with Image.open(previews.poster(video)) as poster:
        assert poster.format == "JPEG"
        assert poster.size == (398, 224)
    assert previews.has(video)


def test_a_window_shows_at_most_ten_of_its_seconds(tmp_path: Path, decoder: Decoder) -> None:
    video = write_grey_video(tmp_path / "a.mp4", [5 * i for i in range(40)], rate=1)
    previews = Previews(tmp_path / "previews", decoder)
    seconds, _, means = shown(
        previews.preview(Video("w", video, start=20.0, end=35.0, long_video="a", content="a"))
    )
    assert seconds == pytest.approx(10.0, abs=0.1)
    assert means[0] == pytest.approx(100, abs=6)
    assert means[-1] == pytest.approx(145, abs=6)
    seconds, _, _ = shown(previews.preview(Video("a", video, content="a")))
    assert seconds == pytest.approx(10.0, abs=0.1)


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
    assert len(shown(previews.preview(video))[2]) == 1


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
    (tmp_path / "previews").mkdir()
    with mounted(tmp_path / "previews", "size=8k"):
        previews = Previews(tmp_path / "previews", decoder)
        video = Video("a", FOOTAGE / "b.mp4", end=5.0, content="b")
        with pytest.raises(MediaError, match="disk is full"):
            previews.preview(video)
        assert not [
            path
            for path in (tmp_path / "previews").rglob("*")
            if path.is_file() and path.suffix == ".webm"
        ]
