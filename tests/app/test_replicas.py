"""Two app processes on one data folder behind nginx, with deploy/'s files: visitors search while one is killed.

NT2VR_TEST_USERS sets the number of visitors.
"""

import os
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from PIL import Image

from nt2vr.__main__ import main
from tests.app.raw import PATIENCE_S, RawClient, refusal
from tests.conftest import STRANGER, RunningApp, free_port, run_app
from tests.paths import ROOT

USERS = int(os.environ.get("NT2VR_TEST_USERS", "50"))
EACH = 2  # searches of each visitor before a process is killed, and after
LIMIT_S = 900.0  # of these
RELOADS_S = 2.0  # after which Gradio's page reloads; a process that is killed takes connections for some time yet
COOKIE = "nt2vr_process"
SEARCH = ("search-button", "click")


@contextmanager
def run_nginx(folder: Path, apps: Sequence[RunningApp]) -> Iterator[str]:
    """Run nginx in front of apps, configured by the shipped files; yield its address with the prefix."""
    port = free_port()
    replicas, site = ((ROOT / "deploy" / name).read_text() for name in ("replicas.conf", "nginx.conf"))
    for number, app in enumerate(apps, start=1):
        replicas = replicas.replace(f"app-{number}:7860", app.url.removeprefix("http://").rstrip("/"))
    site = site.replace("http://app:7860", "http://nt2vr").replace("listen 80;", f"listen 127.0.0.1:{port};")
    assert "app-" not in replicas and "app:" not in site
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    temporary = "\n".join(f"{kind}_temp_path {folder / kind};" for kind in kinds)
    as_root = "user root;" if os.geteuid() == 0 else ""
    log = f"log_format test '$cookie_{COOKIE} $upstream_addr'; access_log {folder / 'access.log'} test;"
    (folder / "nginx.conf").write_text(
        f"{as_root} daemon off; pid {folder / 'nginx.pid'}; events {{ worker_connections 1024; }}\n"
        f"http {{\n{temporary}\n{log}\n{replicas}\n{site}\n}}\n"
    )
    error_log = folder / "error.log"
    with subprocess.Popen(["nginx", "-p", folder, "-e", error_log, "-c", folder / "nginx.conf"]) as nginx:
        try:
            url = f"http://127.0.0.1:{port}/nt2vr/"
            wait_for(lambda: nginx.poll() is not None or answers(f"{url}api/health"))
            assert nginx.poll() is None, error_log.read_text()
            yield url
        finally:
            nginx.terminate()


def answers(url: str) -> bool:
    with suppress(httpx.TransportError):
        return httpx.get(url, timeout=PATIENCE_S).is_success
    return False


def wait_for(is_so: Callable[[], bool], limit_s: float = PATIENCE_S) -> None:
    deadline_s = time.monotonic() + limit_s
    while not is_so():
        assert time.monotonic() < deadline_s
        time.sleep(0.05)


@dataclass
class Visitor:
    """Searches the built-in gallery through the page's queue and a library over the API, in turns."""

    client: RawClient
    values: Sequence[Any]
    found: int = 0
    lost: list[str] = field(default_factory=list)

    def search_until(self, is_over: threading.Event) -> None:
        while not is_over.is_set():
            try:
                wrong = self.by_api() if (self.found + len(self.lost)) % 2 else self.by_page()
            except (httpx.HTTPError, AssertionError, ValueError) as error:  # ValueError: a message that is cut off
                wrong = repr(error)
            if wrong:
                self.lost.append(wrong)
                is_over.wait(RELOADS_S)
            else:
                self.found += 1

    def by_page(self) -> str:
        message = self.client.send(SEARCH, self.values)
        return refusal(message) if message["msg"] == "process_completed" else str(message)  # no such session here

    def by_api(self) -> str:
        body = {"query": "a dog and not a cat", "systems": ["CLIP-neg"], "gallery": "Films", "k": 3}
        url, headers = f"{self.client.url}api/search", self.client.headers
        answer = httpx.post(url, headers=headers, json=body, timeout=PATIENCE_S).raise_for_status()
        return "" if len(answer.json()["systems"][0]["hits"]) == 3 else answer.text


def visitors(url: str) -> list[Visitor]:
    """Open the page as so many browsers, each of which gets a cookie."""
    page = RawClient(url, {})
    by_id = {each["id"]: each["props"] for each in page.config["components"]}
    props = [by_id[number] for number in page.events[SEARCH]["inputs"]]
    values = ["a dog and not a cat" if each.get("elem_id") == "query" else each.get("value") for each in props]
    opened = []
    for _ in range(USERS):
        answer = httpx.get(url, timeout=PATIENCE_S).raise_for_status()
        client = RawClient(url, {"Cookie": f"{COOKIE}={answer.cookies[COOKIE]}"})
        vars(client)["config"] = page.config  # a megabyte that is the same for all
        opened.append(Visitor(client, values))
    return opened


def check_shared(apps: Sequence[RunningApp]) -> None:
    """Check that what a visitor has sent to one process is there in the other, and that both have the same owner."""
    one, other = (f"{app.url}nt2vr/" for app in apps)
    files = {"files": ("a.png", b"content", "image/png")}
    (path,) = httpx.post(f"{one}gradio_api/upload", files=files, timeout=PATIENCE_S).raise_for_status().json()
    assert httpx.get(f"{other}gradio_api/file={path}", timeout=PATIENCE_S).content == b"content"
    owner = {"Authorization": f"Bearer {(apps[0].data / 'owner-token').read_text().strip()}"}
    for url in (one, other):
        for headers, status in ((STRANGER, 403), ({**STRANGER, **owner}, 200)):
            assert httpx.get(f"{url}metrics", headers=headers, timeout=PATIENCE_S).status_code == status


@pytest.mark.slow
@pytest.mark.timeout(3000)
@pytest.mark.skipif(shutil.which("nginx") is None, reason="nginx is not installed: apt-get install nginx")
def test_visitors_of_a_process_that_is_killed_lose_at_most_the_request_of_that_moment(
    tmp_path: Path, gallery_data: Path
) -> None:
    films = tmp_path / "films"
    films.mkdir()
    for number in range(3):
        Image.new("RGB", (64, 64), (80 * number, 0, 0)).save(films / f"{number}.png")
    with ExitStack() as stack:
        run = partial(run_app, tmp_path, gallery_data / "cache", GRADIO_ROOT_PATH="/nt2vr")
        apps = [stack.enter_context(run()) for _ in range(2)]
        add = ["library", "add", str(films), "--name", "Films", "--no-previews", "--data-dir", str(apps[0].data)]
        assert main(add) == 0
        for app in apps:
            wait_for(lambda: answers(f"{app.url}nt2vr/api/health"))  # noqa: B023
        check_shared(apps)
        url = stack.enter_context(run_nginx(tmp_path, apps))
        people, is_over = visitors(url), threading.Event()
        threads = [threading.Thread(target=each.search_until, args=(is_over,)) for each in people]
        stack.callback(is_over.set)
        for thread in threads:
            thread.start()
        wait_for(lambda: all(each.found >= EACH or each.lost for each in people), LIMIT_S)
        assert [each.lost for each in people if each.lost] == []
        seen = {tuple(line.split()[:2]) for line in (tmp_path / "access.log").read_text().splitlines()}
        pinned = [(visitor, address) for visitor, address in seen if visitor != "-"]
        assert len(pinned) == len({visitor for visitor, _ in pinned}) == USERS
        assert len({address for _, address in pinned}) == len(apps)
        apps[0].process.kill()
        before = [each.found for each in people]
        wait_for(lambda: all(each.found >= n + EACH for each, n in zip(people, before, strict=True)), LIMIT_S)
        is_over.set()
        for thread in threads:
            thread.join()
    unlucky = [each.lost for each in people if len(each.lost) > 1]
    assert unlucky == []
