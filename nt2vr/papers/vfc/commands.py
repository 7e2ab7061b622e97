"""The command `nt2vr queries verbs`."""

import json
import sys
from pathlib import Path

from nt2vr.files import check_writable
from nt2vr.negation.generate.query_sets import read_captioned_videos
from nt2vr.papers.vfc.verb_changes import VerbChanges
from nt2vr.papers.vfc.verb_file import write_verbs
from nt2vr.papers.vfc.verb_sources import Rule
from nt2vr.progress import progress_bar, tracked


def change_verbs(*, captions: Path, out: Path, rule: Rule = "rules", seed: int = 0) -> None:
    """Give captions another verb, as hard negatives of the loss vfc.

    Args:
        captions: as for build
        out: file for a training's verb_changes, as JSON lines
        rule: of new verbs
        seed: draws verbs
    """
    check_writable(out.parent)
    captions_of_videos = read_captioned_videos(captions).captions.values()
    captioned = [own_captions for own_captions in captions_of_videos if own_captions]
    with progress_bar() as progress:
        changes = VerbChanges(tracked(captioned, len(captioned), "parsing verbs", progress))
        lines = [line for row in range(len(changes)) for line in changes.lines(row, rule, seed)]
    num_written = write_verbs(out, lines)

    num_changed = sum(len(line.changed) for line in lines)
    counts = {"captions": len(lines), "written": num_written, "changed": num_changed}
    sys.stdout.write(f"{json.dumps(counts)}\n")
