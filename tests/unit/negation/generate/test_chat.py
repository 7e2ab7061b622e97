"""Modification texts from a chat-completions endpoint: a stub on this machine, which fails in every way."""

import json
import random
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import pytest

from nt2vr.__main__ import main
from nt2vr.errors import ConfigError, DownloadError
from nt2vr.negation.generate.chat import MAX_ANSWER, ChatEndpoint, write_by_chat
from nt2vr.negation.generate.triplets.mining import NearCaptions
from tests.tiny import write_tiny

PAIR = NearCaptions(("a", "man", "runs"), ("a", "woman", "runs"), 1)
Reply = tuple[int, Any, dict[str, str]]  # status, JSON or bytes, headers


def says(text: Any) -> Reply:
    return 200, {"choices": [{"message": {"role": "assistant", "content": text}}]}, {}


class Stub(ThreadingHTTPServer):
    """Answers with `replies` in turn, the last one forever, and remembers what it was asked.

    It pauses after every `at_once` bytes.
    """

    at_once, pause_s = 1 << 20, 0.0

    def __init__(self) -> None:
        self.replies: list[Reply] = []
        self.asked: list[tuple[str, str | None, dict[str, Any]]] = []
        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


class Handler(BaseHTTPRequestHandler):
    server: Stub

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append((self.path, self.headers["Authorization"], body))
        replies = self.server.replies
        status, content, headers = replies.pop(0) if len(replies) > 1 else replies[0]
        content = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        with suppress(OSError):
            for start in range(0, len(content), self.server.at_once):
                self.wfile.write(content[start : start + self.server.at_once])
                time.sleep(self.server.pause_s)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def stub() -> Iterator[Stub]:
    with Stub() as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server
        server.shutdown()


def endpoint(stub: Stub, key: str = "secret", retries: int = 2) -> ChatEndpoint:
    return ChatEndpoint(stub.url, "small", key, timeout_s=5, retries=retries, pause_s=0.01)


def test_the_captions_are_asked_about_and_the_answer_is_the_text(stub: Stub) -> None:
    stub.replies = [says('"a woman instead of the man."')]
    assert write_by_chat(endpoint(stub), PAIR, random.Random(0)) == "a woman instead of the man"
    ((path, authorization, body),) = stub.asked
    assert (path, authorization, body["model"]) == ("/v1/chat/completions", "Bearer secret", "small")
    assert (
        "First: a man runs" in body["messages"][0]["content"]
        and "Second: a woman runs" in body["messages"][0]["content"]
    )


@pytest.mark.parametrize("text", ["", "  ", "x" * 201, "a\x00b"])
def test_an_answer_that_is_no_text_leaves_the_pair_without_one(stub: Stub, text: str) -> None:
    stub.replies = [says(text)]
    assert write_by_chat(endpoint(stub), PAIR, random.Random(0)) == ""


def test_failures_that_may_pass_are_tried_again(stub: Stub) -> None:
    stub.replies = [(429, {}, {"Retry-After": "0"}), (503, b"", {}), says("no dog")]
    assert endpoint(stub).complete("x") == "no dog"
    assert len(stub.asked) == 3


@pytest.mark.parametrize(
    ("reply", "requests", "sentence"),
    [
        ((500, b"", {}), 3, "did not answer .HTTP 500"),
        ((401, {"error": "secret"}, {}), 1, "refused the request: HTTP 401"),
        ((302, b"", {"Location": "http://127.0.0.1:1/stolen"}), 1, "refused the request: HTTP 302"),
        ((200, b"<html>", {}), 1, "something else than a chat completion"),
        ((200, {"choices": []}, {}), 1, "something else than a chat completion"),
        ((200, [[]], {}), 1, "something else than a chat completion"),
        (says(7), 1, "something else than a chat completion"),
        ((200, b"[" * 50_000, {}), 1, "something else than a chat completion"),
        ((200, b" " * (MAX_ANSWER + 10), {}), 1, "something else than a chat completion"),
    ],
)
def test_others_are_one_sentence_without_the_key(stub: Stub, reply: Reply, requests: int, sentence: str) -> None:
    stub.replies = [reply]
    with pytest.raises(DownloadError, match=sentence) as caught:
        endpoint(stub).complete("x")
    assert len(stub.asked) == requests
    assert "\n" not in str(caught.value) and "secret" not in str(caught.value) + repr(endpoint(stub))


def test_an_answer_that_never_ends_is_given_up(stub: Stub) -> None:
    stub.replies, stub.at_once, stub.pause_s = [says("x" * 200)], 1, 0.05
    with pytest.raises(DownloadError, match="did not answer"):  # the whole answer takes 13 s
        ChatEndpoint(stub.url, "small", timeout_s=0.3, retries=0).complete("x")


@pytest.mark.parametrize("line", [b"HTTP/1.1 100 Continue\r\n\r\n", b"X-Header: a\r\n"], ids=["100", "headers"])
def test_an_endpoint_that_never_gets_to_its_answer_is_given_up(line: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def drip() -> None:
            connection, _ = server.accept()
            with connection, suppress(OSError):
                if line.startswith(b"X"):
                    connection.sendall(b"HTTP/1.1 200 OK\r\n")
                while True:
                    connection.sendall(line)
                    time.sleep(0.05)

        threading.Thread(target=drip, daemon=True).start()
        started = time.monotonic()
        with pytest.raises(DownloadError, match="timed out"):
            url = f"http://127.0.0.1:{server.getsockname()[1]}"
            ChatEndpoint(url, "small", timeout_s=0.5, retries=0).complete("x")
        assert time.monotonic() - started < 3


def test_nobody_there_is_a_sentence_too() -> None:
    with pytest.raises(DownloadError, match="did not answer"):
        ChatEndpoint("http://127.0.0.1:1/v1", "small", retries=1, pause_s=0.01).complete("x")


@pytest.mark.parametrize("url", ["", "host", "ftp://host/v1", "file:///etc/passwd", "http://[", "http://"])
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(ConfigError, match="is no address"):
        ChatEndpoint(url, "small")


def test_a_key_is_never_sent_unencrypted_to_another_machine() -> None:
    with pytest.raises(ConfigError, match="not encrypted"):
        ChatEndpoint("http://example.com/v1", "small", "secret")
    ChatEndpoint("https://example.com/v1", "small", "secret")
    ChatEndpoint("http://example.com/v1", "small")


def test_the_command_writes_triplets_by_rules_or_by_the_endpoint(
    stub: Stub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_tiny(tmp_path / "model")
    captions = [f"v{i}#enc#0 a {who} plays the guitar on the stage" for i, who in enumerate(("man", "woman", "boy"))]
    (tmp_path / "captions.txt").write_text("\n".join(captions) + "\n")
    monkeypatch.setattr(
        "nt2vr.negation.generate.triplets.mining.LEAST", -1.0
    )  # the tiny model has not learnt what is similar
    monkeypatch.setattr("nt2vr.negation.generate.triplets.mining.MOST", 2.0)
    monkeypatch.setenv("NT2VR_CHAT_KEY", "secret")
    flags = ["queries", "triplets", "--captions", str(tmp_path / "captions.txt"), "--model", str(tmp_path / "model")]
    flags += ["--data-dir", str(tmp_path), "--device", "cpu"]
    assert main([*flags, "--out", str(tmp_path / "rules.jsonl")]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "pairs": 6,
        "without a text": 0,
        "triplets": 6,
        "videos": 3,
        "targets": 3,
        "triplets per target": 2.0,
        "unique words": ANY,
        "mean characters": ANY,
    }
    lines = [json.loads(line) for line in (tmp_path / "rules.jsonl").read_text().splitlines()]
    assert {(line["reference"], line["target"]) for line in lines} == {
        (f"v{i}", f"v{j}") for i in range(3) for j in range(3) if i != j
    }
    assert main([*flags, "--texts", "templates", "--out", str(tmp_path / "nine.jsonl")]) == 0
    assert json.loads(capsys.readouterr().out)["triplets"] == 6
    nine = [json.loads(line)["text"] for line in (tmp_path / "nine.jsonl").read_text().splitlines()]
    assert all(text[0].isupper() and "guitar" not in text for text in nine)
    assert stub.asked == []

    stub.replies = [says("somebody else"), says(""), says("another one")]
    chat = ["--chat-url", stub.url, "--chat-model", "small", "--limit", "3", "--out", str(tmp_path / "chat.jsonl")]
    assert main([*flags, *chat]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert [printed[name] for name in ("pairs", "triplets", "without a text")] == [3, 2, 1]
    assert (printed["unique words"], printed["mean characters"]) == (4, 12.0)  # "somebody else", "another one"
    texts = [json.loads(line)["text"] for line in (tmp_path / "chat.jsonl").read_text().splitlines()]
    assert texts == ["somebody else", "another one"]
    assert {authorization for _, authorization, _ in stub.asked} == {"Bearer secret"}

    stub.replies = [says("kept"), (401, b"", {})]
    assert main([*flags, *chat]) == 2  # it does not go on by rules
    error = capsys.readouterr().err
    assert "refused the request: HTTP 401" in error and "secret" not in error
    assert len((tmp_path / "chat.jsonl").read_text().splitlines()) == 1
    assert main([*flags, *chat[:2], "--out", str(tmp_path / "x")]) == 2
    assert "Name both --chat-url and --chat-model" in capsys.readouterr().err
