"""Reading pictures and fitting them to the encoder's input."""

import os
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import open_clip
import pillow_heif
import pytest
from numpy.typing import NDArray
from open_clip.transform import image_transform
from PIL import ExifTags, Image, ImageOps, PngImagePlugin
from torchvision.transforms import Compose, PILToTensor  # type: ignore[import-untyped]

from nt2vr.errors import MediaError
from nt2vr.media.picture import read_picture
from nt2vr.media.resize import fit
from nt2vr.media.video import probe, sample_frames
from nt2vr.models.framing import Framing

RED = [255, 0, 0]
WHITE = [255, 255, 255]


def noise(height: int, width: int) -> NDArray[np.uint8]:
    return np.random.default_rng(0).integers(0, 256, (height, width, 3), np.uint8)


@pytest.mark.parametrize(
    ("height", "width"),
    [
        (224, 224),
        (225, 224),
        (240, 320),
        (361, 640),
        (100, 57),
        (99, 101),
        (1, 1),
        (3, 40),
        (7, 350),
    ],
)
@pytest.mark.parametrize("size", [224, 111])
def test_fit_equals_open_clips_preprocessing_bit_for_bit(
    height: int, width: int, size: int
) -> None:
    resize, crop, to_rgb, *_ = image_transform(size, is_train=False).transforms
    preprocess = Compose([resize, crop, to_rgb, PILToTensor()])
    picture = noise(height, width)
    expected = preprocess(Image.fromarray(picture)).permute(1, 2, 0).numpy()
    np.testing.assert_array_equal(fit(picture, Framing(size)), expected)


def framings() -> list[tuple[int, str, str, int]]:
    """Every way in which a pre-trained model of open_clip takes its input, and padding, which none of them has yet."""
    settings = {
        (96, "longest", "bilinear", 0),
        (96, "longest", "random", 127),
        (64, "shortest", "bilinear", 0),
    }
    for architecture, tag in open_clip.list_pretrained():
        pretrained_cfg = open_clip.get_pretrained_cfg(architecture, tag)
        vision = open_clip.get_model_config(architecture).get("vision_cfg")
        # Some are models of sound.
        if vision:
            size = vision.get("image_size", 224)
            settings.add((size, pretrained_cfg["resize_mode"], pretrained_cfg["interpolation"], 0))
    return sorted(settings)


PICTURES = {
    "landscape": (120, 213),
    "portrait": (301, 97),
    "square": (57, 57),
    "tiny": (3, 5),
    "wide": (40, 1000),
}


@pytest.mark.parametrize(("size", "mode", "interpolation", "fill"), framings())
def test_every_models_input_is_close_to_open_clips(
    size: int, mode: str, interpolation: str, fill: int
) -> None:
    preprocess = image_transform(
        size,
        is_train=False,
        mean=(0.0,) * 3,
        std=(1.0,) * 3,
        resize_mode=mode,
        interpolation=interpolation,
        fill_color=fill,
    )
    framing = Framing.of(
        {"resize_mode": mode, "interpolation": interpolation, "fill_color": fill}, size
    )
    for name, (height, width) in PICTURES.items():
        picture = noise(height, width)
        expected = preprocess(Image.fromarray(picture)).permute(1, 2, 0).numpy() * 255
        assert np.abs(fit(picture, framing) - expected).max() <= 1, name


def test_a_very_thin_picture_does_not_fill_the_memory() -> None:
    assert fit(np.zeros((1, 2_000_000, 3), np.uint8), Framing(224)).shape == (224, 224, 3)


def test_transparency_becomes_white_in_every_mode_that_has_it(tmp_path: Path) -> None:
    rgba = Image.new("RGBA", (2, 1), (255, 0, 0, 255))
    rgba.putpixel((1, 0), (0, 0, 0, 0))
    rgba.save(tmp_path / "rgba.png")
    rgba.save(tmp_path / "rgba.tiff")
    rgba.quantize().save(tmp_path / "palette.png")
    for path in tmp_path.iterdir():
        assert read_picture(path).tolist() == [[RED, WHITE]], path.name
    Image.new("LA", (1, 1), (0, 0)).save(tmp_path / "grey.png")
    assert read_picture(tmp_path / "grey.png").tolist() == [[WHITE]]


@pytest.mark.parametrize("ending", ["gif", "webp", "png"])
def test_an_animation_is_read_as_its_first_frame(tmp_path: Path, ending: str) -> None:
    first = Image.new("RGB", (8, 8), "red")
    second = Image.new("RGB", (8, 8), "blue")
    options: dict[str, Any] = {"lossless": True} if ending == "webp" else {}
    first.save(tmp_path / f"a.{ending}", save_all=True, append_images=[second], **options)
    assert read_picture(tmp_path / f"a.{ending}")[4, 4].tolist() == RED


def test_print_colours_and_16_bit_and_one_pixel_are_read(tmp_path: Path) -> None:
    Image.new("CMYK", (4, 4), (0, 255, 255, 0)).save(tmp_path / "print.jpg", quality=100)
    assert read_picture(tmp_path / "print.jpg")[0, 0] == pytest.approx(RED, abs=3)
    Image.fromarray(np.array([[0, 0x8000, 0xFFFF]], np.uint16)).save(tmp_path / "deep.png")
    assert read_picture(tmp_path / "deep.png")[0, :, 0].tolist() == [0, 128, 255]
    Image.fromarray(np.array([[-1.0, 0.0, 1.0]], np.float32)).save(tmp_path / "float.tiff")
    assert read_picture(tmp_path / "float.tiff")[0, :, 0].tolist() == [0, 128, 255]
    Image.new("1", (1, 1), 1).save(tmp_path / "dot.png")
    assert read_picture(tmp_path / "dot.png").tolist() == [[WHITE]]


def test_a_broken_picture_is_one_sentence_that_names_it(tmp_path: Path) -> None:
    Image.fromarray(noise(64, 64)).save(tmp_path / "whole.jpg")
    intact = (tmp_path / "whole.jpg").read_bytes()
    broken = {
        "cut.jpg": intact[: len(intact) // 2],
        "empty.png": b"",
        "text.png": b"not a picture",
        "postscript.png": b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\n",
    }
    for name, content in broken.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(MediaError, match=f"^{name} ") as caught:
            read_picture(tmp_path / name)
        assert "\n" not in str(caught.value)
    with pytest.raises(MediaError, match=r"^gone.png "):
        read_picture(tmp_path / "gone.png")


def test_a_large_picture_is_reduced_and_looks_the_same(tmp_path: Path) -> None:
    gradient = Image.radial_gradient("L").resize((2400, 1920))
    rgb = gradient.convert("RGB")
    images = {
        "a.jpg": rgb,
        "grey.jpg": gradient,
        "a.png": rgb,
        "palette.png": rgb.quantize(200),
        "alpha.png": Image.merge("LA", (gradient, Image.new("L", gradient.size, 255))),
        "deep.png": Image.fromarray(np.asarray(gradient).astype(np.uint16) * 257),
    }
    expected = np.asarray(rgb.resize((64, 64))).astype(int)
    for name, image in images.items():
        image.save(tmp_path / name, compress_level=1)
        picture = read_picture(tmp_path / name)
        assert picture.shape[0] == 960
        small = np.asarray(Image.fromarray(picture).resize((64, 64)))
        assert np.abs(expected - small).mean() < 3, name


@pytest.mark.parametrize("turn", range(1, 9))
def test_a_photo_stands_upright_however_it_is_stored(tmp_path: Path, turn: int) -> None:
    image = Image.linear_gradient("L").resize((64, 32)).rotate(10).convert("RGB")
    exif = image.getexif()
    exif[ExifTags.Base.Orientation] = turn
    image.save(tmp_path / "a.png", exif=exif)
    upright = ImageOps.exif_transpose(Image.open(tmp_path / "a.png"))
    np.testing.assert_array_equal(read_picture(tmp_path / "a.png"), np.asarray(upright))


def test_a_pipe_or_a_device_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.png")
    for path in (tmp_path / "pipe.png", Path("/dev/zero"), tmp_path):
        with pytest.raises(MediaError):
            read_picture(path)


def test_a_pixel_bomb_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    Image.new("1", (1, 1)).save(tmp_path / "dot.png")
    intact = (tmp_path / "dot.png").read_bytes()
    # Pillow warns of the first and refuses the second.
    for side in (10_000, 100_000):
        header = b"IHDR" + struct.pack(">II", side, side) + intact[24:29]
        checksum = struct.pack(">I", zlib.crc32(header))
        bomb = tmp_path / "bomb.png"
        bomb.write_bytes(intact[:12] + header + checksum + intact[33:])
        with pytest.raises(MediaError, match=r"^bomb.png .* (50|89) million pixels"):
            read_picture(bomb)


@pytest.mark.parametrize(
    ("content", "name"),
    [
        ("HEIF", "a.HEIC"),
        ("JPEG", "a.HEIC"),
        ("HEIF", "a.jpg"),
        ("JPEG", "a.jfif"),
        ("HEIF", "A.HIF"),
        ("PNG", "DJI_0001"),
        ("JPEG", "a.mp4"),
    ],
)
def test_a_picture_is_told_by_its_content_whatever_its_name(
    tmp_path: Path, content: str, name: str
) -> None:
    pillow_heif.register_heif_opener()
    Image.new("RGB", (64, 48), "red").save(tmp_path / name, format=content)
    assert probe(tmp_path / name).kind == "picture"
    (picture,) = sample_frames(tmp_path / name, 1)
    assert picture.shape == (48, 64, 3)
    assert np.abs(picture.astype(int) - RED).max() < 8


def test_photos_with_a_video_or_depth_map_are_read(tmp_path: Path) -> None:
    image = Image.radial_gradient("L").convert("RGB")
    video = np.random.default_rng(0).bytes(10_000_000)
    photo = tmp_path / "a.jpg"
    image.save(photo, quality=95)
    # The bytes of the video contain \xff\xda, which starts a part of a JPEG, 150 times.
    with_video = tmp_path / "PXL.MP.jpg"
    with_video.write_bytes(photo.read_bytes() + video)
    np.testing.assert_array_equal(read_picture(with_video), read_picture(photo))

    image.resize((4000, 3250)).save(
        tmp_path / "mpo.jpg", format="MPO", save_all=True, append_images=[image]
    )
    assert 448 <= read_picture(tmp_path / "mpo.jpg").shape[0] <= 2000


def test_too_many_pixels_per_side_are_refused(tmp_path: Path) -> None:
    thread = tmp_path / "thread.png"
    Image.new("1", (1, 100_001)).save(thread)
    with pytest.raises(MediaError, match="100,001 pixels"):
        read_picture(thread)


def test_a_png_of_too_many_parts_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "chunks.png"
    Image.new("RGB", (8, 8)).save(path)
    png = path.read_bytes()
    # The first 33 bytes are the signature and the header.
    path.write_bytes(png[:33] + b"\0\0\0\1tEXta\0\0\0\0" * 50_001 + png[33:])
    with pytest.raises(MediaError, match="50,000 parts"):
        read_picture(path)


def test_a_jpeg_of_too_many_parts_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "scans.jpg"
    Image.new("RGB", (64, 64)).save(path, progressive=True)
    assert read_picture(path).shape == (64, 64, 3)
    jpeg = path.read_bytes()
    # The last two bytes end the picture.
    last_scan = jpeg[jpeg.rindex(b"\xff\xda") : -2]
    path.write_bytes(jpeg[:-2] + last_scan * 100 + jpeg[-2:])
    with pytest.raises(MediaError, match="100 parts"):
        read_picture(path)


# Light above and dark below.
TWO_COLOURS = Image.new("RGB", (64, 64), (200, 200, 200))
TWO_COLOURS.paste("black", (0, 32, 64, 64))


def is_two_colours(path: Path) -> bool:
    """Whether a file is read as this picture, up to the losses of its format."""
    assert probe(path).kind == "picture"
    picture = read_picture(path).astype(int)
    return bool(np.abs(picture - np.asarray(TWO_COLOURS)).max() <= 4)


def test_a_png_with_megabytes_of_text_is_read(tmp_path: Path) -> None:
    long = "x" * 3_000_000
    for name in ("zTXt", "iTXt"):
        text = PngImagePlugin.PngInfo()
        add = text.add_text if name == "zTXt" else text.add_itxt
        add("workflow", long, zip=True)
        TWO_COLOURS.save(tmp_path / f"{name}.png", pnginfo=text)
    TWO_COLOURS.save(tmp_path / "profile.png", icc_profile=os.urandom(3_000_000))

    for path in tmp_path.iterdir():
        assert is_two_colours(path), path.name


@pytest.mark.parametrize("ending", ["png", "webp", "jpg"])
def test_damaged_metadata_leaves_a_picture_as_it_is(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"a.{ending}"
    TWO_COLOURS.save(path, exif=b"Exif\0\0MM\0\x08\0\x02\x01\x12")
    assert is_two_colours(path)


@pytest.mark.parametrize("brand", [b"mif1", b"msf1"])
def test_all_brands_of_a_picture_decide_its_codec(tmp_path: Path, brand: bytes) -> None:
    pillow_heif.register_heif_opener()
    for ending in ("avif", "heic"):
        path = tmp_path / f"a.{ending}"
        TWO_COLOURS.save(path, quality=95)
        content = bytearray(path.read_bytes())
        content[8:12] = brand
        path.write_bytes(content)
        assert is_two_colours(path), ending


def test_a_big_tiff_is_a_picture(tmp_path: Path) -> None:
    path = tmp_path / "scan.tif"
    TWO_COLOURS.save(path, big_tiff=True)
    assert is_two_colours(path)


@pytest.mark.parametrize("missing", [np.nan, np.inf, -np.inf, np.finfo(np.float32).min])
def test_pixels_without_a_value_leave_the_others_visible(tmp_path: Path, missing: float) -> None:
    depth = np.linspace(2, 7, 64 * 64, dtype=np.float32).reshape(64, 64)
    depth[0, :8] = missing
    path = tmp_path / "depth.tif"
    Image.fromarray(depth).save(path)

    picture = read_picture(path)[..., 0]
    assert picture[0, 0] == 0
    assert picture[-1, -1] == 255
    assert abs(int(picture[32, 0]) - 128) <= 1


def test_a_picture_without_any_value_is_black(tmp_path: Path) -> None:
    path = tmp_path / "depth.tif"
    Image.fromarray(np.full((4, 4), np.nan, np.float32)).save(path)
    assert read_picture(path).max() == 0
