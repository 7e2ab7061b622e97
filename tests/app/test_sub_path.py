"""The app on a server at a sub-path, as behind the proxy of compose.yaml, which passes the prefix on."""

from pathlib import Path

import httpx

from tests.app.raw import RawClient
from tests.conftest import run_app
from tests.paths import ROOT


def test_page_and_clips_are_found_below_the_prefix_and_everybody_is_a_stranger(tmp_path: Path, gallery_data: Path) -> None:
    clip = next((ROOT / "assets" / "gallery" / "clips").glob("*.webm"))
    with run_app(tmp_path, gallery_data / "cache", GRADIO_ROOT_PATH="/nt2vr", GRADIO_SERVER_NAME="0.0.0.0") as app:
        assert httpx.get(f"{app.url}nt2vr/").status_code == 200
        assert httpx.get(f"{app.url}nt2vr/config").json()["title"] == "nT2VR"
        assert httpx.get(f"{app.url}nt2vr/clips/{clip.name}").content == clip.read_bytes()
        refusal = RawClient(f"{app.url}nt2vr/", {}).error(("train-empty-trash", "click"), ["none"])
        assert refusal.startswith("Only the owner may delete runs, reports and libraries here")
