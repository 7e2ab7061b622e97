"""A client generated from /api/openapi.json, by openapi-python-client, searches and is refused."""

import importlib
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from tests.conftest import RunningApp

pytest.importorskip("openapi_python_client", reason="needs openapi-python-client")


def test_a_generated_client_searches(
    running_app: RunningApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = tmp_path / "openapi.json"
    package = tmp_path / "generated_client"
    document.write_bytes(httpx.get(f"{running_app.url}api/openapi.json").content)
    command = [sys.executable, "-m", "openapi_python_client", "generate", "--meta", "none"]
    command += ["--path", str(document), "--output-path", str(package)]
    generated = subprocess.run(command, capture_output=True, text=True)
    assert generated.returncode == 0, generated.stdout
    assert "WARNING parsing" not in generated.stdout + generated.stderr

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
