"""Owner or visitor, and what a visitor may.

At this machine everyone is the owner; elsewhere the owner has a token, or on a Space its account.
The rest is the owner's: to train, import, download, delete, name paths of this machine and annotate
reports; the environment may open an action to everyone, or switch it off. Handlers check
permissions themselves; a disabled button is no check.
"""

import hashlib
import hmac
import logging
import os
import re
import secrets
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import gradio as gr
from starlette.requests import HTTPConnection

from nt2vr.errors import AccessError, ConfigError, reason_of
from nt2vr.settings import MIN_TOKEN, Settings, is_loopback

logger = logging.getLogger(__name__)

TOKEN_FILE = "owner-token"  # in the data folder, shared by all processes that use it
DOING = {
    "train": "train models",
    "import": "import models and videos",
    "download": "download models",
    "delete": "delete runs, reports and libraries",
    "paths": "name files of this machine",
    "review": "write notes on reports",
}
PROVE = "open the link that the app printed at its start, or add ?token=… with the token from the app's data folder"
PROXIED = ("forwarded", "via", "x-real-ip")  # headers of proxies, besides x-forwarded-…

FIRST_FOLDER = re.compile(
    r"(?<![\w./~])/\w[^/\s'\"]*|\b[A-Za-z]:[\\/]"
)  # of an absolute path, not of a URL
WITHHELD = "The reason names folders of this machine. Its owner finds it in the app's log."
IN_SCOPE = "nt2vr.permissions"  # where RequestChecks leaves the permissions for `told`
Visitor = gr.Request | HTTPConnection | None


@dataclass(frozen=True)
class Permissions:
    token: str = field(repr=False)  # proves that a visitor is the owner
    # "nobody", "owner" (as without a rule) or "everyone" per action
    rules: Mapping[str, str] = field(default_factory=dict)
    bound_to_loopback: bool = False  # whether the app accepts connections from this machine only
    space_owner: str = ""  # user who owns the Hugging Face Space; empty elsewhere

    @classmethod
    def of(cls, settings: Settings) -> "Permissions":
        """Build the permissions of an app, and a token for its data folder if it has none."""
        token = settings.owner_token or _stored_token(settings.data_dir)
        return cls(token, settings.rules, is_loopback(settings.host), settings.space_owner)

    @property
    def cookie(self) -> str:
        """Name of the cookie that holds the token; each app on a host has its own."""
        return f"nt2vr-owner-{hashlib.sha256(self.token.encode()).hexdigest()[:8]}"

    def may(self, action: str, visitor: Visitor) -> bool:
        connection, rule = _connection(visitor), self.rules.get(action, "owner")
        if rule != "owner" or connection is None:
            return rule == "everyone"
        return self.is_owner(visitor)

    def may_from_here(self, action: str) -> bool:
        """Whether a visitor may perform an action who comes as most do: from this machine, if it is served alone."""
        rule = self.rules.get(action, "owner")
        return rule == "everyone" or (rule == "owner" and self.bound_to_loopback)

    def refusal(self, visitor: Visitor, *actions: str) -> str:
        """Say which of these actions a visitor may not perform, and why; empty if all are allowed."""
        refused = [action for action in actions if not self.may(action, visitor)]
        off = [action for action in refused if self.rules.get(action) == "nobody"]
        theirs = [DOING[action] for action in refused if action not in off]
        switch = "Nobody may {} here: it is switched off (NT2VR_ALLOW_{})."
        sentences = [switch.format(DOING[each], each.upper()) for each in off]
        if theirs:
            sentences.append(f"Only the owner may {' or '.join(theirs)} here. {self._proof}")
        return " ".join(sentences)

    @property
    def _proof(self) -> str:
        """Say how the owner proves to be the owner."""
        return f"If it is you, {'sign in with Hugging Face' if self.space_owner else PROVE}."

    def check(self, action: str, visitor: Visitor) -> None:
        if reason := self.refusal(visitor, action):
            raise AccessError(reason)

    def is_owner(self, visitor: Visitor) -> bool:
        """Whether a visitor is the owner, or at this machine."""
        connection = _connection(visitor)
        return connection is not None and (self._is_local(connection) or self._is_owner(connection))

    def may_cancel(self, session: str, visitor: Visitor) -> bool:
        """Whether a visitor may cancel a job that a page of this session started ("": none): that page, or the owner.

        A session is known to its page alone. It ends when the page is loaded again.
        """
        is_theirs = session != "" and session == session_of(visitor)
        return is_theirs or self.is_owner(visitor)

    def check_cancel(self, session: str, visitor: Visitor) -> None:
        """Raise an AccessError unless a visitor `may_cancel` a job."""
        if not self.may_cancel(session, visitor):
            raise AccessError(
                f"Only the page that started it, or the owner, may cancel it. {self._proof}"
            )

    def teller(self, visitor: Visitor) -> Callable[[str], str]:
        """Return how a message is told to a visitor: `WITHHELD` if it has a path that they may not name themselves."""
        return str if self.may("paths", visitor) else without_paths

    def is_token(self, text: str) -> bool:
        return hmac.compare_digest(
            text.encode(errors="replace"), self.token.encode(errors="replace")
        )

    def _is_local(self, connection: HTTPConnection) -> bool:
        """Whether a request comes from this machine directly, not through a proxy, which could forward anyone's."""
        proxied = any(
            name.startswith("x-forwarded-") or name in PROXIED for name in connection.headers
        )
        proxied = (
            proxied or connection.scope.get("http_version") == "1.0"
        )  # nginx by default; browsers never
        client = connection.client
        return (
            self.bound_to_loopback
            and not proxied
            and client is not None
            and is_loopback(client.host)
        )

    def _is_owner(self, connection: HTTPConnection) -> bool:
        scheme, _, bearer = connection.headers.get("authorization", "").partition(" ")
        given = connection.cookies.get(self.cookie) or (
            bearer if scheme.lower() == "bearer" else ""
        )
        login = connection.scope.get("session", {}).get(
            "oauth_info", {}
        )  # Gradio signs the session cookie
        user = login.get("expires_at", 0) > time.time() and login.get("userinfo", {}).get(
            "preferred_username"
        )
        return self.is_token(given) or bool(user and user == self.space_owner)


def session_of(visitor: Visitor) -> str:
    """Return the session of the page that sends an event; "" for other requests."""
    return (visitor.session_hash or "") if isinstance(visitor, gr.Request) else ""


def told(text: str, visitor: Visitor) -> str:
    """Return a message as the visitor may read it, see `Permissions.teller`; without a request, as a stranger may."""
    connection = _connection(visitor)
    permissions = connection.scope.get(IN_SCOPE) if connection is not None else None
    return permissions.teller(visitor)(text) if permissions else without_paths(text)


def names_path(text: str) -> bool:
    """Whether a text has an absolute path of this machine: one whose first folder is there."""
    return any(":" in found or os.path.lexists(found) for found in FIRST_FOLDER.findall(text))


@lru_cache
def without_paths(text: str) -> str:
    """Return a message, or `WITHHELD` instead of one that names a path of this machine; the log has that, once."""
    if not names_path(text):
        return text
    logger.warning("A visitor was not told: %s", text)
    return WITHHELD


def _connection(visitor: Visitor) -> HTTPConnection | None:
    return visitor.request if isinstance(visitor, gr.Request) else visitor


def _stored_token(data_dir: Path) -> str:
    """Return the data folder's token, made on first use; in a folder that is read-only, one for this process alone."""
    path, token = data_dir / TOKEN_FILE, secrets.token_urlsafe(24)
    try:
        data_dir.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            new = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
            new.touch(0o600)
            try:
                new.write_text(token, encoding="utf-8")
                with suppress(FileExistsError):  # of another process, which was faster
                    os.link(new, path)
            finally:
                new.unlink()
        token = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeError) as error:
        logger.warning(
            "%s cannot be used (%s). The owner's link holds until the app ends.",
            path,
            reason_of(error),
        )
    if len(token) < MIN_TOKEN:
        raise ConfigError(
            f"The token in {path} is too short. Delete the file, and the app makes a new one."
        )
    return token
