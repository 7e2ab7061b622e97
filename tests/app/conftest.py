"""The app as on a server, for tests of several modules."""

from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from nt2vr.models.checkpoint import WEIGHTS
from tests.conftest import RunningApp, run_app
from tests.tiny import write_tiny

OWNER = "the-owners-token-of-this-test"
SERVER: dict[str, Any] = {
    "GRADIO_SERVER_NAME": "0.0.0.0",
    "GRADIO_ROOT_PATH": "/nt2vr",
    "NT2VR_ALLOW_TRAIN": "everyone",
    "NT2VR_OWNER_TOKEN": OWNER,
}


@pytest.fixture(scope="package")
def server(tmp_path_factory: pytest.TempPathFactory, gallery_data: Path) -> Iterator[RunningApp]:
    """An app on all addresses, at a sub-path behind a proxy, with tools for agents and a model that is damaged."""
    folder = tmp_path_factory.mktemp("server")
    damaged = folder / "data" / "models" / "damaged"
    write_tiny(damaged, "damaged")
    (damaged / WEIGHTS).write_bytes(b"no weights")
    flags = ["--mcp"] if find_spec("mcp") else []
    with run_app(folder, gallery_data / "cache", flags=flags, **SERVER) as app:
        yield replace(app, url=f"{app.url}nt2vr/")
