"""Milvus, for slow tests."""

from collections.abc import Iterator

import pytest

from tests.support.milvus_server import Server, need


@pytest.fixture(scope="module")
def milvus_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that runs."""
    server = Server(tmp_path_factory.mktemp("milvus"))
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="module")
def milvus_address(milvus_server: Server) -> str:
    return milvus_server.address


@pytest.fixture(scope="module")
def milvus_lite(tmp_path_factory: pytest.TempPathFactory) -> str:
    need("pymilvus", "'.[milvus]'")
    return str(tmp_path_factory.mktemp("lite") / "milvus.db")
