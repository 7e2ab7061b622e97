"""Who may do what, by rule, address, headers, token and login."""

import stat
import time
from multiprocessing.pool import ThreadPool
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import HTTPConnection, Request

from nt2vr.errors import AccessError
from nt2vr.settings import ACTIONS, Settings
from nt2vr.ui.web.permissions import DOING, TOKEN_FILE, Permissions

TOKEN = "a-token-of-the-owner"
LOCAL = "127.0.0.1"


def visitor(
    peer: str = LOCAL, http: str = "1.1", login: dict[str, Any] | None = None, **headers: str
) -> Request:
    """A request; `headers` with "_" for "-"."""
    scope: dict[str, Any] = {
        "type": "http",
        "http_version": http,
        "client": (peer, 1234),
        "headers": [
            (name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()
        ],
    }
    return Request(scope | ({"session": {"oauth_info": login}} if login is not None else {}))


def signed_in(user: str, expires_in_s: float = 3600.0) -> dict[str, Any]:
    return {"userinfo": {"preferred_username": user}, "expires_at": time.time() + expires_in_s}


@pytest.mark.parametrize(
    ("bound", "request_", "expected"),
    [
        (True, visitor(), True),
        (True, visitor("::1"), True),
        (True, visitor("::ffff:127.0.0.1"), True),
        # Anyone who can open a connection may be behind it.
        (False, visitor(), False),
        (True, visitor("10.0.0.7"), False),
        (True, visitor(x_forwarded_for="127.0.0.1"), False),
        (True, visitor(x_forwarded_proto="https"), False),
        (True, visitor(forwarded="for=127.0.0.1"), False),
        (True, visitor(x_real_ip="127.0.0.1"), False),
        (True, visitor(via="1.1 proxy"), False),
        (True, visitor(http="1.0"), False),
        (True, None, False),
    ],
)
def test_by_default_only_this_machine_may_do_everything(
    bound: bool, request_: Request | None, expected: bool
) -> None:
    permissions = Permissions(TOKEN, bound_to_loopback=bound)
    assert [permissions.may(action, request_) for action in ACTIONS] == [expected] * len(ACTIONS)


def test_an_action_may_be_opened_to_everyone_or_switched_off() -> None:
    rules = {"train": "everyone", "import": "owner", "delete": "nobody"}
    permissions = Permissions(TOKEN, rules)
    owner = visitor(authorization=f"Bearer {TOKEN}")
    assert [permissions.may(action, visitor()) for action in rules] == [True, False, False]
    assert [permissions.may(action, owner) for action in rules] == [True, True, False]


def test_the_owner_sends_a_cookie_or_a_bearer_token() -> None:
    permissions = Permissions(TOKEN)
    for right in (f"{permissions.cookie}={TOKEN}", f"a=b; {permissions.cookie}={TOKEN}"):
        assert permissions.may("train", visitor(cookie=right))
    assert permissions.may("train", visitor(authorization=f"bearer {TOKEN}"))
    for wrong in (
        "",
        "Bearer",
        "Bearer ",
        f"Bearer {TOKEN[:-1]}",
        f"Bearer {TOKEN}x",
        f"Basic {TOKEN}",
        "Bearer é",
    ):
        assert not permissions.may("train", visitor(authorization=wrong))
    assert not permissions.may("train", visitor(cookie=f"other={TOKEN}"))
    assert not permissions.may(
        "train", visitor(cookie=f"{Permissions('another-long-token').cookie}={TOKEN}")
    )


def test_a_spaces_owner_is_known_by_the_login() -> None:
    permissions = Permissions(TOKEN, space_owner="ada")
    assert permissions.may("train", visitor(login=signed_in("ada")))
    assert not permissions.may("train", visitor(login=signed_in("bob")))
    assert not permissions.may("train", visitor(login=signed_in("ada", expires_in_s=-1)))
    assert not permissions.may("train", visitor(login={}))
    assert not Permissions(TOKEN).may("train", visitor(login=signed_in("")))


def test_a_refusal_says_who_may_and_how_to_be_them() -> None:
    stranger = HTTPConnection(visitor("10.0.0.7").scope)
    with pytest.raises(AccessError, match=r"owner.* train .*token"):
        Permissions(TOKEN).check("train", stranger)
    with pytest.raises(AccessError, match="Hugging Face"):
        Permissions(TOKEN, space_owner="ada").check("train", stranger)
    with pytest.raises(AccessError, match="NT2VR_ALLOW_TRAIN"):
        Permissions(TOKEN, {"train": "nobody"}).check("train", visitor())
    assert Permissions(TOKEN, bound_to_loopback=True).refusal(visitor(), "train") == ""
    several = Permissions(TOKEN, {"import": "nobody", "paths": "everyone"}).refusal(
        stranger, "train", "import", "paths", "delete"
    )
    assert several.startswith(
        "Nobody may import models and videos here: it is switched off (NT2VR_ALLOW_IMPORT). Only the owner may "
    )
    assert "may train models or delete runs, reports and libraries here" in several
    assert "name files" not in several
    assert DOING.keys() == set(ACTIONS)


def test_all_processes_on_a_data_folder_share_one_token(
    tmp_path: Path,
) -> None:
    settings = Settings(tmp_path / "data")
    with ThreadPool(8) as threads:
        tokens = set(threads.map(lambda _: Permissions.of(settings).token, range(8)))
    assert len(tokens) == 1
    file = settings.data_dir / TOKEN_FILE
    assert file.read_text() == tokens.pop()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path.name for path in settings.data_dir.iterdir()] == [TOKEN_FILE]
    assert Permissions.of(Settings(tmp_path / "other")).token != file.read_text()
    assert (
        Permissions.of(Settings(settings.data_dir, owner_token="chosen-by-the-owner")).token
        == "chosen-by-the-owner"
    )
