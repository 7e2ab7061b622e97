"""Milvus for slow tests: a real server, from the wheel `milvus`, that can be killed and started again, and Lite."""

import os
import signal
import socket
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pytest
from numpy.typing import NDArray

from nt2vr.search.index import ExactIndex, Milvus, MilvusIndex
from nt2vr.search.index.milvus import ClipRow
from tests.conftest import free_port

# Fixtures: a file of Milvus Lite, the address of a server.
PLACES = ["milvus_lite", "milvus_address"]


class Server:
    """A standalone server with its data in a folder; tests are skipped where it is not installed.

    Only one can run at a time: two ports of its etcd are fixed. So all tests of it are in one
    module.
    """

    def __init__(self, folder: Path) -> None:
        need("pymilvus", "'.[milvus]'")
        self._package = need("milvus", "--no-deps milvus==2.3.5")
        self._folder = folder
        self._port = free_port()
        self._server: Any = None

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        config = self._package.MilvusServerConfig()
        # Its own function takes another port than before while old connections linger.
        config.try_bind_port = reused
        self._server = self._package.MilvusServer(config)
        self._server.set_base_dir(str(self._folder))
        self._server.listen_port = self._port
        try:
            self._server.start()
        except Exception:
            self.stop()
            raise

    def kill(self) -> None:
        """End the server as a lack of memory would."""
        os.kill(self._server.server_proc.pid, signal.SIGKILL)
        self.stop()

    def stop(self) -> None:
        self._server.stop()


def reused(port: int) -> socket.socket | None:
    """Return a socket bound to a port, also just after its last owner was killed; None if another has it."""
    bound = socket.socket()
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind(("127.0.0.1", port))
    except OSError:
        bound.close()
        return None
    return bound


def in_milvus(
    milvus: Milvus, ids: NDArray[np.int64], vectors: NDArray[np.float32], library: str = ""
) -> MilvusIndex:
    """Return an index of vectors that are not added yet, by default in a library that nothing else uses."""
    if not library:
        library = uuid4().hex
    _num_vectors, dim = vectors.shape
    local = ExactIndex(dim)
    local.add(ids, vectors)
    rows = dict.fromkeys(ids.tolist(), ClipRow("content", 0.0, 0.0))
    return MilvusIndex(milvus, f"hnsw_{dim}", library, local, rows)


def need(package: str, requirement: str) -> Any:
    return pytest.importorskip(
        package, reason=f"{package} is not installed: pip install {requirement}"
    )
