"""Argument parser of all commands: errors show the usage of the command at hand, and a likely correction."""

from argparse import Action, ArgumentError, ArgumentParser
from collections.abc import Sequence
from typing import Any

from nt2vr.negation.parse.corrections import did_you_mean


def add_search_flags(parser: ArgumentParser, library: str) -> None:
    """Add the flags of commands that ask systems; `library` is the help on the one that names a library."""
    from nt2vr.search.strategies import DEFAULT_ALPHA

    default = "(default: %(default)s)"
    parser.add_argument("--systems", default="CLIP, CLIP-neg", help=f"names of systems, comma-separated {default}")
    parser.add_argument("--library", default="", metavar="NAME", help=library)
    parser.add_argument(
        "--alpha",
        type=float,
        default=DEFAULT_ALPHA,
        help=f"weight of the unwanted part, for boolean systems {default}",
    )
    parser.add_argument("--json", action="store_true", help="print JSON, as the API returns it")


class Parser(ArgumentParser):
    """An argparse parser, whose subparsers are of the same class."""

    def parse_known_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> tuple[Any, list[str]]:  # type: ignore[override]
        """Refuse unknown arguments here, in the subparser that was given them, and not in the one at the top."""
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:
            near = did_you_mean(unknown[0].partition("=")[0], self._option_string_actions)
            self.error(f"unrecognized arguments: {' '.join(unknown)}.{near}")
        return found, unknown

    def _check_value(self, action: Action, value: Any) -> None:
        try:
            super()._check_value(action, value)
        except ArgumentError as error:
            near = did_you_mean(str(value), map(str, action.choices or ()))
            raise ArgumentError(action, f"{error.message}.{near}") from None
