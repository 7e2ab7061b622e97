"""Milvus, a vector database: a server or cluster, or Milvus Lite, which keeps a file.

One collection per visual tower has the clips of all libraries, told apart by a filter. It needs the
extra `nt2vr[milvus]`. Embeddings stay in local files: a server that is lost costs time, never a
clip.
"""

import json
import logging
import time
from collections.abc import Callable
from importlib import import_module
from threading import RLock
from typing import Any, NamedTuple, TypeVar

from nt2vr.errors import ConfigError, quoted, reason_of
from nt2vr.files import expanded

logger = logging.getLogger(__name__)
T = TypeVar("T")
# Of the names of our collections.
PREFIX = "nt2vr_"
# Of one request; until then, a dropped connection is tried again.
TIMEOUT_S = 10.0
# Of a step of an update: one batch, or one page of ids.
WRITE_TIMEOUT_S = 600.0
# Seconds after a failure in which no request is sent.
SILENT_S = 30.0
# Hits of one search, and rows of one page: limits of Milvus.
MOST = 16_384
# The client pings every 10 s; a server ends a connection that pings more than once in five minutes
# without data ("too many pings"), as happened while an index was built on a busy machine.
RARE_PINGS = {"grpc.keepalive_time_ms": 330_000, "grpc.keepalive_permit_without_calls": False}
# Of HNSW, the kind of index.
BUILD = {"M": 16, "efConstruction": 200}


class ClipRow(NamedTuple):
    """A clip as other programs may read it from a collection.

    Attributes:
        content: hash of the file.
        end: 0 if the clip is a whole file.
    """

    content: str
    start: float
    end: float


def is_address(index: str) -> bool:
    """Whether an index is named by the address of a server, or a file of Milvus Lite."""
    return index.startswith(("http://", "https://")) or index.endswith(".db")


class Milvus:
    """A connection to "http://host:19530", or to a file that ends in ".db".

    It is made when first used, and is for several threads. Every failure is a ConnectionError of
    one sentence. For SILENT_S after one, requests fail at once.
    """

    def __init__(self, address: str, token: str = "") -> None:
        try:
            self._package = import_module("pymilvus")
        except ImportError:
            raise ConfigError(
                "Milvus needs its client. Install it: pip install 'nt2vr[milvus]'."
            ) from None
        # They log tracebacks of failures that are handled here.
        for name in ("pymilvus", "milvus_lite", "grpc._server"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        self.address = address
        if address.endswith(".db"):
            self.address = str(expanded(address).absolute())
        self._token = token
        self._client: Any = None
        self._changing = RLock()
        self._failed_s = -SILENT_S
        self._failure = ""

    def forget(self, library: str) -> None:
        """Delete a library's rows from all collections."""
        for name in self.request("list_collections"):
            if name.startswith(PREFIX):
                self.prepare(name, dim=None)
                self.request("delete", name, filter=filter_of(library))

    def request(
        self, action: str, *arguments: Any, timeout: float = TIMEOUT_S, **options: Any
    ) -> Any:
        """Call a method of the client."""
        return self._guarded(
            lambda client: getattr(client, action)(*arguments, timeout=timeout, **options)
        )

    def pages(self, *arguments: Any, **options: Any) -> list[Any]:
        """Read all rows of a query."""
        pages = self.request(
            "query_iterator", *arguments, batch_size=MOST, timeout=WRITE_TIMEOUT_S, **options
        )
        rows = []
        while page := self._guarded(lambda _: pages.next()):
            rows += page
        pages.close()
        return rows

    def _guarded(self, work: Callable[[Any], T]) -> T:
        """Do work with the client, and turn its failure into a ConnectionError."""
        if time.monotonic() < self._failed_s + SILENT_S:
            raise ConnectionError(self._failure)
        try:
            with self._changing:
                if self._client is None:
                    self._client = self._package.MilvusClient(
                        self.address,
                        token=self._token,
                        timeout=TIMEOUT_S,
                        grpc_options=RARE_PINGS,
                    )
            return work(self._client)
        except Exception as error:
            # It is one of gRPC, of the client, or whatever its embedded server raises.
            self._failed_s = time.monotonic()
            self._failure = self._failure_text(error)
            logger.warning("%s Searches compare every clip here instead.", self._failure)
            raise ConnectionError(self._failure) from error

    def _failure_text(self, error: Exception) -> str:
        reason = str(getattr(error, "message", "") or reason_of(error)).rstrip(".")
        if self.address.endswith(".db") and self._client is None:
            reason = "it cannot be opened; one process at a time can have it open"
        short_reason = quoted(reason)[1:-1]
        return f"Milvus at {self.address} does not answer ({short_reason})."

    def prepare(self, collection: str, dim: int | None) -> bool:
        """Load a collection, and make it and its index if they are missing.

        Any of the steps may have been cut off before.

        Args:
            dim: length of the vectors; with None, no collection is made.

        Returns:
            Whether there is a collection.
        """
        if not self.request("has_collection", collection):
            if dim is None:
                return False
            self._create(collection, dim)
        if "vector" not in self.request("list_indexes", collection):
            parameters = self._package.MilvusClient.prepare_index_params()
            parameters.add_index(
                "vector",
                index_type="HNSW",
                index_name="vector",
                metric_type="IP",
                params=dict(BUILD),
            )
            self.request("create_index", collection, parameters, timeout=WRITE_TIMEOUT_S)
        self.request("load_collection", collection, timeout=WRITE_TIMEOUT_S)
        return True

    def _create(self, collection: str, dim: int) -> None:
        """Create a collection of vectors.

        `library` is not a partition key: with one, server 2.3.5 lost rows of upserts to filters.
        """
        types = self._package.DataType
        schema = self._package.MilvusClient.create_schema(auto_id=False, enable_dynamic_field=False)
        schema.add_field("id", types.INT64, is_primary=True)
        schema.add_field("library", types.VARCHAR, max_length=64)
        schema.add_field("content", types.VARCHAR, max_length=128)
        schema.add_field("start", types.DOUBLE)
        schema.add_field("end", types.DOUBLE)
        schema.add_field("vector", types.FLOAT_VECTOR, dim=dim)
        self.request("create_collection", collection, schema=schema, consistency_level="Session")


def filter_of(library: str) -> str:
    """Return the expression that only the rows of a library fulfil."""
    return f"library == {json.dumps(library)}"
