"""Modification texts from a language model behind a chat-completions endpoint. Optional."""

import asyncio
import json
import random
import time
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import httpx
from anyio.from_thread import start_blocking_portal

from nt2vr.errors import ConfigError, DownloadError, quoted, reason_of
from nt2vr.negation.generate.triplets.mining import NearCaptions
from nt2vr.negation.parse.wordlists import text_of

MAX_ANSWER = 100_000  # bytes of an answer
MAX_TEXT = 200  # characters of a modification text
MAX_WAIT_S = 60.0  # that an endpoint may ask to wait
LOOPBACK = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True)
class ChatEndpoint:
    """An endpoint with the API of OpenAI's chat completions.

    Raises:
        ConfigError: if the address is none, or a key would be sent unencrypted.
    """

    url: str  # its base, such as https://host/v1
    model: str
    key: str = field(default="", repr=False)  # sent as a bearer token; empty sends none
    timeout_s: float = 30.0  # until its answer is complete, from the first look for its address
    retries: int = 3  # further requests after a failure that may pass
    pause_s: float = 1.0  # before the first of these; doubles with each

    def __post_init__(self) -> None:
        try:
            parts = urlsplit(self.url)
            is_address = parts.scheme in ("http", "https") and bool(parts.hostname)
        except ValueError:
            is_address = False
        if not is_address:
            raise ConfigError(f"{quoted(self.url)} is no address of an endpoint. Write one such as https://host/v1.")
        if self.key and parts.scheme == "http" and parts.hostname not in LOOPBACK:
            raise ConfigError(f"{quoted(self.url)} is not encrypted, so the key is not sent there. Use https.")

    def complete(self, prompt: str, max_tokens: int = 60) -> str:
        """Return the model's answer; raises a DownloadError with the reason after all retries."""
        body = {"model": self.model, "messages": [{"role": "user", "content": prompt}], "max_tokens": max_tokens}
        headers = {"Accept-Encoding": "identity"}  # a small answer could unpack to a large one
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        for attempt in range(self.retries + 1):
            try:
                return self._ask(body, headers)
            except _Passing as failure:
                if attempt == self.retries:
                    raise DownloadError(f"{quoted(self.url)} did not answer ({failure}). Try again later.") from None
                time.sleep(min(failure.wait_s or self.pause_s * 2**attempt, MAX_WAIT_S))
        raise AssertionError("the last attempt returns or raises")

    def _ask(self, body: dict[str, Any], headers: dict[str, str]) -> str:
        try:
            with start_blocking_portal() as portal:  # a thread of its own: notebooks have an event loop in theirs
                status, wait, content = portal.call(self._exchange, body, headers)
        except TimeoutError:
            raise _Passing("timed out") from None
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:  # no connection, or broken off
            raise _Passing(reason_of(error)) from None
        if status == 429 or status >= 500:
            raise _Passing(f"HTTP {status}", _seconds(wait))
        if status >= 300:  # redirects too, which would take the key to another host
            raise DownloadError(f"{quoted(self.url)} refused the request: HTTP {status}.")
        try:
            if len(content) > MAX_ANSWER:
                raise ValueError
            text = json.loads(content)["choices"][0]["message"]["content"]
            if not isinstance(text, str):
                raise TypeError
        except (ValueError, LookupError, TypeError, RecursionError):
            raise DownloadError(f"{quoted(self.url)} answered with something else than a chat completion.") from None
        return text

    async def _exchange(self, body: dict[str, Any], headers: dict[str, str]) -> tuple[int, str, bytes]:
        """Return the status, the header Retry-After and the content of the answer, all within the deadline."""
        url, content = f"{self.url.rstrip('/')}/chat/completions", b""
        async with (
            asyncio.timeout(self.timeout_s),
            httpx.AsyncClient(timeout=None) as client,
            client.stream("POST", url, json=body, headers=headers) as answer,
        ):
            async for some in answer.aiter_raw():
                content += some
                if len(content) > MAX_ANSWER:
                    break
            return answer.status_code, answer.headers.get("Retry-After", ""), content


class _Passing(Exception):
    """A failure that may pass; `wait_s` is how long the endpoint asks to wait, 0 if it does not say."""

    def __init__(self, reason: str, wait_s: float = 0.0) -> None:
        super().__init__(reason)
        self.wait_s = wait_s


def _seconds(value: str) -> float:
    return float(value) if value.isascii() and value.isdigit() and len(value) < 9 else 0.0


def write_by_chat(endpoint: ChatEndpoint, pair: NearCaptions, _: random.Random) -> str:
    """Ask what should change in a video of `pair.one` to fit `pair.other`; empty if the answer is no text."""
    prompt = text_of("wordings/modification_prompt.txt").rstrip("\n")
    prompt = prompt.format(one=" ".join(pair.one), other=" ".join(pair.other))
    text = " ".join(endpoint.complete(prompt).split()).strip(" \"'“”.")
    return text if len(text) <= MAX_TEXT and text.isprintable() else ""
