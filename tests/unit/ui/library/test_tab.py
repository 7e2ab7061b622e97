"""The Library tab: what is added, and which model is chosen."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from nt2vr.errors import MediaError
from nt2vr.library.libraries import Libraries
from nt2vr.ui.library import tab as tab_module
from nt2vr.ui.library.tab import LibraryTab
from nt2vr.ui.web.permissions import Permissions

NOBODY: Any = None  # a request by nobody in particular


def test_a_library_whose_uploads_cannot_be_stored_is_not_left_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    libraries, film = Libraries(tmp_path / "libraries"), tmp_path / "a.mp4"
    film.write_bytes(b"film")

    def no_room(*_: object) -> None:
        raise MediaError("The disk is full.")

    monkeypatch.setattr(libraries, "upload", no_room)
    monkeypatch.setattr(tab_module, "is_upload", lambda file: True)
    media: Any = SimpleNamespace(libraries=libraries)
    indexing: Any = SimpleNamespace(models=SimpleNamespace(find=lambda model: None))
    tab = LibraryTab(media, indexing, Permissions("t" * 20, {"import": "everyone"}), ())
    event: Any = SimpleNamespace(target=None)
    with pytest.raises(MediaError, match="disk is full"):
        tab.on_add("uploads", "Mine", [str(film)], "", "test", 10.0, "CLIP", event, NOBODY)
    assert libraries.infos() == []
