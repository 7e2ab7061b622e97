"""The app as on a server, for tests of several modules."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nt2vr.ui.web.permissions import TOKEN_FILE
from tests.conftest import RunningApp, run_app

SERVER: dict[str, Any] = {
    "GRADIO_SERVER_NAME": "0.0.0.0",
    # The app takes the path of it.
    "GRADIO_ROOT_PATH": "https://films.example/nt2vr/",
    "NT2VR_ALLOW_TRAIN": "everyone",
}


def token_of(app: RunningApp) -> str:
    """Return the owner's token."""
    return (app.data / TOKEN_FILE).read_text()


@pytest.fixture(scope="package")
def server(tmp_path_factory: pytest.TempPathFactory, gallery_data: Path) -> Iterator[RunningApp]:
    """An app on all addresses, at a sub-path behind a proxy; everyone may train."""
    with run_app(tmp_path_factory.mktemp("server"), gallery_data / "cache", **SERVER) as app:
        yield replace(app, url=f"{app.url}nt2vr/")
