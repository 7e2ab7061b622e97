"""`nt2vr import FILE [--name N] [--architecture A]`: make a checkpoint of other code a model of the app."""

import argparse
import sys
from pathlib import Path

from nt2vr.errors import Nt2vrError
from nt2vr.models.catalog import Catalog
from nt2vr.models.foreign import ACTIVATIONS, SUFFIXES, import_checkpoint
from nt2vr.search.systems import check_model_name
from nt2vr.settings import Settings, prepare_environment


def main() -> None:
    """Import a file from the command line, into the app's data folder."""
    parser = argparse.ArgumentParser(prog="nt2vr import", description=__doc__)
    parser.add_argument("file", type=Path, help=f"a checkpoint: {', '.join(SUFFIXES)}")
    parser.add_argument("--name", default="", help="what to call it (default: as the file)")
    parser.add_argument(
        "--architecture", default="", help="of open_clip, or a model of the app (default: by its tensors)"
    )
    parser.add_argument("--frames", type=int, default=8, help="frames of a video that it sees (default %(default)s)")
    parser.add_argument(
        "--activation", choices=ACTIVATIONS, default="", help="default: OpenAI's for their architectures"
    )
    parser.add_argument("--data-dir", help="of the app (NT2VR_DATA)")
    flags = parser.parse_args()
    prepare_environment()
    settings = Settings.read(["--data-dir", flags.data_dir] if flags.data_dir else [])
    models = Catalog([settings.assets / "models", settings.data_dir / "models"], runs=settings.data_dir / "runs")
    file = flags.file.expanduser()
    try:
        check_model_name(flags.name or file.stem)
        imported = import_checkpoint(file, models, flags.name, flags.architecture, flags.frames, flags.activation)
    except Nt2vrError as error:
        parser.exit(1, f"{error}\n")
    sys.stdout.write(f"{imported.name} is in {models.home}. {imported.remark}\n")


if __name__ == "__main__":
    main()
