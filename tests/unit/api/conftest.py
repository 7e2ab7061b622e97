"""A library of four coloured pictures, indexed by a model that is an object."""

from pathlib import Path

import pytest
from PIL import Image

from nt2vr.library.libraries import Libraries
from nt2vr.library.update import update_library
from nt2vr.media.decode import Decoder
from nt2vr.media.store import Cache
from tests.support.colour_model import ColourModel

PICTURES = {
    "<i>red.png": (255, 0, 0),
    "blue.png": (0, 0, 255),
    "green.png": (0, 255, 0),
    "yellow.png": (255, 255, 0),
}


def write_pictures(folder: Path) -> None:
    """Write the PICTURES into a new folder."""
    folder.mkdir()
    for name, colour in PICTURES.items():
        Image.new("RGB", (32, 32), colour).save(folder / name)


@pytest.fixture(scope="session")
def colours(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with the library "Colours"."""
    folder = tmp_path_factory.mktemp("colours")
    write_pictures(folder / "videos")
    libraries = Libraries(folder / "data" / "libraries")
    library = libraries.add("Colours", "folder", folder / "videos").id
    with Decoder(num_workers=1) as decoder, Cache.of(folder / "data") as cache:
        update_library(libraries, library, ColourModel(), decoder, cache, previews=False)
    return folder / "data"
