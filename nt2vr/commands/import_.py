"""`nt2vr import FILE`: import a checkpoint or embeddings made by other code."""

import sys
from argparse import ArgumentParser, Namespace
from dataclasses import fields
from pathlib import Path

from nt2vr.files import expanded
from nt2vr.models.card import MEAN, QUERY_SCORED, RAW_MEAN
from nt2vr.models.catalog import Catalog
from nt2vr.models.foreign import ACTIVATIONS, ImportOptions, checked_name, import_checkpoint, new_folder
from nt2vr.models.foreign_file import SUFFIXES
from nt2vr.models.framing import POSITIONS
from nt2vr.models.precomputed import write_embeddings
from nt2vr.search.systems import check_model_name
from nt2vr.settings import Settings, add_flags


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help=f"checkpoint file: {', '.join(SUFFIXES)}; or embeddings: .npz")
    parser.add_argument("--name", default="", help="name of the model (default: the file's)")
    parser.add_argument(
        "--architecture",
        default="",
        help="an open_clip architecture, or a model here (default: inferred from tensors)",
    )
    parser.add_argument("--frames", type=int, help="frames per video (default: the recognised trainer's, or 8)")
    parser.add_argument(
        "--activation", choices=ACTIVATIONS, default="", help="default: QuickGELU for OpenAI's architectures"
    )
    parser.add_argument(
        "--pooling",
        choices=(MEAN, RAW_MEAN, QUERY_SCORED),
        default="",
        help="of frame embeddings; raw_mean does not normalise them before, as nT2VR's code; query_scored weighs them "
        "by each query (default: the recognised trainer's, or mean)",
    )
    parser.add_argument(
        "--positions",
        choices=POSITIONS,
        default="",
        help="of frames in a video; ends are those of nT2VR's code (default: the recognised trainer's, or centres)",
    )
    add_flags(parser)


def run(options: Namespace) -> None:
    models, file = Catalog.of(Settings.read(options.data_dir, options.device)), expanded(options.file)
    check_model_name(options.name or file.stem)
    if file.suffix.lower() == ".npz":
        name = checked_name(options.name or file.stem, models)
        card = write_embeddings(file, new_folder(name, models), name)
        sys.stdout.write(f"{name} is in {models.home}. It knows {card.queries} queries.\n")
        return
    told = ImportOptions(**{each.name: getattr(options, each.name) for each in fields(ImportOptions)})
    imported = import_checkpoint(file, models, told)
    sys.stdout.write(f"{imported.name} is in {models.home}. {imported.remark}\n")
