"""Whether a library has changed is told without opening it."""

import shutil
from pathlib import Path

import gradio

from nt2vr.library.libraries import Libraries
from nt2vr.library.update import update_library
from nt2vr.media.decode import Decoder
from nt2vr.media.store import Cache

LION = Path(gradio.__file__).parent / "media_assets" / "images" / "lion.jpg"


def test_a_stamp_changes_with_clips_and_name_and_with_nothing_else(tmp_path: Path, decoder: Decoder) -> None:
    films = tmp_path / "films"
    films.mkdir()
    shutil.copy(LION, films / "1.jpg")
    libraries = Libraries(tmp_path / "libraries")
    library = libraries.add("Films", "folder", films).id
    with Cache.of(tmp_path) as cache:
        stamps = [libraries.stamp(library)]
        for _ in range(2):
            update_library(libraries, library, None, decoder, cache, previews=False)
            stamps.append(libraries.stamp(library))
            libraries.infos(), libraries.gallery(library), libraries.skipped(library)
            assert libraries.stamp(library) == stamps[-1]
            (films / "2.jpg").write_bytes(LION.read_bytes() + b"more")
        libraries.rename(library, "Other")
        stamps.append(libraries.stamp(library))
        libraries.remove(library)
        stamps.append(libraries.stamp(library))
    assert len(set(stamps)) == len(stamps)
