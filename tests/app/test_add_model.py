"""The page's box for a model: every kind of source, by its event, and who may name which."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nt2vr.models.card import read_card
from tests.conftest import STRANGER, RunningApp, run_app
from tests.support.hub_server import HubServer, serve_hub
from tests.support.raw_client import Event, RawClient, refusal
from tests.support.tiny_models import write_tiny

ADD: Event = ("model-add", "click")


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HubServer]:
    folder = tmp_path_factory.mktemp("pushed") / "model"
    write_tiny(folder, "Pushed")
    with serve_hub() as server:
        server.put("tester/mine", {path.name: path.read_bytes() for path in folder.iterdir()})
        yield server


@pytest.fixture(scope="module")
def app(
    gallery_data: Path, tmp_path_factory: pytest.TempPathFactory, hub: HubServer
) -> Iterator[RunningApp]:
    """An app on which everyone may import and download, and its owner alone may name paths."""
    everyone: dict[str, Any] = dict.fromkeys(
        ("NT2VR_ALLOW_IMPORT", "NT2VR_ALLOW_DOWNLOAD"), "everyone"
    )
    folder = tmp_path_factory.mktemp("shared")
    with run_app(folder, gallery_data / "cache", HF_ENDPOINT=hub.endpoint, **everyone) as running:
        yield running


def values_of(client: RawClient, source: str, name: str = "") -> list[Any]:
    values = client.values(client.events[ADD])
    return [source, name, *values[2:]]


@pytest.mark.slow
def test_the_box_adds_hub_models_folders_and_embeddings(app: RunningApp, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    write_tiny(folder, "Its own", seed=3)
    vectors = tmp_path / "vectors.npz"
    np.savez(vectors, video_ids=["a"], videos=np.eye(1), queries=["a dog"], texts=np.eye(1))
    owner = RawClient(app.url, {})

    for source, typed_name, name in (
        ("hf:tester/mine", "", "Pushed"),
        (str(folder), "Mine", "Mine"),
        (str(vectors), "", "vectors"),
    ):
        answer = owner.send(ADD, values_of(owner, source, typed_name))
        assert refusal(answer) == ""
        assert f"Added {name}. " in str(answer["output"]["data"])

    models = app.data / "models"
    assert {read_card(folder).name for folder in models.iterdir()} == {"Pushed", "Mine", "vectors"}
    second = owner.error(ADD, values_of(owner, "hf:tester/mine"))
    assert second.startswith("There is already a model 'Pushed'")


@pytest.mark.slow
def test_a_wrong_name_is_refused_before_the_hub_is_asked(app: RunningApp, hub: HubServer) -> None:
    visitor = RawClient(app.url, STRANGER)
    hub.requests.clear()

    error = visitor.error(ADD, values_of(visitor, "ViT-B-32/none"))

    assert error.startswith("open_clip has no pre-trained model")
    assert hub.requests == []
