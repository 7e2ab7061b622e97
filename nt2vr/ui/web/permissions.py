"""Owner or visitor, and what a visitor may.

On this machine everyone is the owner. Elsewhere, the owner proves it by a token, or on a Space by
the account. Only the owner may train, import, download, delete, name paths of this machine and
write notes on reports, unless the environment opens an action to everyone, or switches it off.
Handlers check permissions themselves; a disabled button is not a check.
"""

import hashlib
import hmac
import logging
import os
import re
import secrets
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import gradio as gr
from starlette.requests import HTTPConnection

from nt2vr.errors import AccessError, ConfigError, reason_of
from nt2vr.settings import MIN_TOKEN, Settings, is_loopback
from nt2vr.ui.view import Redact

logger = logging.getLogger(__name__)

# In the data folder, shared by all processes that use it.
TOKEN_FILE = "owner-token"
DOING = {
    "train": "train models",
    "import": "import models and videos",
    "download": "download models",
    "delete": "delete runs, reports and libraries",
    "paths": "name files of this machine",
    "review": "write notes on reports",
}
PROVE = (
    "open the link that the app printed at its start, or add ?token=… with the token from the "
    "app's data folder"
)
# Headers of proxies, besides x-forwarded-…
PROXIED = ("forwarded", "via", "x-real-ip")
# The first folder of an absolute path, not of a URL.
FIRST_FOLDER = re.compile(r"(?<![\w./~])/\w[^/\s'\"]*|\b[A-Za-z]:[\\/]")
WITHHELD = "The reason names folders of this machine. Its owner finds it in the app's log."
# Where RequestChecks leaves the permissions for `as_visitor_may_read`.
IN_SCOPE = "nt2vr.permissions"
Visitor = gr.Request | HTTPConnection | None


@dataclass(frozen=True)
class Permissions:
    """Who may do what on this server.

    Attributes:
        token: proves that a visitor is the owner.
        rules: "nobody", "owner" (as without a rule) or "everyone", by action.
        bound_to_loopback: whether the app accepts connections from this machine only.
        space_owner: user who owns the Hugging Face Space; empty elsewhere.
    """

    token: str = field(repr=False)
    rules: Mapping[str, str] = field(default_factory=dict)
    bound_to_loopback: bool = False
    space_owner: str = ""

    @classmethod
    def of(cls, settings: Settings) -> "Permissions":
        """Build the permissions of an app, and a token for its data folder if it has none."""
        token = settings.owner_token or _stored_token(settings.data_dir)
        return cls(
            token=token,
            rules=settings.rules,
            bound_to_loopback=is_loopback(settings.host),
            space_owner=settings.space_owner,
        )

    @property
    def cookie(self) -> str:
        """Name of the cookie that holds the token; each app on a host has its own."""
        digest = hashlib.sha256(self.token.encode()).hexdigest()
        return f"nt2vr-owner-{digest[:8]}"

    def may(self, action: str, visitor: Visitor) -> bool:
        """Return whether a visitor may perform an action."""
        rule = self.rules.get(action, "owner")
        if rule == "owner":
            return self.is_owner(visitor)
        return rule == "everyone"

    def may_from_here(self, action: str) -> bool:
        """Whether a visitor may perform an action who comes as most do: from this machine, if it is served alone."""
        rule = self.rules.get(action, "owner")
        return rule == "everyone" or (rule == "owner" and self.bound_to_loopback)

    def refusal(self, visitor: Visitor, *actions: str) -> str:
        """Say which of these actions a visitor may not perform, and why; "" if all are allowed."""
        sentences = []
        of_owner = []
        for action in actions:
            if self.rules.get(action) == "nobody":
                switch = f"NT2VR_ALLOW_{action.upper()}"
                sentences.append(f"Nobody may {DOING[action]} here: it is switched off ({switch}).")
            elif not self.may(action, visitor):
                of_owner.append(DOING[action])
        if of_owner:
            sentences.append(f"Only the owner may {' or '.join(of_owner)} here. {self._proof}")
        return " ".join(sentences)

    @property
    def _proof(self) -> str:
        """Say how the owner proves it."""
        proof = "sign in with Hugging Face" if self.space_owner else PROVE
        return f"If it is you, {proof}."

    def check(self, action: str, visitor: Visitor) -> None:
        """Raise an AccessError unless a visitor `may` perform an action."""
        reason = self.refusal(visitor, action)
        if reason:
            raise AccessError(reason)

    def is_owner(self, visitor: Visitor) -> bool:
        """Return whether a visitor is the owner, or on this machine."""
        connection = _connection(visitor)
        if connection is None:
            return False
        return self._is_local(connection) or self._proves_it(connection)

    def may_cancel(self, session: str, visitor: Visitor) -> bool:
        """Return whether a visitor may cancel a job that a page of this session started.

        That page may, and the owner. A session is known to its page alone, and ends when the page
        is loaded again; "" stands for none.
        """
        is_theirs = session != "" and session == session_of(visitor)
        return is_theirs or self.is_owner(visitor)

    def check_cancel(self, session: str, visitor: Visitor) -> None:
        """Raise an AccessError unless a visitor `may_cancel` a job."""
        if not self.may_cancel(session, visitor):
            raise AccessError(
                f"Only the page that started it, or the owner, may cancel it. {self._proof}"
            )

    def redactor(self, visitor: Visitor) -> Redact:
        """Return a function that words a message for a visitor.

        It is `WITHHELD` if it has a path that the visitor may not name.
        """
        if self.may("paths", visitor):
            return str
        return without_paths

    def is_token(self, text: str) -> bool:
        """Return whether a text is the owner's token, in a time that tells nothing of it."""
        return hmac.compare_digest(
            text.encode(errors="replace"), self.token.encode(errors="replace")
        )

    def _is_local(self, connection: HTTPConnection) -> bool:
        """Return whether a request comes from this machine directly.

        A proxy could forward anyone's.
        """
        if not self.bound_to_loopback or _is_proxied(connection):
            return False
        return connection.client is not None and is_loopback(connection.client.host)

    def _proves_it(self, connection: HTTPConnection) -> bool:
        """Return whether a request has the owner's token, or is of the Space's owner."""
        scheme, _, bearer = connection.headers.get("authorization", "").partition(" ")
        token = connection.cookies.get(self.cookie, "")
        if not token and scheme.lower() == "bearer":
            token = bearer
        if self.is_token(token):
            return True

        # Gradio signs the session cookie.
        session = connection.scope.get("session", {})
        login = session.get("oauth_info", {})
        is_logged_in = login.get("expires_at", 0) > time.time()
        user = login.get("userinfo", {}).get("preferred_username")
        return bool(is_logged_in and user and user == self.space_owner)


def _is_proxied(connection: HTTPConnection) -> bool:
    # nginx speaks HTTP 1.0 by default, browsers never do.
    if connection.scope.get("http_version") == "1.0":
        return True
    return any(name.startswith("x-forwarded-") or name in PROXIED for name in connection.headers)


def session_of(visitor: Visitor) -> str:
    """Return the session of the page that sends an event; "" for other requests."""
    if isinstance(visitor, gr.Request):
        return visitor.session_hash or ""
    return ""


def as_visitor_may_read(text: str, visitor: Visitor) -> str:
    """Return a message as the visitor may read it, see `Permissions.redactor`.

    Without a request, it is as a stranger may read it.
    """
    connection = _connection(visitor)
    if connection is None or IN_SCOPE not in connection.scope:
        return without_paths(text)
    redact = connection.scope[IN_SCOPE].redactor(visitor)
    return str(redact(text))


def names_path(text: str) -> bool:
    """Return whether a text has an absolute path of this machine: one whose first folder is there."""
    folders = FIRST_FOLDER.findall(text)
    return any(":" in folder or os.path.lexists(folder) for folder in folders)


@lru_cache
def without_paths(text: str) -> str:
    """Return a message, or `WITHHELD` instead of one that names a path of this machine.

    The log has such a message, once.
    """
    if not names_path(text):
        return text
    logger.warning("Withheld from a visitor: %s", text)
    return WITHHELD


def _connection(visitor: Visitor) -> HTTPConnection | None:
    if isinstance(visitor, gr.Request):
        return visitor.request
    return visitor


def _stored_token(data_dir: Path) -> str:
    """Return the data folder's token, which is made on first use.

    In a read-only folder it is one for this process alone.
    """
    path = data_dir / TOKEN_FILE
    token = secrets.token_urlsafe(24)
    try:
        data_dir.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            _write_token(path, token)
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


def _write_token(path: Path, token: str) -> None:
    """Write the file at once, readable by its user alone, unless another process was faster."""
    new = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    new.touch(0o600)
    try:
        new.write_text(token, encoding="utf-8")
        with suppress(FileExistsError):
            os.link(new, path)
    finally:
        new.unlink()
