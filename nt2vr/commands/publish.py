"""`nt2vr publish space OWNER/NAME`, or `--folder DIR`: the app as a Hugging Face Space, uploaded or written."""

import sys
from argparse import ArgumentParser, BooleanOptionalAction, Namespace
from pathlib import Path

from nt2vr.errors import ConfigError
from nt2vr.hub.client import check_repository
from nt2vr.hub.space import publish, space_files, write_space

NEXT = (
    "To publish it: git init, git lfs install, git add --all, git commit, then git push to the Space's repository, "
    "https://huggingface.co/spaces/OWNER/NAME."
)


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("what", choices=["space"], help="space: the app")
    parser.add_argument("repository", metavar="OWNER/NAME", nargs="?", help="Space on the Hub; created if it is new")
    parser.add_argument(
        "--folder",
        type=Path,
        metavar="DIR",
        help="write the files for `git push` into a new folder, or a clone of the Space; needs no network",
    )
    parser.add_argument(
        "--private", action=BooleanOptionalAction, default=True, help="create it as private (default: yes)"
    )
    parser.add_argument("--zero-gpu", action="store_true", help="pin torch to a version that ZeroGPU offers")
    parser.add_argument("--dry-run", action="store_true", help="list the files and upload nothing")


def run(options: Namespace) -> None:
    if bool(options.repository) == bool(options.folder):
        raise ConfigError("Name a Space, OWNER/NAME, or a --folder to write its files to: one of the two.")
    if options.repository:
        check_repository(options.repository)
    files = space_files(options.zero_gpu)
    sizes = {name: len(file) if isinstance(file, bytes) else file.stat().st_size for name, file in files.items()}
    total = f"{sum(sizes.values()):,} bytes in {len(files)} files"
    if options.dry_run:
        sys.stdout.writelines(f"{size:>12,}  {name}\n" for name, size in sizes.items())
        sys.stdout.write(f"{total}\n")
    elif options.folder:
        write_space(options.folder, files)
        sys.stdout.write(f"{options.folder} has the Space, {total}. {NEXT}\n")
    else:
        sys.stdout.write(f"{publish(options.repository, files, options.private)}\n")
