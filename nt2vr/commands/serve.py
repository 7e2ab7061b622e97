"""`nt2vr serve`, the same as `python app.py`: open the app.

The page is up before torch is: what needs the models is loaded in the background, behind the page.
"""

import logging
from argparse import ArgumentParser, Namespace

from nt2vr.settings import Settings, add_flags
from nt2vr.ui.page import serve


def add_arguments(parser: ArgumentParser) -> None:
    """Add the flags."""
    add_flags(parser)
    parser.add_argument("--host", help="address to listen on (default: this machine only)")
    parser.add_argument("--port", type=int, help="port to listen on (default: the first free one from 7860)")


def run(options: Namespace) -> int:
    """Open the page, with the tabs of `options.build_tabs` added, and serve it until stopped."""
    logging.getLogger("nt2vr").setLevel(logging.INFO)  # the root stays at WARNING: open_clip logs each loading step
    settings = Settings.read(options.data_dir, options.device, options.host, options.port)
    serve(settings, options.build_tabs(settings))
    return 0
