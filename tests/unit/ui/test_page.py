"""What the page serves beside its events."""

import json
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from nt2vr.ui.page import ReportFiles
from nt2vr.ui.web.permissions import Permissions


@pytest.mark.parametrize(("rule", "status"), [("owner", 403), ("everyone", 200)])
def test_report_files_with_folder_names_need_permission(
    tmp_path: Path, rule: str, status: int
) -> None:
    for name, place in (("queries.jsonl", "/usr/my pictures/a.jpg"), ("table.csv", "a.jpg")):
        (tmp_path / name).write_text(json.dumps({"text": "a dog", "picture": {"path": place}}))
    (tmp_path / "arrays.npz").write_bytes(b"PK\xff")
    client = TestClient(ReportFiles(tmp_path, Permissions("a-token-of-the-owner", {"paths": rule})))
    assert client.get("/queries.jsonl").status_code == status
    assert client.get("/table.csv").status_code == 200
    assert client.get("/arrays.npz").content == b"PK\xff"
