"""`nt2vr publish space OWNER/NAME`: publish the app as a Hugging Face Space."""

import sys
from argparse import ArgumentParser, BooleanOptionalAction, Namespace
from pathlib import Path

from nt2vr.hub.client import check_repository
from nt2vr.hub.space import publish, space_files


def add_arguments(parser: ArgumentParser) -> None:
    """Add what to publish, the repository and the flags."""
    parser.add_argument("what", choices=["space"], help="space: the app")
    parser.add_argument("repository", metavar="OWNER/NAME", help="Space on the Hub; created if it is new")
    parser.add_argument(
        "--private", action=BooleanOptionalAction, default=True, help="create it as private (default: yes)"
    )
    parser.add_argument("--zero-gpu", action="store_true", help="pin torch to a version that ZeroGPU offers")
    parser.add_argument("--dry-run", action="store_true", help="list the files and upload nothing")


def run(options: Namespace) -> int:
    """Upload and print the address, or list the files with their sizes."""
    check_repository(options.repository)
    files = space_files(options.zero_gpu)
    if options.dry_run:
        sizes = {name: file.stat().st_size if isinstance(file, Path) else len(file) for name, file in files.items()}
        sys.stdout.writelines(f"{size:>12,}  {name}\n" for name, size in sizes.items())
        sys.stdout.write(f"{sum(sizes.values()):>12,}  bytes in {len(files)} files\n")
        return 0
    sys.stdout.write(f"{publish(options.repository, files, options.private)}\n")
    return 0
