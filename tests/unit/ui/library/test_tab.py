"""The Library tab: models that know only drawings are named, and libraries are added and moved."""

import time
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import Any

import gradio as gr
import pytest

from nt2vr.errors import AccessError, MediaError
from nt2vr.library.libraries import Libraries
from nt2vr.library.move import Moved, move_library
from nt2vr.library.source import LibraryInfo
from nt2vr.models.catalog import Catalog
from nt2vr.settings import ASSETS
from nt2vr.ui.library import drawings
from nt2vr.ui.library import tab as tab_module
from nt2vr.ui.library.drawings import drawings_view
from nt2vr.ui.library.index_models import IndexModels
from nt2vr.ui.library.indexing import Indexing
from nt2vr.ui.library.tab import LibraryTab
from nt2vr.ui.search.teach_panel import Teaching
from nt2vr.ui.web.permissions import Permissions
from tests.support.tab_updates import one_of
from tests.support.tiny_models import write_tiny

# A request by nobody in particular.
NOBODY: Any = None
ANYBODY = Permissions("a-token-of-the-owner", {"import": "everyone", "download": "everyone"})
DRAWN = "CLIP and CLIP-neg know only drawings: their rankings of real videos mean almost nothing."


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Catalog:
    """The shipped models, and room for more, on a machine that computes 70.4 GFLOP a second."""
    monkeypatch.setattr(drawings, "gflops_per_second", lambda device: 70.4)
    return Catalog([ASSETS / "models", tmp_path])


def test_a_model_that_knows_more_is_offered_at_its_cost(models: Catalog) -> None:
    view = drawings_view(models, ["CLIP", "CLIP-neg", "CLIP"], 12, ANYBODY, None, is_indexed=True)
    assert view == {
        "text": DRAWN,
        "offer": "Get ViT-B-32 / openai and index again",
        # A clip has 8 frames with 8.8 GFLOP each.
        "cost": "577 MB to download, about 46 s at 100 Mbit/s, then about 12 s of computing on "
        "this machine for 12 clips.",
        "refusal": "",
    }
    before = drawings_view(models, ["CLIP"], 0, ANYBODY, None)
    assert (
        before["text"]
        == "CLIP knows only drawings: its ranking of real videos means almost nothing."
    )
    assert before["offer"] == "Get ViT-B-32 / openai and index with it"
    assert before["cost"].endswith(
        "then about 2 min of computing on this machine for each 100 clips."
    )


def test_a_better_model_that_is_here_is_offered_instead(models: Catalog) -> None:
    write_tiny(models.home / "mine", "Mine")
    view = drawings_view(models, ["CLIP", "CLIP-neg"], 12, ANYBODY, None)
    assert view["offer"] == "Use Mine instead"
    assert view["cost"] == ""
    assert view["text"] == DRAWN
    assert drawings_view(models, ["Mine"], 12, ANYBODY, None) == {}
    assert drawings_view(models, [], 12, ANYBODY, None) == {}
    # Beside a model that knows more, there is no offer.
    assert set(drawings_view(models, ["Mine", "CLIP"], 12, ANYBODY, None)) == {"text"}
    write_tiny(models.home / "vit", "ViT-B-32 / openai")
    (models.home / "mine" / "nt2vr.json").unlink()
    cost = drawings_view(models, ["CLIP"], 1, ANYBODY, None)["cost"]
    assert cost == (
        "It is here already; indexing takes about 1 s of computing on this machine for 1 clip."
    )


def test_who_may_not_download_is_told_so(models: Catalog) -> None:
    permissions = Permissions("a-token-of-the-owner", {"import": "everyone", "download": "nobody"})
    refusal = drawings_view(models, ["CLIP"], 12, permissions, None)["refusal"]
    assert refusal == "Nobody may download models here: it is switched off (NT2VR_ALLOW_DOWNLOAD)."
    write_tiny(models.home / "mine", "Mine")
    # Nothing has to be downloaded.
    assert drawings_view(models, ["CLIP"], 12, permissions, None)["refusal"] == ""


def test_a_model_that_was_removed_is_not_chosen_any_more(models: Catalog) -> None:
    stand_in: Any = SimpleNamespace(models=models)
    write_tiny(models.home / "mine", "Mine")
    index_models = IndexModels(stand_in, ANYBODY, stand_in)
    assert index_models.existing("Removed") == index_models.existing("Mine") == "Mine"


def test_a_model_that_indexed_the_library_may_be_taught(
    models: Catalog,
) -> None:
    write_tiny(models.home / "mine", "Mine")
    library = SimpleNamespace(gallery=SimpleNamespace(videos=["clip"]))
    trains = Permissions("t", {"train": "everyone"})
    galleries = SimpleNamespace(
        searcher=lambda key: library, is_indexed=lambda key, model: key == "indexed"
    )
    indexing: Any = SimpleNamespace(
        models=models, galleries=galleries, under_way=lambda key: None, libraries=None
    )
    tab = LibraryTab(indexing, indexing, trains, (), Teaching(models, trains, indexing))
    assert tab.on_model("Mine", "indexed", NOBODY) == {"teachable_model": "Mine"}
    assert tab.on_model("Mine", "not indexed", NOBODY) == {}
    write_tiny(models.home / "taught", "Mine taught")
    link = tab.on_model("Mine", "indexed", NOBODY)["link"]
    assert link == "gallery=indexed&systems=Mine%7CMine+taught"


def test_a_library_without_room_for_its_uploads_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    libraries = Libraries(tmp_path / "libraries")
    video = tmp_path / "a.mp4"
    video.write_bytes(b"video")

    def no_room(*_: object) -> None:
        raise MediaError("The disk is full.")

    monkeypatch.setattr(libraries, "upload", no_room)
    monkeypatch.setattr(tab_module, "is_upload", lambda file: True)
    media: Any = SimpleNamespace(libraries=libraries)
    indexing: Any = SimpleNamespace(models=SimpleNamespace(find=lambda model: None))
    tab = LibraryTab(media, indexing, ANYBODY, (), indexing)
    event: Any = SimpleNamespace(target=None)
    with pytest.raises(MediaError):
        tab.on_add("uploads", "Mine", [str(video)], "", "test", 10.0, "CLIP", event, NOBODY)
    assert libraries.infos() == []


def test_a_library_is_moved_only_into_an_allowed_folder(tmp_path: Path) -> None:
    for folder in ("videos", "allowed", "other"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.mp4").write_bytes(b"video")
    libraries = Libraries(tmp_path / "data" / "libraries")
    info = libraries.add("Videos", "folder", tmp_path / "videos")
    indexing = Indexing(SimpleNamespace(libraries=libraries, cache=None, galleries=None))  # type: ignore[arg-type]
    media: Any = SimpleNamespace(libraries=libraries)
    owner = Permissions("a-token-of-the-owner", {"paths": "everyone"})
    refused = ((ANYBODY, "allowed"), (owner, "other"), (owner, "allowed/../other"))
    for permissions, folder in refused:
        tab = LibraryTab(media, indexing, permissions, [tmp_path / "allowed"], media)
        with pytest.raises(AccessError):
            tab.on_move(info.id, str(tmp_path / folder), NOBODY)
    assert indexing.by_library == {}
    assert libraries.find("Videos").source.path == tmp_path / "videos"


def test_a_move_that_ends_while_shown_is_shown_again(
    tmp_path: Path, models: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    videos = tmp_path / "videos"
    videos.mkdir()
    (videos / "a.mp4").write_bytes(b"video")
    libraries = Libraries(tmp_path / "data" / "libraries")
    info = libraries.add("Videos", "folder", videos)
    moved = videos.rename(tmp_path / "moved")
    searcher = SimpleNamespace(gallery=SimpleNamespace(videos=()))
    galleries = SimpleNamespace(
        built_in=SimpleNamespace(models=models),
        searcher=lambda library_id: searcher,
        forget=lambda library_id: None,
    )
    services: Any = SimpleNamespace(libraries=libraries, galleries=galleries, cache=None)
    media: Any = SimpleNamespace(libraries=libraries, galleries=galleries, urls=None)
    indexing = Indexing(services)
    owner = Permissions("a-token-of-the-owner", dict.fromkeys(("import", "paths"), "everyone"))
    tab = LibraryTab(media, indexing, owner, [tmp_path], Teaching(models, owner, services))
    with gr.Blocks():
        tab.build(gr.Textbox(), lambda *_: None)

    is_read = Event()
    find = libraries.find

    def move_once_read(*arguments: Any, **options: Any) -> Moved:
        assert is_read.wait(60)
        return move_library(*arguments, **options)

    def find_and_let_it_end(name: str) -> LibraryInfo:
        library = find(name)
        if indexing.under_way(info.id):
            is_read.set()
            while indexing.under_way(info.id):
                time.sleep(0.01)
        return library

    monkeypatch.setattr("nt2vr.ui.library.indexing.move_library", move_once_read)
    monkeypatch.setattr(libraries, "find", find_and_let_it_end)
    updates = tab.on_move(info.id, str(moved), NOBODY)
    assert one_of(updates, gr.Timer).active

    monkeypatch.undo()
    seen = one_of(updates, gr.State)
    later = tab.on_poll(info.id, seen, NOBODY)
    assert not one_of(later, gr.Timer).active
    assert not one_of(later, gr.Row).visible
