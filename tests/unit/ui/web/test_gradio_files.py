"""Gradio's own files as the app serves them."""

from pathlib import Path

import brotli  # type: ignore[import-untyped]
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from nt2vr.ui.web.gradio_files import GradioFiles

SCRIPT = "export const numbers = [1, 2, 3];\n" * 100


@pytest.fixture
def client(tmp_path: Path) -> TestClient:
    (tmp_path / "secret.js").write_text("secret")
    folder = tmp_path / "assets"
    folder.mkdir()
    (folder / "index-a1.js").write_text(SCRIPT)
    (folder / "font-a1.woff2").write_bytes(bytes(1000))
    return TestClient(Starlette(routes=[GradioFiles(folder).route()]))


def test_a_script_is_compressed_for_browsers_that_can_read_it(client: TestClient) -> None:
    # The file is read from the disk, then from memory.
    for _ in range(2):
        with client.stream(
            "GET", "/assets/index-a1.js", headers={"Accept-Encoding": "br"}
        ) as answer:
            assert brotli.decompress(b"".join(answer.iter_raw())).decode() == SCRIPT
        assert answer.headers["content-type"] == "text/javascript; charset=utf-8"
        assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    plain = client.get("/assets/index-a1.js", headers={"Accept-Encoding": "identity"})
    assert plain.text == SCRIPT
    assert "content-encoding" not in plain.headers


def test_a_font_is_served_as_it_is(client: TestClient) -> None:
    answer = client.get("/assets/font-a1.woff2", headers={"Accept-Encoding": "br"})
    assert answer.content == bytes(1000)
    assert "content-encoding" not in answer.headers


@pytest.mark.parametrize(
    "path", ["../secret.js", "%2e%2e/secret.js", "..%2fsecret.js", "none.js", "", "a/b.js"]
)
def test_nothing_outside_the_folder_is_served(client: TestClient, path: str) -> None:
    assert client.get(f"/assets/{path}").status_code == 404


def test_nothing_is_written(client: TestClient) -> None:
    assert client.post("/assets/index-a1.js", content=b"x").status_code == 404
