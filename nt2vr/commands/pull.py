"""`nt2vr pull OWNER/NAME`: download a model from the Hugging Face Hub."""

import sys
from argparse import ArgumentParser, Namespace

from nt2vr.hub.models import pull
from nt2vr.models.catalog import Catalog
from nt2vr.models.foreign import checked_name
from nt2vr.progress import progress_bar
from nt2vr.search.systems import check_model_name
from nt2vr.settings import Settings, add_flags


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("repository", metavar="OWNER/NAME", help="repository on the Hub, in open_clip's format")
    parser.add_argument("--name", default="", help="name of the model (default: its card's, or the repository's)")
    add_flags(parser)


def run(options: Namespace) -> None:
    catalog = Catalog.of(Settings.read(options.data_dir, options.device))

    def checked(name: str) -> str:
        check_model_name(name)
        return checked_name(name, catalog)

    with progress_bar() as progress:
        name = pull(options.repository, catalog.home, checked, options.name, progress)
    sys.stdout.write(f"{name} is in {catalog.home}.\n")
