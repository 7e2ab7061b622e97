"""A stand-in for the Hugging Face Hub's HTTP API, on this machine: what huggingface_hub needs to push and to pull.

Repositories live in memory. LFS files are uploaded in one or several parts and served from another
port, as the Hub serves them from a CDN. It knows nothing of branches, pull requests and Xet.
"""

import base64
import hashlib
import json
import math
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote

import huggingface_hub.constants
import pytest

TOKEN = "hf_test"
LFS_SUFFIXES = (".safetensors", ".webm", ".png", ".gz")
KINDS = {"models": "", "spaces": "spaces/"}


@dataclass
class Repository:
    """One repository: its files, and whether it is private."""

    private: bool = False
    files: dict[str, bytes] = field(default_factory=dict)
    lfs: set[str] = field(default_factory=set)
    commits: list[str] = field(default_factory=list)

    @property
    def sha(self) -> str:
        return hashlib.sha1("".join(self.commits).encode()).hexdigest()


@dataclass
class HubServer:
    """The server's state, and the faults it is to have.

    Attributes:
        repositories: by "models/OWNER/NAME" or "spaces/OWNER/NAME".
        blobs: the content of each LFS file, by its SHA-256.
        parts: those of uploads under way, by SHA-256 and number.
        requests: every request, as "GET /path".
        foreign_tokens: authorisation headers that arrived at the CDN, where none belongs.
        breaks: so many times a download of an LFS file breaks off half-way.
        ranges: what each download of an LFS file asked for: "" or "bytes=1000-".
        sizes: other sizes than the true ones, by file name, for the listing.
        chunk_bytes: part size of uploads; 0 uploads in one part.
        status: answer every API request with this error, if set.
    """

    endpoint: str = ""
    cdn: str = ""
    repositories: dict[str, Repository] = field(default_factory=dict)
    blobs: dict[str, bytes] = field(default_factory=dict)
    parts: dict[str, dict[int, bytes]] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)
    foreign_tokens: list[str] = field(default_factory=list)
    breaks: int = 0
    ranges: list[str] = field(default_factory=list)
    sizes: dict[str, int] = field(default_factory=dict)
    chunk_bytes: int = 0
    status: int = 0

    def put(self, name: str, files: dict[str, bytes]) -> None:
        """Make a public model repository."""
        lfs = {file for file in files if file.endswith(LFS_SUFFIXES)}
        self.repositories[f"models/{name}"] = Repository(
            files=dict(files), lfs=lfs, commits=["first"]
        )

    def weight_requests(self) -> list[str]:
        """Return the requests for the content of LFS files."""
        return [request for request in self.requests if request.startswith("GET /cdn/")]


class Handler(BaseHTTPRequestHandler):
    """One request; `hub` is set by `serve_hub`."""

    hub: HubServer
    protocol_version = "HTTP/1.1"
    # Otherwise a body waits up to 40 ms for the receipt of its headers.
    disable_nagle_algorithm = True

    def log_message(self, *_: object) -> None:
        pass

    def _answer(self, status: int, body: object = b"", **headers: str) -> None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        if "Content_Length" not in headers:
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _refuse(self, status: int, code: str) -> None:
        self._answer(status, {"error": code}, X_Error_Code=code, X_Error_Message=code)

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") == "chunked":
            return self._chunked_body()
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def _chunked_body(self) -> bytes:
        """Read chunks, each after its size, up to an empty one."""
        body = b""
        while True:
            size = int(self.rfile.readline(), 16)
            body += self.rfile.read(size)
            # Each chunk ends with an empty line.
            self.rfile.readline()
            if size == 0:
                return body

    @property
    def _authorised(self) -> bool:
        return self.headers.get("Authorization") == f"Bearer {TOKEN}"

    def do_POST(self) -> None:
        self._handle()

    def do_PUT(self) -> None:
        self._handle()

    def do_GET(self) -> None:
        self._handle()

    def do_HEAD(self) -> None:
        self._handle()

    def _handle(self) -> None:
        path = unquote(self.path.partition("?")[0])
        self.hub.requests.append(f"{self.command} {path}")
        body = self._body()
        if self.hub.status and path.startswith("/api/"):
            return self._refuse(self.hub.status, "Fault")
        has_token = "Authorization" in self.headers
        if has_token and not self._authorised and not path.startswith("/cdn/"):
            return self._refuse(401, "InvalidToken")
        for pattern, method in ROUTES:
            match = re.fullmatch(pattern, f"{self.command} {path}")
            if match:
                return method(self, body, **match.groupdict())
        return self._refuse(404, "NoSuchRoute")

    def _repository(self, kind: str, name: str, write: bool = False) -> Repository | None:
        """Return a repository, or answer that there is none, or none for this token."""
        repository = self.hub.repositories.get(f"{kind}/{name}")
        is_hidden = repository is not None and repository.private and not self._authorised
        if repository is None or is_hidden:
            # Whether a private one exists is not said.
            status = 404 if self._authorised else 401
            self._refuse(status, "RepoNotFound")
            return None
        if write and not self._authorised:
            self._refuse(401, "Unauthorized")
            return None
        return repository

    def whoami(self, body: bytes) -> None:
        if not self._authorised:
            return self._refuse(401, "InvalidToken")
        return self._answer(200, {"type": "user", "name": "tester", "orgs": []})

    def create(self, body: bytes) -> None:
        request = json.loads(body)
        if not self._authorised:
            return self._refuse(401, "Forbidden")
        if request["organization"] not in (None, "tester"):
            return self._refuse(403, "Forbidden")
        kind = f"{request.get('type') or 'model'}s"
        name = f"tester/{request['name']}"
        url = {"url": f"{self.hub.endpoint}/{KINDS[kind]}{name}"}
        if f"{kind}/{name}" in self.hub.repositories:
            return self._answer(409, {**url, "error": "You already created this repo"})
        assert kind == "models" or request["sdk"] == "gradio"
        is_private = request.get("visibility") == "private" or bool(request.get("private"))
        files = {".gitattributes": b"*.safetensors filter=lfs\n"}
        self.hub.repositories[f"{kind}/{name}"] = Repository(is_private, files)
        return self._answer(200, url)

    def validate(self, body: bytes) -> None:
        self._answer(200, {"errors": [], "warnings": []})

    def preupload(self, body: bytes, kind: str, name: str) -> None:
        if not self._repository(kind, name, write=True):
            return
        modes = []
        for file in json.loads(body)["files"]:
            mode = "lfs" if file["path"].endswith(LFS_SUFFIXES) else "regular"
            modes.append({"path": file["path"], "uploadMode": mode, "shouldIgnore": False})
        self._answer(200, {"files": modes})

    def batch(self, body: bytes, kind: str | None, name: str) -> None:
        if not self._repository(_kind_of(kind), name, write=True):
            return
        objects = json.loads(body)["objects"]
        for blob in objects:
            if blob["oid"] not in self.hub.blobs:
                blob["actions"] = {"upload": self._upload_action(blob)}
        self._answer(200, {"objects": objects, "transfer": "basic"})

    def _upload_action(self, blob: dict[str, Any]) -> dict[str, Any]:
        """Say where a file is sent to, and if it is sent in parts, where each of them."""
        href = f"{self.hub.cdn}/cdn/{blob['oid']}"
        if not self.hub.chunk_bytes:
            return {"href": href}
        header = {"chunk_size": str(self.hub.chunk_bytes)}
        num_parts = math.ceil(blob["size"] / self.hub.chunk_bytes)
        for number in range(1, num_parts + 1):
            header[str(number)] = f"{href}/{number}"
        return {"href": href, "header": header}

    def store(self, body: bytes, oid: str) -> None:
        assert hashlib.sha256(body).hexdigest() == oid
        self.hub.blobs[oid] = body
        self._answer(200)

    def store_part(self, body: bytes, oid: str, number: str) -> None:
        self.hub.parts.setdefault(oid, {})[int(number)] = body
        self._answer(200, ETag=f'"{number}"')

    def complete(self, body: bytes, oid: str) -> None:
        parts = self.hub.parts.pop(oid)
        data = b"".join(parts[number] for number in sorted(parts))
        assert hashlib.sha256(data).hexdigest() == oid
        for part in json.loads(body)["parts"]:
            assert part["etag"]
        self.hub.blobs[oid] = data
        self._answer(200)

    def commit(self, body: bytes, kind: str, name: str) -> None:
        repository = self._repository(kind, name, write=True)
        if not repository:
            return
        for line in body.splitlines():
            entry = json.loads(line)
            value = entry["value"]
            if entry["key"] == "header":
                repository.commits.append(value["summary"])
            elif entry["key"] == "file":
                repository.files[value["path"]] = base64.b64decode(value["content"])
            elif entry["key"] == "lfsFile":
                repository.files[value["path"]] = self.hub.blobs[value["oid"]]
                repository.lfs.add(value["path"])
            elif entry["key"] == "deletedFile":
                del repository.files[value["path"]]
            else:
                raise AssertionError(entry["key"])
        url = f"{self.hub.endpoint}/{KINDS[kind]}{name}/commit/{repository.sha}"
        self._answer(200, {"commitUrl": url, "commitOid": repository.sha, "success": True})

    def info(self, body: bytes, kind: str, name: str) -> None:
        repository = self._repository(kind, name)
        if repository is None:
            return
        siblings = []
        for file, data in repository.files.items():
            size = self.hub.sizes.get(file, len(data))
            siblings.append({"rfilename": file, "size": size, "blobId": _sha1(data)})
        description = {
            "id": name,
            "sha": repository.sha,
            "private": repository.private,
            "siblings": siblings,
        }
        self._answer(200, description)

    def tree(self, body: bytes, kind: str, name: str) -> None:
        repository = self._repository(kind, name)
        if repository is None:
            return
        entries = []
        for file, data in repository.files.items():
            entries.append({"type": "file", "path": file, "size": len(data), "oid": _sha1(data)})
        self._answer(200, entries)

    def resolve(self, body: bytes, kind: str | None, name: str, file: str) -> None:
        repository = self._repository(_kind_of(kind), name)
        if repository is None:
            return
        if file not in repository.files:
            return self._refuse(404, "EntryNotFound")
        data = repository.files[file]
        if file not in repository.lfs:
            return self._answer(200, data, ETag=f'"{_sha1(data)}"', X_Repo_Commit=repository.sha)

        oid = hashlib.sha256(data).hexdigest()
        self.hub.blobs[oid] = data
        return self._answer(
            302,
            Location=f"{self.hub.cdn}/cdn/{oid}",
            X_Repo_Commit=repository.sha,
            X_Linked_Size=str(self.hub.sizes.get(file, len(data))),
            X_Linked_Etag=f'"{oid}"',
        )

    def serve_blob(self, body: bytes, oid: str) -> None:
        token = self.headers.get("Authorization")
        if token:
            self.hub.foreign_tokens.append(token)
        data = self.hub.blobs[oid]
        byte_range = self.headers.get("Range", "")
        if self.command == "GET":
            self.hub.ranges.append(byte_range)

        status = 200
        headers = {}
        rest = data
        match = re.match(r"bytes=(\d+)-", byte_range)
        start = int(match[1]) if match else 0
        if start:
            status = 206
            headers["Content_Range"] = f"bytes {start}-{len(data) - 1}/{len(data)}"
            rest = data[start:]

        if not self.hub.breaks:
            return self._answer(status, rest, **headers)
        self.hub.breaks -= 1
        headers["Content_Length"] = str(len(rest))
        self._answer(status, rest[: len(rest) // 2], **headers)
        self.close_connection = True


def _kind_of(prefix: str | None) -> str:
    """Return the kind of a repository whose path begins with "spaces/", or with nothing."""
    return "spaces" if prefix else "models"


def _sha1(data: bytes) -> str:
    return hashlib.sha1(data).hexdigest()


REPO = r"(?P<name>[^/]+/[^/]+)"
API = rf"/api/(?P<kind>models|spaces)/{REPO}"
ROUTES: list[tuple[str, Callable[..., None]]] = [
    (r"GET /api/whoami-v2", Handler.whoami),
    (r"POST /api/repos/create", Handler.create),
    (r"POST /api/validate-yaml", Handler.validate),
    (rf"POST {API}/preupload/main", Handler.preupload),
    (rf"POST /(?P<kind>spaces/)?{REPO}\.git/info/lfs/objects/batch", Handler.batch),
    (r"PUT /cdn/(?P<oid>\w+)", Handler.store),
    (r"PUT /cdn/(?P<oid>\w+)/(?P<number>\d+)", Handler.store_part),
    (r"POST /cdn/(?P<oid>\w+)", Handler.complete),
    (rf"POST {API}/commit/main", Handler.commit),
    (rf"GET {API}(?:/revision/\w+)?", Handler.info),
    (rf"GET {API}/tree/main", Handler.tree),
    (rf"(?:HEAD|GET) /(?P<kind>spaces/)?{REPO}/resolve/\w+/(?P<file>.+)", Handler.resolve),
    (r"(?:HEAD|GET) /cdn/(?P<oid>\w+)", Handler.serve_blob),
]


# Between two looks at whether a server should stop.
POLL_S = 0.005


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of clients that hang up."""


@contextmanager
def serve_hub() -> Iterator[HubServer]:
    """Run a hub and its CDN on two ports of this machine."""
    hub = HubServer()
    handler = type("HubHandler", (Handler,), {"hub": hub})
    with _Server(("127.0.0.1", 0), handler) as server, _Server(("127.0.0.1", 0), handler) as cdn:
        hub.endpoint = f"http://127.0.0.1:{server.server_port}"
        hub.cdn = f"http://127.0.0.1:{cdn.server_port}"
        for http_server in (server, cdn):
            threading.Thread(target=http_server.serve_forever, args=(POLL_S,), daemon=True).start()
        yield hub
        for http_server in (server, cdn):
            http_server.shutdown()


def use_hub(monkeypatch: pytest.MonkeyPatch, endpoint: str, token: str | None = TOKEN) -> None:
    """Make `endpoint` the Hub for this process."""
    constants = {
        "ENDPOINT": endpoint,
        "HUGGINGFACE_CO_URL_TEMPLATE": endpoint + "/{repo_id}/resolve/{revision}/{filename}",
        "HF_HUB_DISABLE_XET": True,
        "HF_TOKEN_PATH": "/nonexistent/token",
    }
    for name, value in constants.items():
        monkeypatch.setattr(huggingface_hub.constants, name, value)
    monkeypatch.delenv("HF_TOKEN", raising=False)
    if token:
        monkeypatch.setenv("HF_TOKEN", token)
