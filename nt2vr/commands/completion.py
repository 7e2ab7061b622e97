"""`nt2vr completion bash|zsh|fish`: print a script that completes commands, flags and names on Tab.

argcomplete asks `nt2vr` itself what fits, since the names of models, libraries and presets change; shtab would write
the words of today into the script.
"""

import json
import shlex
import sys
from argparse import Action, ArgumentParser, Namespace, _SubParsersAction
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any

from nt2vr.errors import Nt2vrError

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
    """Answer the shell, and exit.

    Args:
        line: typed so far.
        parser_of: returns the parser for a command.
        presets: lists the trainer's presets.
    """
    import argcomplete

    try:
        words = shlex.split(line)
    except ValueError:  # a quotation that is still open
        words = line.split()
    parser, _ = parser_of(next((word for word in words[1:] if word[0] != "-"), "serve"))
    for each in _with_subparsers(parser):
        for action in each._actions:
            action.completer = _Names(each.prog, action, presets)  # type: ignore[attr-defined]
    argcomplete.autocomplete(parser, always_complete_options=False)


def _with_subparsers(parser: ArgumentParser) -> Iterator[ArgumentParser]:
    yield parser
    for action in parser._actions:
        if isinstance(action, _SubParsersAction):
            for each in action.choices.values():
                yield from _with_subparsers(each)


class _Names:
    """Names that an argument takes, for argcomplete; paths where it takes these."""

    def __init__(self, prog: str, action: Action, presets: Callable[[], list[str]]) -> None:
        self._prog, self._action, self._presets = prog, action, presets

    def __call__(self, prefix: str, parsed_args: Namespace, **_: object) -> Iterable[str]:
        what, data_dir = self._action.dest, getattr(parsed_args, "data_dir", None)
        if self._action.choices is not None:
            return map(str, self._action.choices)
        with suppress(Nt2vrError, OSError):
            if what == "name" and self._prog.endswith("models get"):
                from nt2vr.models.recommended import RECOMMENDED

                return [model.name for model in RECOMMENDED]
            if (what == "name" and " library " in self._prog) or what == "library":
                return _libraries(data_dir)
            if what in ("model", "checkpoint") or (what == "name" and " models " in self._prog):
                return _models(data_dir)
            if what == "systems":
                last = prefix.rpartition(",")[2].lstrip()
                return [f"{prefix.removesuffix(last)}{name}" for name in _models(data_dir)]
            if what == "config":
                return [*self._presets(), *_paths(prefix)]
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
    """List libraries as their settings name them; opening them would import OpenCV."""
    from nt2vr.settings import Settings

    files = (Settings.read(data_dir).data_dir / "libraries").glob("*/library.json")
    return [str(json.loads(file.read_text(encoding="utf-8"))["name"]) for file in sorted(files)]
