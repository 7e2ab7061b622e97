"""The app as on a server, and a stranger to the running app, for tests of several modules."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import STRANGER, RunningApp, run_app
from tests.support.app_calls import everyone_may
from tests.support.raw_client import RawClient

SERVER: dict[str, Any] = {
    "GRADIO_SERVER_NAME": "[::]",
    # The app takes the path of it.
    "GRADIO_ROOT_PATH": "https://videos.example/nt2vr/",
    # The app must not ask itself by way of a proxy.
    "HTTP_PROXY": "http://127.0.0.1:9",
    "ALL_PROXY": "socks5://127.0.0.1:9",
    **everyone_may("train"),
}


@pytest.fixture(scope="package")
def server(tmp_path_factory: pytest.TempPathFactory, gallery_data: Path) -> Iterator[RunningApp]:
    """An app on all IPv6 addresses, at a sub-path behind a proxy; everyone may train."""
    folder = tmp_path_factory.mktemp("server")
    # It stands in place of Gradio's folder, which another user made.
    (folder / "gradio").touch()
    with run_app(folder, gallery_data / "cache", TMPDIR=str(folder), **SERVER) as app:
        url = app.url.replace("127.0.0.1", "[::1]")
        yield replace(app, url=f"{url}nt2vr/")


@pytest.fixture(scope="package")
def stranger(running_app: RunningApp) -> Iterator[RawClient]:
    """Somebody behind a proxy, who sends events to the running app."""
    client = RawClient(running_app.url, STRANGER)
    yield client
    client.client.close()
