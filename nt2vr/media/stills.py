"""Single frames of clips as small JPEGs, decoded in a child."""

from io import BytesIO

from nt2vr.errors import MediaError
from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import Video
from nt2vr.media.picture import write_jpeg
from nt2vr.models.framing import Framing


def still(decoder: Decoder, video: Video, number: int, count: int, side: int) -> bytes:
    """Return one of a clip's `count` evenly spaced frames as a square JPEG; raises MediaError if there is none."""
    framing = Framing(side)
    if video.end is None:
        frames = decoder.frames(video.path, count, framing, video.root).result()
    else:
        span = [(video.start, video.end)]
        (frames,) = decoder.windows(video.path, span, count, framing, video.root).result()
    if isinstance(frames, str):  # the reason why there are none
        raise MediaError(frames)
    jpeg = BytesIO()
    write_jpeg(frames[number], jpeg)
    return jpeg.getvalue()
