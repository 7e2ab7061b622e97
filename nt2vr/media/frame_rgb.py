"""RGB of a decoded frame: shrunk, upright, and without HDR."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nt2vr.media.picture_file import MAX_PIXELS
from nt2vr.media.resize import Limits, shrunk_size

MAX_ASPECT = 8  # of a pixel; another one is not believed


PQ, HLG = 16, 18  # transfer characteristics of HDR, as in ITU-T H.273


HDR_LIMITS = (1080, 3840)  # of an HDR frame, in pixels: a larger one takes a second


WHITE = 203.0  # cd/m² of paper in HDR, ITU-R BT.2408


KNEE = 0.6  # share of paper white from which highlights are compressed


TO_BT709 = np.array(
    [[1.6605, -0.5876, -0.0728], [-0.1246, 1.1329, -0.0083], [-0.0182, -0.1006, 1.1187]], np.float32
)  # linear RGB from BT.2020, ITU-R BT.2087


LUMA = np.array([0.2627, 0.6780, 0.0593], np.float32)  # of BT.2020


Read = Callable[
    [Limits | None], NDArray[np.uint8]
]  # (H, W, 3) RGB, shrunk to the limits if there are any


def _reader(frame: Any, aspect: Any) -> Read:
    """Return what makes RGB of a frame: at the size and in the orientation in which it is to be shown."""
    aspect = float(aspect or 1)

    def read(limits: Limits | None) -> NDArray[np.uint8]:
        is_hdr = frame.color_trc in (PQ, HLG)
        height, width = frame.height, frame.width
        if 1 / MAX_ASPECT <= aspect <= MAX_ASPECT and height * width * aspect <= MAX_PIXELS:
            width = max(1, round(width * aspect))
        if limits := limits or (HDR_LIMITS if is_hdr else None):
            height, width = shrunk_size(height, width, limits)
        size = {"height": height, "width": width, "threads": 1}
        size["interpolation"] = "AREA" if width * height < frame.width * frame.height else "BICUBIC"
        rgb = frame.to_ndarray(format="rgb48le" if is_hdr else "rgb24", **size)
        return _upright(_tone_mapped(rgb, frame.color_trc) if is_hdr else rgb, frame)

    return read


def _upright(rgb: NDArray[np.uint8], frame: Any) -> NDArray[np.uint8]:
    """Turn and mirror a picture as the matrix of its header says, to the nearest quarter turn."""
    matrix = frame.side_data.get("DISPLAYMATRIX")
    if matrix is not None:
        a, b, _, c, d = np.frombuffer(bytes(matrix)[:20], np.int32).tolist()
        if abs(a) + abs(d) < abs(b) + abs(c):
            rgb, a, d = rgb.transpose(1, 0, 2), c, b
        rgb = rgb[:: -1 if d < 0 else 1, :: -1 if a < 0 else 1]
    return np.ascontiguousarray(rgb)


def _tone_mapped(rgb: NDArray[np.uint16], transfer: int) -> NDArray[np.uint8]:
    """Make an SDR picture of (H, W, 3) HDR: highlights above KNEE are compressed, hues kept."""
    signal = np.arange(1 << 16) / ((1 << 16) - 1)
    if transfer == PQ:  # SMPTE ST 2084: light in units of WHITE
        root = signal ** (1 / 78.84375)
        light = (np.maximum(root - 0.8359375, 0) / (18.8515625 - 18.6875 * root)) ** (
            1 / 0.1593017578125
        )
        light *= 10_000 / WHITE
    else:  # ARIB STD-B67: that of the scene's brightest
        light = np.where(
            signal <= 0.5,
            signal**2 / 3,
            (np.exp((signal - 0.55991073) / 0.17883277) + 0.28466892) / 12,
        )
    table: NDArray[np.float32] = light.astype(np.float32)
    picture = np.empty(rgb.shape, np.uint8)
    for top in range(0, len(rgb), 256):  # all of a large frame would take a gigabyte
        linear = table[rgb[top : top + 256]]
        if transfer == HLG:  # from the scene to a screen of 1,000 cd/m²
            linear *= 1000 / WHITE * np.maximum(linear @ LUMA, 1e-6)[..., None] ** 0.2
        brightest = np.maximum(linear.max(axis=-1, keepdims=True), 1e-6)
        over = np.maximum(brightest - KNEE, 0)
        linear *= (np.minimum(brightest, KNEE) + (1 - KNEE) * over / (over + 1 - KNEE)) / brightest
        linear = (linear @ TO_BT709.T).clip(0, 1)
        picture[top : top + 256] = (255 * linear ** (1 / 2.4)).round()
    return picture
