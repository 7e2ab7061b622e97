"""`import nt2vr`: what notebooks call, and that it costs nothing until it is used."""

import ast
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import nt2vr
from nt2vr import api
from nt2vr.errors import ConfigError, NotIndexedError, QueryError
from nt2vr.evaluation.sources import Data
from nt2vr.extension import extensions, load
from nt2vr.library.libraries import Libraries
from nt2vr.library.update import update_library
from nt2vr.media.decode import Decoder
from nt2vr.media.store import Cache
from tests.support.paths import ROOT
from tests.support.tiny_models import write_tiny


def test_every_exported_name_is_there_and_typed() -> None:
    assert sorted(nt2vr.__all__) == nt2vr.__all__ == dir(nt2vr)
    assert all(
        getattr(nt2vr, name) is getattr(api, name) for name in nt2vr.CORE if name != "__version__"
    )
    of_extensions: dict[str, str] = {}
    for extension in extensions():
        of_extensions |= extension.api
    assert all(getattr(nt2vr, name) is load(reference) for name, reference in of_extensions.items())
    assert (
        {"CovrData", "evaluate_covr", "submit_covr"}
        <= set(nt2vr.__all__)
        == {*nt2vr.CORE, *of_extensions}
    )
    typed = [
        node
        for node in ast.parse((ROOT / "nt2vr" / "__init__.py").read_text()).body
        if isinstance(node, ast.If)
    ]
    # What a checker of types reads.
    assert ast.unparse(typed[0].body[0]) == "from nt2vr.api import *"
    public = ast.parse((ROOT / "nt2vr" / "api.py").read_text()).body
    names = {node.name for node in public if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    for node in public:
        if isinstance(node, ast.ImportFrom):
            # Other imports are not for export.
            names |= {alias.name for alias in node.names if alias.asname == alias.name}
        # Another name of a class, as its former one.
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    assert {name for name in names if name[0] != "_"} | {"__version__"} == set(nt2vr.CORE)
    with pytest.raises(AttributeError, match="serach"):
        nt2vr.serach  # noqa: B018


def test_the_version_is_the_projects() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert nt2vr.__version__ == project["version"]


def test_a_sentence_is_understood() -> None:
    query = nt2vr.understand("a dog and not a cat")
    assert isinstance(query, nt2vr.Query)
    assert (query.wanted, query.unwanted) == (("a dog",), ("a cat",))


def test_a_model_is_loaded_by_name_and_from_a_folder(tmp_path: Path) -> None:
    card = write_tiny(tmp_path / "data" / "models" / "mine", "Mine")
    for name in (
        "mine",
        "MINE",
        tmp_path / "data" / "models" / "mine",
        str(tmp_path / "data" / "models" / "mine"),
    ):
        model = nt2vr.load_model(name, tmp_path / "data")
        assert model.text_fingerprint == card.text.fingerprint
        assert model.encode_text(["a dog"]).shape == (1, 16)
    with pytest.raises(ConfigError, match=r"none.*Mine"):
        nt2vr.load_model("none", tmp_path / "data")


def test_the_gallery_is_searched_with_systems_by_name_or_not(
    gallery_data: Path, tmp_path: Path
) -> None:
    Image.new("RGB", (32, 32), "green").save(tmp_path / "green.png")
    with nt2vr.open_searcher(gallery_data) as searcher:
        assert {"CLIP", "CLIP-neg", "CLIP boolean"} <= set(searcher.system_names)
        answer = searcher.search("a dog, no cat", ["CLIP", nt2vr.System("CLIP", "drop")], k=3)
        assert [ranking.system.name for ranking in answer.rankings] == ["CLIP", "CLIP drop"]
        assert [len(ranking.hits) for ranking in answer.rankings] == [3, 3]
        assert (
            searcher.search(nt2vr.understand("a dog, no cat"), "CLIP", k=3).rankings[0].hits
            == answer.rankings[0].hits
        )
        assert searcher.video(answer.rankings[0].hits[0].video_id).path.is_file()

        green = np.full((32, 32, 3), (0, 128, 0), np.uint8)
        by_file, by_array = (
            searcher.search("", "CLIP", image=image) for image in (tmp_path / "green.png", green)
        )
        assert by_file.rankings[0].hits == by_array.rankings[0].hits
        wrong: list[Any] = [green[0], green / 255, green[..., :2]]
        for image in wrong:
            with pytest.raises(ConfigError, match="uint8"):
                searcher.search("a dog", "CLIP", image=image)
        with pytest.raises(QueryError):
            searcher.search("", "CLIP")


def test_a_library_is_searched_by_name_once_indexed(tmp_path: Path, decoder: Decoder) -> None:
    write_tiny(tmp_path / "data" / "models" / "tiny", "tiny")
    (tmp_path / "videos").mkdir()
    for colour in ("red", "green"):
        Image.new("RGB", (32, 32), colour).save(tmp_path / "videos" / f"{colour}.png")
    libraries = Libraries(tmp_path / "data" / "libraries")
    library = libraries.add("Colours", "folder", tmp_path / "videos").id
    with Cache.of(tmp_path / "data") as cache:
        update_library(libraries, library, None, decoder, cache, previews=False)
        refused = pytest.raises(NotIndexedError, match=r"Colours .*tiny.* 2 clips")
        with nt2vr.open_searcher(tmp_path / "data", library="colours") as searcher, refused:
            searcher.search("a dog", "tiny")
        update_library(
            libraries,
            library,
            nt2vr.load_model("tiny", tmp_path / "data"),
            decoder,
            cache,
            previews=False,
        )
    with nt2vr.open_searcher(tmp_path / "data", library="colours") as searcher:
        answer = searcher.search("", "tiny", k=2, image=tmp_path / "videos" / "red.png")
        assert [hit.video_id for hit in answer.rankings[0].hits] == ["red.png", "green.png"]
        assert answer.as_dict()["gallery"] == library
    with pytest.raises(ConfigError, match=r"none.*Colours"):
        nt2vr.open_searcher(tmp_path / "data", library="none")


def test_an_evaluation_has_metrics_and_tables_and_is_saved(tmp_path: Path) -> None:
    write_tiny(tmp_path / "data" / "models" / "tiny", "tiny")
    data = Data("world", clips=30)
    evaluation = nt2vr.evaluate(
        data, ["tiny", nt2vr.System("tiny", "boolean", 0.5)], tmp_path / "data"
    )
    assert list(evaluation.metrics) == ["tiny", "tiny drop", "tiny boolean α 0.5"]
    assert 0 <= evaluation.metrics["tiny"]["original/R@1"] <= 100
    assert "| tiny drop (control) |" in evaluation.table
    evaluation.save(tmp_path / "out")
    assert (tmp_path / "out" / "table.md").read_text(encoding="utf-8") == evaluation.table
    assert (tmp_path / "out" / "report.json").is_file()
