"""Files of the page that may go while they are asked for."""

from pathlib import Path

import httpx
import pytest

from nt2vr.ui.library.media import MediaFile
from tests.run import in_thread


def ask(response: MediaFile, **headers: str) -> httpx.Response:
    async def send() -> httpx.Response:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(response), base_url="http://app") as client:
            return await client.get("/", headers=headers)

    return in_thread(send())


@pytest.mark.parametrize("headers", [{}, {"range": "bytes=0-1"}], ids=["whole", "a range"])
@pytest.mark.parametrize("was_seen", [False, True], ids=["gone before", "gone after it was looked at"])
def test_a_file_that_goes_is_not_found(tmp_path: Path, was_seen: bool, headers: dict[str, str]) -> None:
    path = tmp_path / "poster.jpg"
    path.write_bytes(b"abc")
    response = MediaFile(path, stat_result=path.stat() if was_seen else None)
    path.unlink()
    assert ask(response, **headers).status_code == 404


def test_a_file_that_stays_is_sent_whole_or_in_part(tmp_path: Path) -> None:
    path = tmp_path / "poster.jpg"
    path.write_bytes(b"abc")
    assert ask(MediaFile(path)).content == b"abc"
    part = ask(MediaFile(path), range="bytes=1-2")
    assert (part.status_code, part.content, part.headers["content-range"]) == (206, b"bc", "bytes 1-2/3")
