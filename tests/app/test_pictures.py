"""Pictures to search with, over raw HTTP: no file of the server that was not uploaded, and no address, is opened."""

import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import httpx
import pytest
from PIL import Image

from tests.conftest import RunningApp
from tests.support.raw_client import RawClient, file_data


def search_with(app: RunningApp, picture: dict[str, Any]) -> str:
    """Call /search of Gradio's API with a picture as a program names it; return the answer's text."""
    url = f"{app.url}gradio_api/call/search"
    data = ["a dog", ["CLIP"], 1, picture, 0.5, 0.5]
    joined = httpx.post(url, json={"data": data})
    if joined.status_code != 200:
        return joined.text

    event_id = joined.json()["event_id"]
    return httpx.get(f"{url}/{event_id}", timeout=60).text


def test_a_picture_is_opened_only_if_it_was_uploaded(
    running_app: RunningApp, tmp_path: Path
) -> None:
    secret = tmp_path / "secret.png"
    Image.new("RGB", (32, 32)).save(secret)
    text = tmp_path / "text.png"
    text.write_text("no picture")
    paths = [str(secret), str(text), str(tmp_path / "none.png"), "/dev/zero", str(tmp_path)]
    wrong_names = ["", "\0", "x" * 5000, "~", "http://127.0.0.1/x.png"]

    answers = set()
    for path in paths + wrong_names:
        answer = search_with(running_app, {"path": path})
        without_time = re.sub(r'"duration".*', "", answer)
        answers.add(without_time)

    # The answer tells neither whether a file exists nor what it is.
    (answer,) = answers
    assert "There is no such picture among the uploaded files" in answer

    # Gradio itself checks the path of a file that claims to be uploaded.
    for path in paths:
        answer = search_with(running_app, file_data(path))
        assert f"The request was refused: Cannot move {path}"[:100] in answer


class Site(BaseHTTPRequestHandler):
    """One request to a site of this machine, which notes its path."""

    requested_paths: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.requested_paths.append(self.path)
        self.send_error(404)


@pytest.fixture
def site_address() -> Iterator[str]:
    """The address of a picture of a site on this machine."""
    Site.requested_paths.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), Site) as site:
        threading.Thread(target=site.serve_forever, args=(0.02,), daemon=True).start()
        yield f"http://127.0.0.1:{site.server_port}/x.png"
        site.shutdown()


def test_no_address_is_fetched_for_anyone(running_app: RunningApp, site_address: str) -> None:
    for address in (site_address, "http://example.com/x.png"):
        picture = {**file_data(address), "url": address}
        assert "addresses are not opened here" in search_with(running_app, picture)
        for route in ("file=", "file/", "proxy="):
            response = httpx.get(f"{running_app.url}gradio_api/{route}{address}")
            assert response.status_code == 403
            assert response.text == "Addresses are not opened here."

    assert Site.requested_paths == []


def test_an_uploaded_picture_is_opened_but_nothing_beside_it(
    running_app: RunningApp, tmp_path: Path
) -> None:
    picture = tmp_path / "mine.png"
    Image.new("RGB", (32, 32)).save(picture)
    path = RawClient(running_app.url, {}).upload(picture)
    assert '"systems"' in search_with(running_app, file_data(path))

    folder = Path(path).parent
    assert running_app.data in folder.parents
    link = folder / "link.png"
    link.symlink_to(picture)
    for beside in (f"{path}/../link.png", str(link), f"{path}/../../../../etc/hostname"):
        answer = search_with(running_app, file_data(beside))
        assert re.search("refused: Cannot move|There is no such picture", answer)
