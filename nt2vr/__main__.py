"""The command line: `nt2vr COMMAND`, or `python -m nt2vr COMMAND`. Without a command it opens the app.

This is the one module of nt2vr that may name the trainer. A command's module is imported only when it is run.
"""

import argparse
import io
import logging
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from nt2vr.errors import ConfigError, Nt2vrError
from nt2vr.settings import Settings, prepare_environment, project_version

if TYPE_CHECKING:
    from nt2vr.ui.trainings import Trainings
    from nt2vr.ui.web.permissions import Permissions

COMMANDS = {  # name -> its module, which has `add_arguments` and `run`, and a line of help
    "serve": ("nt2vr.commands.serve", "open the app (default)"),
    "search": ("nt2vr.commands.search", "search the built-in gallery with one or more systems"),
    "library": ("nt2vr.commands.library", "add, update and remove libraries of your own videos"),
    "evaluate": ("nt2vr.commands.evaluate", "evaluate systems and print the paper's table"),
    "covr": ("nt2vr.commands.covr", "evaluate retrieval by a picture plus a text, and print the table"),
    "train": ("trainer.__main__", "train a model, or resume a run"),
    "sweep": ("trainer.runs.sweep", "train a grid of settings with several seeds, and tabulate them"),
    "queries": ("nt2vr.commands.queries", "build negated and composed queries from captions; split sentences"),
    "models": ("nt2vr.commands.models", "list, download and remove models"),
    "import": ("nt2vr.commands.import_", "import a checkpoint written by other code"),
    "push": ("nt2vr.commands.push", "upload a model to the Hugging Face Hub"),
    "pull": ("nt2vr.commands.pull", "download a model from the Hugging Face Hub"),
    "publish": ("nt2vr.commands.publish", "upload the app as a Hugging Face Space"),
}
DESCRIPTION = "Text-to-video retrieval that understands negation."
OWN_FLAGS = ("-h", "--help", "--version")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return its exit status: 0 done, 1 failed, 2 refused, 130 after Ctrl+C, 141 at a closed pipe."""
    prepare_environment()
    for stream in (sys.stdin, sys.stdout):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        status = _run(list(sys.argv[1:] if arguments is None else arguments))
        sys.stdout.flush()
    except Nt2vrError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or the flush at exit would fail as well
        return 141
    return status


def _run(arguments: list[str]) -> int:
    if not arguments or (arguments[0].startswith("-") and arguments[0] not in OWN_FLAGS):
        arguments = ["serve", *arguments]
    name = arguments[0]
    if name == "compose":
        raise ConfigError("`nt2vr compose` is called `nt2vr covr` now. Its options are the same.")
    if name == "train":
        from trainer.__main__ import main as train  # noqa: PLC0415

        return train(arguments[1:], prog="nt2vr train")
    logging.basicConfig(level=logging.ERROR, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    parser = argparse.ArgumentParser(prog="nt2vr", description=DESCRIPTION)
    parser.add_argument("--version", action="version", version=f"nT2VR {project_version()}")
    subparsers = parser.add_subparsers(metavar="COMMAND", required=True)
    command: Any = None
    for known, (module, purpose) in COMMANDS.items():
        subparser = subparsers.add_parser(known, help=purpose, description=f"{purpose[0].upper()}{purpose[1:]}.")
        if known == name:
            command = import_module(module)
            command.add_arguments(subparser)
    options = parser.parse_args(arguments, argparse.Namespace(build_trainer=build_trainer))
    status: int = command.run(options)
    return status


def build_trainer(
    settings: Settings, permissions: "Permissions"
) -> tuple[Mapping[str, Callable[..., None]], "Trainings"]:
    """Build the Train tab, and trainings from the Search tab; nt2vr.ui cannot import the trainer."""
    from trainer.runs.manager import RunManager  # noqa: PLC0415
    from trainer.ui.from_search import SearchTrainings  # noqa: PLC0415  imports Gradio
    from trainer.ui.tab import TrainTab  # noqa: PLC0415  likewise

    manager = RunManager(settings.data_dir / "runs", settings.device)
    return {"Train": TrainTab(manager, settings, permissions).build}, SearchTrainings(manager)


if __name__ == "__main__":
    sys.exit(main())
