"""What the page serves beside its events."""

import json
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from nt2vr.ui.page import ReportFiles
from nt2vr.ui.web.permissions import IN_SCOPE, Permissions


@pytest.mark.parametrize(("rule", "told"), [("owner", "a.jpg"), ("everyone", "/home/ann/pictures/a.jpg")])
def test_files_of_reports_name_folders_only_to_who_may_name_them(tmp_path: Path, rule: str, told: str) -> None:
    line: dict[str, Any] = {"text": "a dog", "picture": {"path": "/home/ann/pictures/a.jpg"}}
    (tmp_path / "queries.jsonl").write_text(f"{json.dumps(line)}\n")
    (tmp_path / "arrays.npz").write_bytes(b"PK\xff")
    files, permissions = ReportFiles(directory=tmp_path), Permissions("a-token-of-the-owner", {"paths": rule})

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await files({**scope, IN_SCOPE: permissions}, receive, send)

    client = TestClient(app)
    assert json.loads(client.get("/queries.jsonl").text)["picture"] == {"path": told}
    assert client.get("/arrays.npz").content == b"PK\xff"
