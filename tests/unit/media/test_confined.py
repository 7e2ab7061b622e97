"""Files that may not leave a folder, with links put in their place after they were found."""

from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

from nt2vr.errors import MediaError
from nt2vr.media.decode import OUTSIDE, Decoder, confined
from nt2vr.models.framing import Framing

WriteVideo = Callable[..., Path]
LEAVES = rf"^a\.(png|webm) {OUTSIDE}$"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "root" / "in").mkdir(parents=True)
    (tmp_path / "out").mkdir()
    for place in ("root/in/a.png", "out/a.png"):
        Image.new("RGB", (8, 8), "red").save(tmp_path / place)
    return tmp_path.resolve() / "root"


@pytest.mark.parametrize("name", ["a.png", "a.webm"])
def test_a_file_replaced_by_a_link_is_not_decoded(
    tmp_path: Path, root: Path, decoder: Decoder, write_video: WriteVideo, name: str
) -> None:
    path = root / "in" / name
    if name == "a.webm":
        write_video("root/in/a.webm", [10] * 12)
        write_video("out/a.webm", [200] * 12)
    jobs: list[Callable[[], object]] = [
        lambda: decoder.probe(path, root).result(),
        lambda: decoder.frames(path, 2, Framing(8), root).result(),
        lambda: decoder.windows(path, [(0.0, 1.0)], 2, Framing(8), root).result(),
        lambda: decoder.preview(
            path, 0.0, 1.0, tmp_path / "p.jpg", tmp_path / "p.webm", root
        ).result(),
    ]
    for job in jobs:
        job()
    path.unlink()
    path.symlink_to(tmp_path / "out" / name)
    (tmp_path / "p.jpg").unlink()
    for job in jobs:
        with pytest.raises(MediaError, match=LEAVES):
            job()
    assert not (tmp_path / "p.jpg").exists()


def test_links_within_the_folder_and_copies_go_on_working(root: Path, decoder: Decoder) -> None:
    (root / "link.png").symlink_to("in/a.png")
    (root / "folder").symlink_to("in")
    for path in (root / "link.png", root / "folder" / "a.png"):
        assert decoder.probe(path, root).result().kind == "picture"
    copy = root / "copy.png"
    copy.write_bytes((root / "in" / "a.png").read_bytes())
    # It has another inode.
    copy.replace(root / "in" / "a.png")
    assert decoder.probe(root / "in" / "a.png", root).result().kind == "picture"


def test_links_put_there_between_resolving_and_opening_are_not_followed(
    tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "link.png").symlink_to(tmp_path / "out" / "a.png")
    (root / "folder").symlink_to(tmp_path / "out")
    # The links seem to have come right after the check.
    monkeypatch.setattr("os.path.realpath", str)
    for path in (root / "link.png", root / "folder" / "a.png"):
        with (
            pytest.raises(MediaError, match=r"^(link|a)\.png [^\n]+$"),
            confined(path, root),
        ):
            pass
