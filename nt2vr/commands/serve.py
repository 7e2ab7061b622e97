"""`nt2vr serve`, or `python app.py`: start the app; models and torch are loaded in the background."""

import gc
import logging
import socket
from argparse import ArgumentParser, Namespace
from pathlib import Path

from nt2vr.errors import ConfigError, reason_of
from nt2vr.settings import Settings, add_flags, add_index_flag, is_loopback


def add_arguments(parser: ArgumentParser) -> None:
    add_flags(parser)
    add_index_flag(parser)
    parser.add_argument("--host", help="address to listen on (default: this machine only)")
    parser.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="name under which the app is reached, beyond this machine's addresses (repeatable; * is any)",
    )
    parser.add_argument(
        "--allow-root",
        action="append",
        default=[],
        type=Path,
        metavar="FOLDER",
        help="folder in which libraries may be named over the page (repeatable; default: the home folder while only "
        "this machine can reach the app, otherwise none)",
    )
    parser.add_argument("--port", type=int, help="port to listen on (default: the first free one from 7860)")
    parser.add_argument("--mcp", action="store_true", help="let agents search, at /gradio_api/mcp/ (default: off)")


def run(options: Namespace) -> None:
    logging.getLogger().setLevel(logging.WARNING)  # not INFO: open_clip logs each loading step to the root
    logging.getLogger("nt2vr").setLevel(logging.INFO)
    settings = Settings.read(
        options.data_dir,
        options.device,
        options.host,
        options.port,
        options.allow_host,
        options.allow_root,
        options.index,
    )
    check_address(settings.host, settings.port)
    gc.disable()  # a fifth of the time of starting went into searches for garbage, of which there is none yet
    try:
        from nt2vr.ui.page import serve
        from nt2vr.ui.web.permissions import Permissions

        permissions = Permissions.of(settings)
        serve(settings, permissions, options.mcp)  # enables it
    finally:
        gc.enable()


def check_address(host: str, port: int | None) -> None:
    """Refuse an address that cannot be bound: Gradio would print a traceback, or retry forever."""
    address = host, port or 0
    try:
        with socket.socket(socket.AF_INET6 if ":" in address[0] else socket.AF_INET) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # the app may just have been stopped
            probe.bind(address)
    except (OSError, OverflowError, UnicodeError) as error:
        parts = [] if is_loopback(host) and port is not None else [host]
        where = " and ".join([*parts, *([str(port)] if port is not None else [])])
        raise ConfigError(
            f"Cannot listen on {where} ({reason_of(error).rstrip('.')}). Choose another --host or --port."
        ) from error
