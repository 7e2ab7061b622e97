"""`nt2vr push CHECKPOINT OWNER/NAME`: upload a model to the Hugging Face Hub. Its card becomes a README."""

import sys
from argparse import ArgumentParser, BooleanOptionalAction, Namespace

from nt2vr.files import expanded
from nt2vr.hub.models import push
from nt2vr.models.card import CARD
from nt2vr.models.catalog import Catalog
from nt2vr.settings import ASSETS, Settings, add_flags


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("checkpoint", help="checkpoint folder, or a model's name in the app")
    parser.add_argument("repository", metavar="OWNER/NAME", help="repository on the Hub; created if it is new")
    parser.add_argument(
        "--private", action=BooleanOptionalAction, default=True, help="create it as private (default: yes)"
    )
    parser.add_argument("--licence", default="", help="such as mit, the default for shipped models only")
    add_flags(parser)


def run(options: Namespace) -> None:
    settings = Settings.read(options.data_dir, options.device)
    folder = expanded(options.checkpoint)
    if not (folder / CARD).is_file():
        folder = Catalog.of(settings).folder(options.checkpoint)
    shipped = folder.absolute().is_relative_to(ASSETS.absolute())
    address = push(folder, options.repository, options.private, options.licence or ("mit" if shipped else ""))
    sys.stdout.write(f"{address}\n")
