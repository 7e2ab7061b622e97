"""Captions with another verb, and verb phrases."""

import logging
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import get_args

from nt2vr.errors import ConfigError, quoted
from nt2vr.negation.generate.verb_changes import (
    Keys,
    Rule,
    VerbChanges,
    VerbLine,
    calibrated,
    imbalances,
    in_turns,
    read_verbs,
)
from nt2vr.progress import Progress, silent, tracked
from nt2vr.settings import resolve_path
from trainer.config import TrainConfig
from trainer.data.sentences import MAX_PARSED, SentenceSource, fixed_key

logger = logging.getLogger(__name__)

MOST_SHIFTS = 500  # verb phrases on a card, those that captions have most often


@dataclass(frozen=True)
class Verbs:
    """Changed captions and verb phrases, by clip and caption; `shifts` as of `Card.shifts`."""

    changed: Mapping[tuple[int, str], list[str]]
    phrases: Mapping[tuple[int, str], list[str]]
    shifts: Mapping[str, float]

    @classmethod
    def of(cls, source: SentenceSource, config: TrainConfig, progress: Progress = silent) -> "Verbs":
        """Make them of all captions or, where these are drawn, of one per clip; log how many calibration leaves."""
        most, captions = -(-MAX_PARSED // max(1, len(source))), list[list[str]]()
        for row in range(len(source)):
            rng = random.Random(fixed_key(config.run.seed, row))
            every = [source.caption(row, rng, number) for number in range(source.num_captions(row))]
            captions.append(every[:most] or [source.caption(row, rng)])
        lines = [(row, line) for row, some in enumerate(_lines(config, captions, progress)) for line in some]
        made, shifts = _calibrated(lines, config)
        changed: dict[tuple[int, str], list[str]] = defaultdict(list)
        for row, caption, text, _ in made:
            changed[row, caption].append(text)
        phrases = {(row, text): list[str]() for row, some in enumerate(captions) for text in some}
        return cls(changed, phrases | {(row, line.caption): list(line.phrases) for row, line in lines}, shifts)

    def draw(self, row: int, caption: str, most: int, rng: random.Random) -> tuple[list[str], str]:
        """Draw up to `most` changed captions of a caption, and one of its verb phrases; "" if it has none."""
        changed, phrases = self.changed.get((row, caption), []), self.phrases.get((row, caption), [])
        return rng.sample(changed, min(most, len(changed))), rng.choice(phrases) if phrases else ""

    def texts(self, rows: Iterable[int]) -> list[str]:
        """Return everything that `draw` may return for some clips, and the captions that it belongs to."""
        wanted = set(rows)
        stored = (self.changed, self.phrases)
        found = ((caption, *texts) for some in stored for (row, caption), texts in some.items() if row in wanted)
        return list(dict.fromkeys(text for texts in found for text in texts))


def _calibrated(
    lines: Sequence[tuple[int, VerbLine]], config: TrainConfig
) -> tuple[list[tuple[int, str, str, Keys]], dict[str, float]]:
    """Return the changed captions to keep, with clip, caption and keys, and the shifts that they leave."""
    made = [(row, line.caption, text, keys) for row, line in lines for text, keys in line.changed]
    originals, generated = [line.keys for _, line in lines], [keys for *_, keys in made]
    kept = list(range(len(made)))
    if config.verbs.calibrate:
        kept = calibrated(originals, generated, in_turns([row for row, *_ in made], config.run.seed))
    logger.info("Kept %d of %d captions with another verb, for %d captions.", len(kept), len(made), len(lines))
    often = dict(Counter(chain.from_iterable(originals)).most_common(MOST_SHIFTS))
    left = imbalances(originals, [generated[number] for number in kept], config.batches.batch_size)
    others = max(1, config.batches.batch_size - 1)
    shifts = {key: round(value / others, 3) for key, value in left.items() if key in often}
    return list(map(made.__getitem__, kept)), shifts


def _lines(config: TrainConfig, captions: Sequence[Sequence[str]], progress: Progress) -> list[list[VerbLine]]:
    rules: dict[str, Rule] = {rule: rule for rule in get_args(Rule)}
    if (rule := rules.get(config.verbs.verb_changes)) is None:
        path = resolve_path(config.verbs.verb_changes)
        if not path.is_file():
            raise ConfigError(
                f"{quoted(config.verbs.verb_changes)} is not there. Set verb_changes to {', '.join(rules)} or a file."
            )
        known = read_verbs(path)
        return [[known[caption] for caption in dict.fromkeys(some) if caption in known] for some in captions]
    changes = VerbChanges(tracked(captions, len(captions), "parsing verbs", progress))
    return [changes.lines(row, rule, config.run.seed) for row in range(len(changes))]
