"""Pictures stand upright in every format that says how they are to be turned."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import Video
from nt2vr.media.picture import UPRIGHT, read_picture
from nt2vr.media.video import sample_frames, sample_short_video

ORIENTATION = 0x0112
XMP = (
    '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
    '<rdf:Description tiff:Orientation="{}" xmlns:tiff="http://ns.adobe.com/tiff/1.0/"/></rdf:RDF></x:xmpmeta>'
)
LOSSLESS: dict[str, dict[str, Any]] = {
    "raw.tif": {},
    "lzw.tif": {"compression": "tiff_lzw"},
    "deflate.tif": {"compression": "tiff_adobe_deflate"},
    "packbits.tif": {"compression": "packbits"},
    "pages.tif": {"save_all": True, "append_images": [Image.new("RGB", (30, 70))]},
    "a.png": {},
    "moving.png": {"save_all": True, "append_images": [Image.new("RGB", (64, 48))]},
    "a.webp": {"lossless": True},
    "moving.webp": {
        "lossless": True,
        "save_all": True,
        "append_images": [Image.new("RGB", (64, 48))],
    },
}
LOSSY: dict[str, dict[str, Any]] = {
    "a.jpg": {"quality": 100, "subsampling": 0},
    "mpo.jpg": {"format": "MPO", "quality": 100, "subsampling": 0, "save_all": True},
    "jpeg.tif": {"compression": "jpeg"},
    "a.avif": {"quality": 100, "subsampling": "4:4:4"},
}


def tagged(turn: int) -> Image.Exif:
    exif = Image.Exif()
    exif[ORIENTATION] = turn
    return exif


def corners(width: int = 64, height: int = 48) -> Image.Image:
    """Draw a picture that none of the eight orientations maps to itself."""
    image = Image.new("RGB", (width, height), "red")
    image.paste("blue", (0, 0, width // 4, height))
    image.paste("white", (0, 0, width // 4, height // 3))
    return image


def turned(image: Image.Image, turn: int) -> NDArray[np.uint8]:
    if turn in UPRIGHT:
        image = image.transpose(UPRIGHT[turn])
    return np.asarray(image.convert("RGB"))


@pytest.mark.parametrize("turn", range(1, 9))
@pytest.mark.parametrize("name", LOSSLESS)
def test_a_lossless_picture_is_upright_to_the_pixel(tmp_path: Path, name: str, turn: int) -> None:
    corners().save(tmp_path / name, exif=tagged(turn), **LOSSLESS[name])
    np.testing.assert_array_equal(read_picture(tmp_path / name), turned(corners(), turn))


@pytest.mark.parametrize("turn", range(1, 9))
@pytest.mark.parametrize("name", LOSSY)
def test_a_lossy_picture_is_upright(tmp_path: Path, name: str, turn: int) -> None:
    corners().save(tmp_path / name, exif=tagged(turn), **LOSSY[name])
    picture = read_picture(tmp_path / name)
    expected = turned(corners(), turn)
    assert picture.shape == expected.shape
    assert np.abs(picture.astype(int) - expected).mean() < 8


@pytest.mark.parametrize("turn", range(1, 9))
@pytest.mark.parametrize("mode", ["L", "I;16", "P", "CMYK", "RGBA"])
def test_a_tiff_of_any_mode_is_upright(tmp_path: Path, mode: str, turn: int) -> None:
    image = corners()
    expected = turned(image, turn)
    if mode == "P":
        stored = image.quantize()
    elif mode == "I;16":
        stored = Image.fromarray(np.asarray(image.convert("L")).astype(np.uint16) * 257)
    else:
        stored = image.convert(mode)
    if mode in ("L", "I;16"):
        expected = turned(image.convert("L"), turn)
    stored.save(tmp_path / "a.tif", exif=tagged(turn), compression="tiff_lzw")
    np.testing.assert_array_equal(read_picture(tmp_path / "a.tif"), expected)


@pytest.mark.parametrize("turn", [2, 3, 6, 8])
def test_an_orientation_that_only_xmp_names_counts(tmp_path: Path, turn: int) -> None:
    xmp = XMP.format(turn)
    png_text = PngInfo()
    png_text.add_itxt("XML:com.adobe.xmp", xmp)
    image = corners()
    image.save(tmp_path / "a.png", pnginfo=png_text)
    image.save(tmp_path / "a.webp", xmp=xmp.encode(), lossless=True)
    image.save(tmp_path / "raw.tif", tiffinfo={700: xmp.encode()})
    image.save(tmp_path / "lzw.tif", tiffinfo={700: xmp.encode()}, compression="tiff_lzw")
    for path in tmp_path.iterdir():
        np.testing.assert_array_equal(read_picture(path), turned(image, turn), err_msg=path.name)


@pytest.mark.parametrize("turn", [0, 9, 700])
@pytest.mark.parametrize("name", ["raw.tif", "a.png", "a.jpg"])
def test_an_orientation_that_does_not_exist_turns_nothing(
    tmp_path: Path, name: str, turn: int
) -> None:
    corners().save(tmp_path / name, exif=tagged(turn), quality=100, subsampling=0)
    assert np.abs(read_picture(tmp_path / name).astype(int) - turned(corners(), 1)).max() < 40


@pytest.mark.parametrize("turn", [1, 3, 6, 7])
@pytest.mark.parametrize("name", ["raw.tif", "lzw.tif", "a.png"])
def test_a_large_picture_is_upright_and_reduced(tmp_path: Path, name: str, turn: int) -> None:
    large = corners(2400, 1800)
    large.save(tmp_path / name, exif=tagged(turn), **LOSSLESS[name])
    expected = turned(large.reduce(2), turn)
    np.testing.assert_array_equal(read_picture(tmp_path / name), expected)


def test_frames_posters_and_references_of_a_tiff_are_upright(tmp_path: Path) -> None:
    scan = tmp_path / "scan.tif"
    corners().save(scan, exif=tagged(6))
    expected = turned(corners(), 6)
    np.testing.assert_array_equal(sample_frames(scan, 1)[0], expected)
    np.testing.assert_array_equal(sample_short_video(scan)[0], expected)
    with Decoder(1) as decoder:
        np.testing.assert_array_equal(decoder.picture(scan), expected)
        np.testing.assert_array_equal(decoder.reference(scan)[0], expected)
        poster = tmp_path / "poster.jpg"
        preview = tmp_path / "preview.webm"
        decoder.preview(scan, 0.0, None, poster, preview).result()
    assert read_picture(poster).shape == expected.shape


def test_only_stored_values_of_tiffs_are_not_found_again() -> None:
    """Version 0.2.0 stored embeddings and posters of TIFFs that were turned twice, by the content of the file."""
    for name in ("scan.tif", "SCAN.TIFF"):
        assert Video("scan", Path(name), content="abc").key != "abc"
    for name in ("photo.jpg", "photo.png", "video.mp4"):
        assert Video("photo", Path(name), content="abc").key == "abc"
    window = Video("video", Path("video.mp4"), start=10.0, end=20.0, content="abc")
    assert window.key == "abc 10.000-20.000"
