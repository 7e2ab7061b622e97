"""A client generated from /api/openapi.json, by openapi-python-client, searches and is refused."""

import importlib
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from tests.conftest import RunningApp

pytest.importorskip("openapi_python_client", reason="needs openapi-python-client")


def generate_client(app: RunningApp, folder: Path) -> None:
    """Generate the package `generated_client` in a folder, from the app's document, without a warning."""
    document = folder / "openapi.json"
    document.write_bytes(httpx.get(f"{app.url}api/openapi.json").content)
    command = [sys.executable, "-m", "openapi_python_client", "generate", "--meta", "none"]
    command += ["--path", str(document), "--output-path", str(folder / "generated_client")]
    process = subprocess.run(command, capture_output=True, text=True)
    assert process.returncode == 0, process.stdout
    assert "WARNING parsing" not in process.stdout
    assert "WARNING parsing" not in process.stderr


def test_a_generated_client_searches(
    running_app: RunningApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    generate_client(running_app, tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    client = importlib.import_module("generated_client").Client(
        f"{running_app.url}api", timeout=300
    )
    models = importlib.import_module("generated_client.models")
    search = importlib.import_module("generated_client.api.default.search_search_post").sync

    request = {"query": "a dog and not a cat", "systems": ["CLIP-neg"], "k": 3}
    answer = search(client=client, body=models.SearchRequest(**request))
    assert answer.query.unwanted == ["a cat"]
    assert [hit.rank for hit in answer.systems[0].hits] == [1, 2, 3]

    refusal = search(client=client, body=models.SearchRequest(query=" "))
    assert isinstance(refusal, models.Refusal)
    assert "Type what the clip" in refusal.error
