"""The command line: `nt2vr COMMAND`, or `python -m nt2vr COMMAND`. Without a command it opens the app.

A command's module is imported only when it is run, and the libraries that it needs only when its arguments are right.
"""

import io
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from nt2vr.commands.parser import Parser
from nt2vr.errors import ConfigError, Nt2vrError

COMMANDS = {  # name -> its module, which has `add_arguments` and `run`, and a line of help
    "serve": ("nt2vr.commands.serve", "open the app (default)"),
    "search": ("nt2vr.commands.search", "search the built-in gallery with one or more systems"),
    "match": ("nt2vr.commands.match", "choose among captions for a clip or a picture with one or more systems"),
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
    "publish": ("nt2vr.commands.publish", "upload the app as a Hugging Face Space, or write its files"),
    "completion": ("nt2vr.commands.completion", "print a script that completes commands and names on Tab"),
}
DESCRIPTION = "Text-to-video retrieval that understands negation. `nt2vr help COMMAND` explains a command."
OWN_FLAGS = ("-h", "--help", "-V", "--version")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return its exit status: 0 done, 1 failed, 2 refused, 130 after Ctrl+C, 141 at a closed pipe."""
    for stream in (sys.stdin, sys.stdout):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        if "_ARGCOMPLETE" in os.environ:  # a shell asks what Tab completes
            from nt2vr.commands.completion import complete  # noqa: PLC0415
            from trainer.presets import preset_names  # noqa: PLC0415

            complete(os.environ.get("COMP_LINE", ""), _parser, preset_names)
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
    if arguments[0] == "help":
        arguments = [*arguments[1:2], "--help"]
    if arguments[0] == "compose":
        raise ConfigError("`nt2vr compose` is called `nt2vr covr` now. Its options are the same.")
    if arguments[0] in OWN_FLAGS[2:]:
        from nt2vr.settings import project_version  # noqa: PLC0415  the list of commands needs no settings

        sys.stdout.write(f"nT2VR {project_version()}\n")
        return 0
    parser, command = _parser(arguments[0])
    options = parser.parse_args(arguments)
    status: int = command.run(options) or 0  # only those of the trainer return one
    return status


def _parser(name: str) -> tuple[Parser, Any]:
    """Return a parser of all commands, of which the named one has its arguments, and that one's module, if any."""
    parser = Parser(prog="nt2vr", description=DESCRIPTION)
    parser.add_argument("-V", "--version", action="store_true", help="print the version")
    subparsers = parser.add_subparsers(metavar="COMMAND", required=True)
    command: Any = None
    for known, (module, purpose) in COMMANDS.items():
        subparser = subparsers.add_parser(known, help=purpose, description=f"{purpose[0].upper()}{purpose[1:]}.")
        if known == name:
            command = _imported(module)
            command.add_arguments(subparser)
    return parser, command


def _imported(module: str) -> Any:
    """Import a command's module, once logging and the environment of its libraries are set up."""
    import logging  # noqa: PLC0415  the list of commands needs neither

    from nt2vr.settings import prepare_environment  # noqa: PLC0415  likewise

    prepare_environment()
    logging.basicConfig(level=logging.ERROR, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    return import_module(module)


if __name__ == "__main__":
    sys.exit(main())
