"""The container's files. No container runtime is needed: the Dockerfile's steps run in an environment of their own.

By default that environment borrows the installed packages. With NT2VR_FULL_INSTALL=1 it starts
empty, and the install step downloads everything, as in a build.
"""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sysconfig
import time
import urllib.request
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]

from nt2vr.settings import ACTIONS
from tests.support.paths import ROOT

# The port in the image.
PORT = 7860


def steps() -> list[tuple[str, str]]:
    """Return the Dockerfile's instructions in order, with their arguments."""
    text = (ROOT / "Dockerfile").read_text().replace("\\\n", " ")
    instructions = []
    for line in text.splitlines():
        if line and not line.startswith("#"):
            instruction, _, arguments = line.partition(" ")
            instructions.append((instruction, arguments))
    return instructions


def arguments_of(instruction: str) -> list[str]:
    return [arguments for name, arguments in steps() if name == instruction]


def copied() -> Iterator[tuple[Path, str]]:
    """Yield what COPY brings, and where to: files, and whole folders."""
    for line in arguments_of("COPY"):
        *sources, target = line.split()
        for source in sources:
            folder = ROOT / source
            yield folder, f"{target}/{folder.name}" if folder.is_file() else target


def test_the_image_has_exactly_what_the_app_needs() -> None:
    sources = {source.relative_to(ROOT).as_posix() for source, _ in copied()}
    assert all((ROOT / source).exists() for source in sources)
    ignored = (ROOT / ".dockerignore").read_text().split()
    # What is not named stays out: .git, runs, data, .env.
    assert ignored[0] == "*"
    assert {line[1:] for line in ignored if line.startswith("!")} == sources
    assert "**/.*" in ignored


def test_the_container_is_not_root_and_has_a_health_check() -> None:
    names = [name for name, _ in steps()]
    # By number: Kubernetes cannot tell whether a name is root.
    assert arguments_of("USER") == ["1000:1000"]
    assert names.index("USER") > max(
        index for index, name in enumerate(names) if name in ("COPY", "RUN")
    )
    assert "CMD" in arguments_of("HEALTHCHECK")[0]
    assert arguments_of("EXPOSE") == [str(PORT)]


def test_the_compose_file_fits_the_image_and_the_proxy() -> None:
    services = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
    app = services["app"]
    proxy = services["proxy"]
    mounted = {volume.split(":")[1] for volume in app["volumes"]}
    assert mounted == set(arguments_of("VOLUME"))
    # Only the proxy is reachable.
    assert "ports" not in app
    # The owner's alone.
    assert not {f"NT2VR_ALLOW_{action.upper()}" for action in ACTIONS} & set(app["environment"])
    prefix = app["environment"]["GRADIO_ROOT_PATH"]
    config = proxy["volumes"][0].split(":")[0]
    text = (ROOT / config).read_text()
    assert f"location {prefix}/ {{" in text
    # With a path it would remove the prefix.
    assert f"proxy_pass http://app:{PORT};" in text
    # What a client claims is replaced.
    assert "X-Forwarded-For $remote_addr" in text


@pytest.mark.slow
def test_the_steps_of_the_image_install_and_start_the_app(tmp_path: Path) -> None:
    """RUN pip install and CMD, from nothing but what COPY brings."""
    full = os.environ.get("NT2VR_FULL_INSTALL") == "1"
    app = tmp_path / "app"
    python = tmp_path / "venv" / "bin" / "python"
    venv.create(tmp_path / "venv", with_pip=True)
    if not full:
        site = Path(sysconfig.get_path("purelib", vars={"base": str(tmp_path / "venv")}))
        (site / "borrowed.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    skip = shutil.ignore_patterns("__pycache__", "*.pyc", ".*")
    for source, target in copied():
        (app / target).parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, app / target, ignore=skip)
        else:
            shutil.copy(source, app / target)
    environment = {
        "PATH": f"{python.parent}:/usr/bin:/bin",
        "HOME": str(tmp_path / "home"),
        # The index that pip is set up with.
        "TORCH_INDEX": "",
        "NT2VR_DATA": str(tmp_path / "data"),
    }
    for name, value in os.environ.items():
        if name.startswith(("PIP_", "SSL_", "HTTP")):
            environment[name] = value
    for command in arguments_of("RUN"):
        # It needs root, and makes only the user and its folder.
        if not command.startswith("useradd"):
            done = subprocess.run(
                ["sh", "-c", command], cwd=app, env=environment, capture_output=True, text=True
            )
            assert done.returncode == 0, done.stderr
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    start = [argument.replace(str(PORT), port) for argument in json.loads(arguments_of("CMD")[0])]
    health = json.loads(re.sub(r"^.*?CMD ", "", arguments_of("HEALTHCHECK")[0]))
    with (tmp_path / "log").open("w") as log:
        server = subprocess.Popen(start, cwd=app, env=environment, stdout=log, stderr=log)
    try:
        check = [argument.replace(str(PORT), port) for argument in health]
        deadline = time.monotonic() + 180
        while subprocess.run(check, cwd=app, env=environment, capture_output=True).returncode:
            assert server.poll() is None and time.monotonic() < deadline, (
                tmp_path / "log"
            ).read_text()
            time.sleep(0.5)
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/") as page:
            assert b"nT2VR" in page.read()
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(timeout=30)
