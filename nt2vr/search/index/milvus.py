"""Search in Milvus, a vector database: a server or cluster, or Milvus Lite, which is embedded and keeps a file.

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
PREFIX = "nt2vr_"  # of our collections
TIMEOUT_S = 10.0  # of one request; until then, a dropped connection is tried again
WRITE_TIMEOUT_S = 600.0  # of a step of an update: one batch, one page of ids
SILENT_S = 30.0  # after a failure, for which nothing is asked
MOST = 16_384  # hits of one search, and rows of one page: limits of Milvus
# The client pings every 10 s; a server ends a connection that pings more than once in five minutes
# without data ("too many pings"), as happened while an index was built on a busy machine.
RARE_PINGS = {"grpc.keepalive_time_ms": 330_000, "grpc.keepalive_permit_without_calls": False}
BUILD = {"M": 16, "efConstruction": 200}  # of HNSW, the kind of index


class Row(NamedTuple):
    """A clip as other programs may read it from a collection; `end` is 0 where the clip is a whole file."""

    content: str  # hash of the file
    start: float
    end: float


def is_address(index: str) -> bool:
    """Whether an index is named by the address of a server, or a file of Milvus Lite."""
    return index.startswith(("http://", "https://")) or index.endswith(".db")


class Milvus:
    """A connection to "http://host:19530", or to a file that ends in ".db"; made when first used, for several threads.

    Every failure is a ConnectionError of one sentence. For SILENT_S after one, requests fail at
    once.
    """

    def __init__(self, address: str, token: str = "") -> None:
        self.place = address
        try:
            self._package = import_module("pymilvus")
        except ImportError:
            raise ConfigError(
                "Milvus needs its client. Install it: pip install 'nt2vr[milvus]'."
            ) from None
        for name in (
            "pymilvus",
            "milvus_lite",
            "grpc._server",
        ):  # they log tracebacks of what is answered for here
            logging.getLogger(name).setLevel(logging.CRITICAL)
        if address.endswith(".db"):
            self.place = str(expanded(self.place).absolute())
        self._token, self._client, self._changing = token, None, RLock()
        self._failed_s, self._failure = -SILENT_S, ""

    def forget(self, library: str) -> None:
        """Delete a library's rows from all collections."""
        for name in self.ask("list_collections"):
            if name.startswith(PREFIX):
                self.prepare(name, None)
                self.ask("delete", name, filter=_only(library))

    def ask(self, action: str, *arguments: Any, timeout: float = TIMEOUT_S, **options: Any) -> Any:
        """Call a method of the client."""
        return self._guarded(
            lambda client: getattr(client, action)(*arguments, timeout=timeout, **options)
        )

    def pages(self, *arguments: Any, **options: Any) -> list[Any]:
        """Read all rows of a query."""
        pages, rows = (
            self.ask(
                "query_iterator", *arguments, batch_size=MOST, timeout=WRITE_TIMEOUT_S, **options
            ),
            [],
        )
        while page := self._guarded(lambda _: pages.next()):
            rows += page
        pages.close()
        return rows

    def _guarded(self, work: Callable[[Any], T]) -> T:
        if time.monotonic() < self._failed_s + SILENT_S:
            raise ConnectionError(self._failure)
        try:
            with self._changing:
                if self._client is None:
                    options = {
                        "token": self._token,
                        "timeout": TIMEOUT_S,
                        "grpc_options": RARE_PINGS,
                    }
                    self._client = self._package.MilvusClient(self.place, **options)
            return work(self._client)
        except (
            Exception
        ) as error:  # of gRPC, of the client, and whatever its embedded server raises
            self._failed_s = time.monotonic()
            reason = getattr(error, "message", "") or reason_of(error)
            if self.place.endswith(".db") and self._client is None:
                reason = "it cannot be opened; one process at a time can have it open"
            self._failure = (
                f"Milvus at {self.place} does not answer ({quoted(str(reason).rstrip('.'))[1:-1]})."
            )
            logger.warning("%s Searches compare every clip here instead.", self._failure)
            raise ConnectionError(self._failure) from error

    def prepare(self, collection: str, dim: int | None) -> bool:
        """Make a collection and its index where they are missing, and load it; any step may have been cut before.

        `library` is no partition key: with one, server 2.3.5 lost rows of upserts to filters.
        Without a length of the vectors, no collection is made; return whether there is one.
        """
        if not self.ask("has_collection", collection):
            if dim is None:
                return False
            types = self._package.DataType
            schema = self._package.MilvusClient.create_schema(
                auto_id=False, enable_dynamic_field=False
            )
            schema.add_field("id", types.INT64, is_primary=True)
            for name, length in (("library", 64), ("content", 128)):
                schema.add_field(name, types.VARCHAR, max_length=length)
            for name in ("start", "end"):
                schema.add_field(name, types.DOUBLE)
            schema.add_field("vector", types.FLOAT_VECTOR, dim=dim)
            self.ask("create_collection", collection, schema=schema, consistency_level="Session")
        if "vector" not in self.ask("list_indexes", collection):
            indexed = self._package.MilvusClient.prepare_index_params()
            indexed.add_index(
                "vector",
                index_type="HNSW",
                index_name="vector",
                metric_type="IP",
                params=dict(BUILD),
            )
            self.ask("create_index", collection, indexed, timeout=WRITE_TIMEOUT_S)
        self.ask("load_collection", collection, timeout=WRITE_TIMEOUT_S)
        return True


def _only(library: str) -> str:
    return f"library == {json.dumps(library)}"
