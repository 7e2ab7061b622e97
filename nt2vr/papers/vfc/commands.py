"""The command `nt2vr queries verbs`."""

import json
import sys
from pathlib import Path

from nt2vr.files import check_writable
from nt2vr.negation.generate.query_sets import read_captioned_videos
from nt2vr.papers.vfc.verb_changes import VerbChanges
from nt2vr.papers.vfc.verb_file import write_verbs
from nt2vr.papers.vfc.verb_sources import VerbSource
from nt2vr.progress import progress_bar, tracked


def change_verbs(*, captions: Path, out: Path, rule: VerbSource = "rules", seed: int = 0) -> None:
    """Give captions another verb, as hard negatives of the loss vfc.

    Args:
        captions: captions of videos, in any form that `nt2vr queries build` reads
        out: file to write, as JSON lines; a training reads it with --set verb_changes=FILE
        rule: where new verbs come from; rules takes verbs that other captions have with the same
            object, antonym and random are controls
        seed: random seed of the new verbs
    """
    check_writable(out.parent)
    captions_of_videos = read_captioned_videos(captions).captions.values()
    videos = list(filter(None, captions_of_videos))
    verbs = []
    with progress_bar() as progress:
        changes = VerbChanges(
            tracked(videos, total=len(videos), doing="parsing verbs", progress=progress)
        )
        for row in range(len(changes)):
            verbs += changes.captions(row, rule, seed)
    num_written = write_verbs(out, verbs)

    num_changed = sum(len(caption.changed) for caption in verbs)
    counts = {"captions": len(verbs), "written": num_written, "changed": num_changed}
    sys.stdout.write(f"{json.dumps(counts)}\n")
