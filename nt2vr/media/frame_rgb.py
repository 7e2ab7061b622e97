"""RGB of a decoded frame: shrunk, upright, and without HDR."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nt2vr.media.picture_file import MAX_PIXELS
from nt2vr.media.resize import Limits, Pixels, shrunk_size

# A pixel of another shape than this is not believed.
MAX_ASPECT = 8

# Transfer characteristics of HDR, as in ITU-T H.273.
PQ = 16
HLG = 18
# Pixels of the short and long side of an HDR frame: a larger one takes a second.
HDR_LIMITS = (1080, 3840)
# Rows at a time: all of a large HDR frame would take a gigabyte.
ROWS_AT_ONCE = 256
# cd/m² of paper in HDR, ITU-R BT.2408.
WHITE = 203.0
# Share of paper white from which highlights are compressed.
KNEE = 0.6
# Linear RGB from BT.2020, ITU-R BT.2087.
TO_BT709 = np.array(
    [[1.6605, -0.5876, -0.0728], [-0.1246, 1.1329, -0.0083], [-0.0182, -0.1006, 1.1187]], np.float32
)
# Of BT.2020.
LUMA = np.array([0.2627, 0.6780, 0.0593], np.float32)

Light = NDArray[np.float32]
# Returns (H, W, 3) RGB, shrunk to the limits if there are any.
Read = Callable[[Limits | None], Pixels]


def read_frame(frame: Any, aspect: float, limits: Limits | None) -> Pixels:
    """Read a decoded frame as it is to be shown: its size, and upright.

    Args:
        aspect: width of a pixel divided by its height.
    """
    is_hdr = frame.color_trc in (PQ, HLG)
    height = frame.height
    width = frame.width
    is_believed = 1 / MAX_ASPECT <= aspect <= MAX_ASPECT
    if is_believed and height * width * aspect <= MAX_PIXELS:
        width = max(1, round(width * aspect))
    if limits is None and is_hdr:
        limits = HDR_LIMITS
    if limits is not None:
        height, width = shrunk_size(height, width, limits)

    is_smaller = width * height < frame.width * frame.height
    rgb = frame.to_ndarray(
        format="rgb48le" if is_hdr else "rgb24",
        height=height,
        width=width,
        threads=1,
        interpolation="AREA" if is_smaller else "BICUBIC",
    )
    if is_hdr:
        rgb = _tone_mapped(rgb, frame.color_trc)
    return _upright(rgb, frame)


def _upright(rgb: Pixels, frame: Any) -> Pixels:
    """Turn and mirror a picture as the matrix of its header says, to the nearest quarter turn."""
    matrix = frame.side_data.get("DISPLAYMATRIX")
    if matrix is None:
        return np.ascontiguousarray(rgb)

    # The numbers say how much of x and y, as stored, is in x and y as shown.
    x_in_x, x_in_y, _, y_in_x, y_in_y = np.frombuffer(bytes(matrix)[:20], np.int32).tolist()
    if abs(x_in_x) + abs(y_in_y) < abs(x_in_y) + abs(y_in_x):
        # After a quarter turn, x as shown is y as stored.
        rgb = rgb.transpose(1, 0, 2)
        x_in_x = y_in_x
        y_in_y = x_in_y
    if y_in_y < 0:
        rgb = rgb[::-1]
    if x_in_x < 0:
        rgb = rgb[:, ::-1]
    return np.ascontiguousarray(rgb)


def _tone_mapped(rgb: NDArray[np.uint16], transfer: int) -> Pixels:
    """Make an SDR picture of (H, W, 3) HDR: highlights above KNEE are compressed, hues stay."""
    light_of = _light_of_signal(transfer)
    picture = np.empty(rgb.shape, np.uint8)
    for top in range(0, len(rgb), ROWS_AT_ONCE):
        rows = slice(top, top + ROWS_AT_ONCE)
        light = light_of[rgb[rows]]
        if transfer == HLG:
            # From the light of the scene to that of a screen of 1,000 cd/m².
            luma = np.maximum(light @ LUMA, 1e-6)[..., None]
            light *= 1000 / WHITE * luma**0.2

        light *= _highlight_factors(light)
        light = (light @ TO_BT709.T).clip(0, 1)
        picture[rows] = (255 * light ** (1 / 2.4)).round()
    return picture


def _highlight_factors(light: Light) -> Light:
    """Return by what to multiply each pixel (H, W, 3) to compress highlights: (H, W, 1)."""
    brightest = np.maximum(light.max(axis=-1, keepdims=True), 1e-6)
    over = np.maximum(brightest - KNEE, 0)
    compressed = np.minimum(brightest, KNEE) + (1 - KNEE) * over / (over + 1 - KNEE)
    return np.asarray(compressed / brightest)


def _light_of_signal(transfer: int) -> Light:
    """Return the linear light of each of the 65,536 values of a signal."""
    signal = np.arange(65_536) / 65_535
    if transfer == PQ:
        # SMPTE ST 2084, in units of WHITE.
        root = signal ** (1 / 78.84375)
        ratio = np.maximum(root - 0.8359375, 0) / (18.8515625 - 18.6875 * root)
        light = ratio ** (1 / 0.1593017578125)
        light *= 10_000 / WHITE
    else:
        # ARIB STD-B67, in units of the scene's brightest light.
        dark = signal**2 / 3
        bright = (np.exp((signal - 0.55991073) / 0.17883277) + 0.28466892) / 12
        light = np.where(signal <= 0.5, dark, bright)
    return np.asarray(light, np.float32)
