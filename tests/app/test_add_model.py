"""The page's box for a model: every kind of source, by its event, and who may name which."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from nt2vr.models.card import read_card
from tests.conftest import STRANGER, RunningApp, run_app
from tests.support.app_calls import ADD_MODEL, everyone_may, model_values
from tests.support.hub_server import HubServer, serve_hub
from tests.support.raw_client import RawClient, refusal
from tests.support.tiny_models import write_tiny


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HubServer]:
    """A Hub with one model, named "Pushed"."""
    folder = tmp_path_factory.mktemp("pushed") / "model"
    write_tiny(folder, "Pushed")
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    with serve_hub() as server:
        server.put("tester/mine", files)
        yield server


@pytest.fixture(scope="module")
def app(
    gallery_data: Path, tmp_path_factory: pytest.TempPathFactory, hub: HubServer
) -> Iterator[RunningApp]:
    """An app on which everyone may import and download, and its owner alone may name paths."""
    environment = everyone_may("import", "download")
    environment["HF_ENDPOINT"] = hub.endpoint
    folder = tmp_path_factory.mktemp("shared")
    with run_app(folder, gallery_data / "cache", **environment) as running:
        yield running


def add_model(client: RawClient, source: str, name: str = "") -> str:
    """Add a model by the box, which must not be refused; return what the page then shows."""
    answer = client.send(ADD_MODEL, model_values(client, source, name))
    assert refusal(answer) == ""
    return str(answer["output"]["data"])


@pytest.mark.slow
def test_the_box_adds_hub_models_folders_and_embeddings(app: RunningApp, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    write_tiny(folder, "Its own", seed=3)
    vectors = tmp_path / "vectors.npz"
    np.savez(vectors, video_ids=["a"], videos=np.eye(1), queries=["a dog"], texts=np.eye(1))
    owner = RawClient(app.url, {})

    assert "Added Pushed. " in add_model(owner, "hf:tester/mine")
    assert "Added Mine. " in add_model(owner, str(folder), "Mine")
    assert "Added vectors. " in add_model(owner, str(vectors))

    models = (app.data / "models").iterdir()
    assert {read_card(model).name for model in models} == {"Pushed", "Mine", "vectors"}
    error = owner.error(ADD_MODEL, model_values(owner, "hf:tester/mine"))
    assert error.startswith("There is already a model 'Pushed'")


@pytest.mark.slow
def test_a_wrong_name_is_refused_before_the_hub_is_asked(app: RunningApp, hub: HubServer) -> None:
    visitor = RawClient(app.url, STRANGER)
    hub.requests.clear()

    error = visitor.error(ADD_MODEL, model_values(visitor, "ViT-B-32/none"))

    assert error.startswith("open_clip has no pre-trained model")
    assert hub.requests == []
