"""Shares of a library's work: disjoint, complete, and started again after a kill."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from nt2vr.errors import ConfigError
from nt2vr.library.libraries import Libraries
from nt2vr.library.update import Shard, shared_library, update_library, update_shard
from nt2vr.media.cache import Cache
from nt2vr.media.decode import Decoder
from nt2vr.search.embed_clips import open_gallery
from tests.paths import ROOT
from tests.unit.library.brightness import BrightnessEncoder

COUNT = 24


@pytest.fixture
def films(tmp_path: Path) -> Path:
    folder = tmp_path / "films"
    folder.mkdir()
    for number in range(COUNT):
        Image.new("RGB", (16, 16), (10 * number, 0, 0)).save(folder / f"{number:02}.png")
    return folder


@pytest.mark.parametrize(
    "text", ["", "1", "0/2", "3/2", "1/0", "-1/2", "1/2/3", "a/b", "1.0/2", "1/99999999999999", "²/3"]
)
def test_what_is_no_share_is_one_sentence(text: str) -> None:
    with pytest.raises(ConfigError, match="is no share of the work"):
        Shard.named(text)


def test_every_content_is_of_exactly_one_share() -> None:
    contents = [np.random.default_rng(number).bytes(16).hex() for number in range(300)]
    shards = [Shard.named(f"{number}/3") for number in (1, 2, 3)]
    owners = np.array([[shard.has(content) for shard in shards] for content in contents])
    assert (owners.sum(axis=1) == 1).all() and (owners.sum(axis=0) > 60).all()


def test_shares_embed_each_clip_once_and_a_later_update_none(films: Path, tmp_path: Path, decoder: Decoder) -> None:
    data = tmp_path / "data"
    libraries, encoders = Libraries(data / "libraries"), [BrightnessEncoder() for _ in "123"]
    with Cache.of(data) as cache:
        for number in (1, 2, 1):  # the last finds all done
            library = shared_library(libraries, "films", "folder", str(films), "all", None)
            done = update_shard(libraries, library, Shard(number, 2), encoders[number - 1], decoder, cache)  # type: ignore[arg-type]
            assert done.num_embedded == done.num_clips
        assert len(libraries.infos()) == 1
        update_library(libraries, library, encoders[2], decoder, cache, previews=False)  # type: ignore[arg-type]
        assert [encoder.num_clips > 0 for encoder in encoders] == [True, True, False]
        assert encoders[0].num_clips + encoders[1].num_clips == COUNT
        with pytest.raises(ConfigError, match="There is a library 'films' already"):
            shared_library(libraries, "films", "folder", str(tmp_path), "all", None)


SHARE = """
if __name__ == "__main__":  # the decoder's child imports this script too
    import sys
    from pathlib import Path
    from nt2vr.library.libraries import Libraries
    from nt2vr.library.update import Shard, shared_library, update_shard
    from nt2vr.media.cache import Cache
    from nt2vr.media.decode import Decoder
    from tests.unit.library.brightness import BrightnessEncoder

    class Telling(BrightnessEncoder):
        def encode_frames(self, frames):
            if sys.argv[4] == "waits" and self.num_clips == 3:
                print("waiting", flush=True)
                sys.stdin.read()
            return super().encode_frames(frames)

    data, films, shard = Path(sys.argv[1]), sys.argv[2], Shard.named(sys.argv[3])
    libraries, encoder = Libraries(data / "libraries"), Telling()
    with Decoder(1) as decoder, Cache.of(data) as cache:
        library = shared_library(libraries, "films", "folder", films, "all", None)
        update_shard(libraries, library, shard, encoder, decoder, cache)
    print("embedded", encoder.num_clips, flush=True)
"""


@pytest.mark.slow
def test_a_share_that_is_killed_loses_one_clip_and_holds_up_nobody(
    films: Path, tmp_path: Path, decoder: Decoder
) -> None:
    script = tmp_path / "share.py"
    script.write_text(SHARE)
    data = tmp_path / "data"

    def start(share: str, how: str = "runs") -> subprocess.Popen[str]:
        command = [sys.executable, str(script), str(data), str(films), share, how]
        pipes: dict[str, int] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        return subprocess.Popen(command, cwd=ROOT, env=_environment(), text=True, **pipes)  # type: ignore[call-overload, no-any-return]

    killed = start("1/2", "waits")
    assert killed.stdout is not None and killed.stdout.readline() == "waiting\n"
    other = _embedded(start("2/2"))  # while the first hangs
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    again = _embedded(start("1/2"))
    assert 3 + again + other == COUNT and 0 < other < COUNT
    libraries = Libraries(data / "libraries")
    with Cache.of(data) as cache:
        opened = open_gallery(libraries.gallery("films"), BrightnessEncoder(), cache)  # type: ignore[arg-type]
    assert len(opened.gallery.videos) == len(opened.all_frames) == COUNT  # nothing is lost, nothing is doubled


def _embedded(process: "subprocess.Popen[str]") -> int:
    output, _ = process.communicate()
    assert process.returncode == 0
    return int(output.split()[-1])


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))}
