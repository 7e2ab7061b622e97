"""`nt2vr queries build | split | triplets | verbs`: generate queries and verbs, split sentences."""

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from pathlib import Path

from nt2vr.errors import ConfigError
from nt2vr.files import check_writable
from nt2vr.progress import progress_bar, tracked
from nt2vr.settings import add_flags

NO_COMPOSED = (
    "composed.jsonl is empty: a composed query needs a video whose captions tell two deeds of one subject, such as “a "
    "man sings” and “a man plays the guitar”, and another that shows only the first. Give more captions per video."
)


def add_arguments(parser: ArgumentParser) -> None:
    commands = parser.add_subparsers(metavar="build|split|triplets|verbs", required=True)
    building = commands.add_parser("build", help="make original, negated and composed queries from captions")
    building.add_argument(
        "--captions", type=Path, required=True, help="JSON lines, or lines of ID#N<TAB>caption or VIDEO#enc#N caption"
    )
    building.add_argument(
        "--out", type=Path, required=True, help="folder for original.txt, negated.txt and composed.jsonl"
    )
    building.add_argument("--seed", type=int, default=0, help="draws negations and templates (default: %(default)s)")
    building.set_defaults(action=_build)
    splitting = commands.add_parser("split", help="print the wanted and unwanted parts of sentences as JSON lines")
    splitting.add_argument("sentence", nargs="?", help="default: each line of stdin")
    splitting.set_defaults(action=_split)
    default = "(default: %(default)s)"
    mining = commands.add_parser(
        "triplets", help="mine pairs of videos from captions one word apart, and write what is different"
    )
    mining.add_argument("--captions", type=Path, required=True, help="as for build")
    mining.add_argument("--out", type=Path, required=True, help="file for the triplets, as JSON lines")
    mining.add_argument("--model", default="CLIP", help=f"whose text tower compares captions {default}")
    mining.add_argument("--limit", type=int, default=10_000, metavar="N", help=f"pairs of videos at most {default}")
    mining.add_argument(
        "--texts",
        choices=("rules", "templates"),
        default="rules",
        help="how they are written: by rules, with phrases, or by CoVR's nine templates, with the single words "
        f"{default}",
    )
    mining.add_argument("--seed", type=int, default=0, help=f"draws pairs and wordings {default}")
    add_flags(mining)
    mining.set_defaults(action=_triplets)
    verbs = commands.add_parser("verbs", help="give captions another verb, as hard negatives of the loss vfc")
    verbs.add_argument("--captions", type=Path, required=True, help="as for build")
    verbs.add_argument("--out", type=Path, required=True, help="file for a training's verb_changes, as JSON lines")
    verbs.add_argument(
        "--rule", choices=("rules", "antonym", "random"), default="rules", help=f"of new verbs {default}"
    )
    verbs.add_argument("--seed", type=int, default=0, help=f"draws verbs {default}")
    verbs.set_defaults(action=_verbs)


def run(options: Namespace) -> None:
    options.action(options)


def _build(options: Namespace) -> None:
    from nt2vr.negation.generate.build import build

    check_writable(options.out)
    with progress_bar() as progress:
        sizes = build(options.captions, options.out, options.seed, progress)
    _write(sizes)
    if not sizes["composed"]:
        sys.stderr.write(f"{NO_COMPOSED}\n")


def _split(options: Namespace) -> None:
    from nt2vr.negation.generate.build import split

    for parts in split([options.sentence] if options.sentence is not None else sys.stdin or ()):
        _write(parts)


def _verbs(options: Namespace) -> None:
    from nt2vr.negation.generate.query_sets import read_captioned_videos
    from nt2vr.negation.generate.verb_changes import VerbChanges
    from nt2vr.negation.generate.verb_files import write_verbs

    check_writable(options.out.parent)
    captions = [some for some in read_captioned_videos(options.captions).captions.values() if some]
    with progress_bar() as progress:
        changes = VerbChanges(tracked(captions, len(captions), "parsing verbs", progress))
        lines = [line for row in range(len(changes)) for line in changes.lines(row, options.rule, options.seed)]
    count = write_verbs(options.out, lines)
    _write({"captions": len(lines), "written": count, "changed": sum(len(line.changed) for line in lines)})


def _triplets(options: Namespace) -> None:
    if options.limit < 1:
        raise ConfigError(f"--limit is {options.limit}: choose at least 1.")
    from nt2vr.api import load_model
    from nt2vr.negation.generate.query_sets import read_captioned_videos
    from nt2vr.negation.generate.triplets.files import WriteText, mine_pairs, write_triplets
    from nt2vr.negation.generate.triplets.modification import Modifier, write_by_template
    from nt2vr.negation.parse.tagger import load_tagger

    write: WriteText = write_by_template if options.texts == "templates" else Modifier(load_tagger()).write
    check_writable(options.out.parent)
    videos = read_captioned_videos(options.captions)
    encoder = load_model(options.model, options.data_dir, options.device)
    pairs = mine_pairs(videos, encoder.encode_text, options.limit, options.seed)
    with progress_bar() as progress:
        statistics = write_triplets(pairs, write, options.seed, options.out, progress)
    _write({"pairs": len(pairs), "without a text": len(pairs) - int(statistics["triplets"]), **statistics})


def _write(fields: Mapping[str, object]) -> None:
    sys.stdout.write(f"{json.dumps(fields, ensure_ascii=False)}\n")
