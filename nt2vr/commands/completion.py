"""`nt2vr completion bash|zsh|fish`: print a script that completes commands, flags and names on Tab.

argcomplete asks `nt2vr` itself what fits, since the names of models, libraries and presets change; shtab would write
the words of today into the script.
"""

import shlex
import sys
from argparse import Action, ArgumentParser, Namespace
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import Any

from nt2vr.errors import Nt2vrError
from nt2vr.files import parse_json

SHELLS = ("bash", "zsh", "fish")
DATA = ("world", "gallery")


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "shell",
        choices=SHELLS,
        help='whose script to print, to evaluate in its start-up file: eval "$(nt2vr completion bash)", '
        "or in fish: nt2vr completion fish | source",
    )


def run(options: Namespace) -> None:
    from argcomplete.shell_integration import shellcode

    sys.stdout.write(shellcode(["nt2vr"], shell=options.shell))


def complete(
    line: str, parser_of: Callable[[str], tuple[ArgumentParser, Any]], presets: Callable[[], list[str]]
) -> None:
    """Answer the shell that asks about a line typed so far, and exit; `parser_of` returns the parser for a command."""
    import argcomplete

    try:
        words = shlex.split(line)
    except ValueError:  # a quotation that is still open
        words = line.split()
    parser, _ = parser_of(next((word for word in words[1:] if word[0] != "-"), "serve"))
    names: Any = partial(_names, presets)
    argcomplete.autocomplete(parser, always_complete_options=False, default_completer=names)


def _names(
    presets: Callable[[], list[str]], prefix: str, action: Action, parser: ArgumentParser, parsed_args: Namespace
) -> Iterable[str]:
    """Return the names that an argument without choices takes, and paths where it takes these."""
    what, prog, data_dir = action.dest, parser.prog, getattr(parsed_args, "data_dir", None)
    with suppress(Nt2vrError, OSError):
        if what == "name" and prog.endswith("models get"):
            from nt2vr.models.recommended import RECOMMENDED

            return [model.name for model in RECOMMENDED]
        if (what == "name" and " library " in prog) or what == "library":
            return _libraries(data_dir)
        if what in ("model", "checkpoint") or (what == "name" and " models " in prog):
            return _models(data_dir)
        if what == "systems":
            last = prefix.rpartition(",")[2].lstrip()
            return [f"{prefix.removesuffix(last)}{name}" for name in _models(data_dir)]
        if what == "config":
            return [*presets(), *_paths(prefix)]
        if what == "data":
            return [*DATA, *(f"library:{name}" for name in _libraries(data_dir)), *_paths(prefix)]
    return _paths(prefix)


def _paths(prefix: str) -> Iterable[str]:
    from argcomplete.completers import FilesCompleter

    return FilesCompleter()(prefix)


def _models(data_dir: str | None) -> list[str]:
    from nt2vr.models.catalog import Catalog
    from nt2vr.settings import Settings

    return Catalog.of(Settings.read(data_dir)).names()


def _libraries(data_dir: str | None) -> list[str]:
    """List libraries by their settings, as `Libraries` does, which imports OpenCV; hidden folders are removed ones."""
    from nt2vr.settings import Settings

    names = []
    for file in sorted((Settings.read(data_dir).data_dir / "libraries").glob("[!.]*/library.json")):
        with suppress(OSError, ValueError, TypeError, KeyError):  # damaged
            names.append(str(parse_json(file.read_text(encoding="utf-8"))["name"]))
    return names
