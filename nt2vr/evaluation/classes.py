"""Zero-shot classification: prompts, folders of classes, and a question per video.

Every class is asked for as it is and denied, as CoN-CLIP does. Of several prompts, the normalised mean of their
embeddings is used, as CLIP does.

Source: Singh et al., "Learn 'No' to Say 'Yes' Better: Improving Vision-Language Models via Negations", WACV 2025.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path

from nt2vr.datasets.files import VIDEO_SUFFIXES, files_below
from nt2vr.errors import ConfigError, quoted
from nt2vr.evaluation.benchmark import JudgedQuery, cue_of, row_array
from nt2vr.evaluation.measures import KINETICS_VERB, LENIENT
from nt2vr.files import expanded
from nt2vr.media.picture import PICTURE_SUFFIXES
from nt2vr.settings import ASSETS

PROMPT, NEGATED_PROMPT = "this is a photo of a {}", "this is not a photo of a {}"
PROMPTS = "prompts.txt"  # next to the classes
SLOT = "{}"
MAX_PROMPTS, MAX_BYTES = 1_000, 1 << 20
Averaged = Mapping[str, tuple[str, ...]]  # a text, and the texts whose mean embedding stands for it
Task = tuple[tuple[str, ...], tuple[JudgedQuery, ...], Averaged]  # texts, queries, averaged texts


@dataclass(frozen=True)
class Prompts:
    """Sentences with a slot for the name of a class; `negated` ones deny it, and there may be none."""

    plain: tuple[str, ...] = (PROMPT,)
    negated: tuple[str, ...] = (NEGATED_PROMPT,)


DEFAULT = Prompts()


def read_prompts(given: str, folder: Path) -> Prompts:
    """Read a prompt, or a file with one per line, by default PROMPTS in a folder; negations tell which deny."""
    path = expanded(given) if given else folder / PROMPTS
    if not given and not path.is_file():
        return DEFAULT
    lines = [given] if SLOT in given else _lines(path)
    prompts: dict[bool, dict[str, None]] = {False: {}, True: {}}  # by whether they deny
    for line in lines:
        if line.count(SLOT) != 1:
            raise ConfigError(f"A prompt needs one {SLOT} for the name of the class, unlike {quoted(line)}.")
        prompts[bool(cue_of(line))][line] = None
    if not prompts[False] or len(lines) > MAX_PROMPTS:
        raise ConfigError(f"Give 1 to {MAX_PROMPTS:,} prompts, at least one without a negation.")
    return Prompts(tuple(prompts[False]), tuple(prompts[True]))


def _lines(path: Path) -> list[str]:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise ConfigError(f"{path} is too large for a list of prompts: {MAX_BYTES >> 20} MB at most.")
        return [line.strip() for line in path.read_text(encoding="utf-8-sig").splitlines() if line.strip()]
    except (OSError, ValueError) as error:
        raise ConfigError(f"The prompts of {path} cannot be read: name a text file with one per line.") from error


def class_files(folder: Path) -> list[tuple[Path, str, str]]:
    """List pictures and videos in folders named by their class, each with its class and its data set.

    The data set is the folder of a class's folder, relative to the given one: "" if that holds the classes itself.
    """
    media = VIDEO_SUFFIXES | PICTURE_SUFFIXES
    files = sorted(file for file in files_below(folder) if file.suffix.lower() in media and file.parent != folder)
    if not files:
        raise ConfigError(f"{folder} has no classes. Put the pictures or videos of each class in a folder of its own.")
    data_sets = (file.parent.parent.relative_to(folder).as_posix() for file in files)
    return [(file, file.parent.name, "" if name == "." else name) for file, name in zip(files, data_sets, strict=True)]


def class_questions(labels: Sequence[tuple[str, str]], prompts: Prompts = DEFAULT) -> Task:
    """Build a question per video with plain prompts, then one with negated prompts if there are any.

    Args:
        labels: the class and the data set of each video; a data set's videos are asked for its own classes.
            A ConfigError refuses one with a single class.
    """
    named = [(label.lower().replace("_", " "), data.replace("; ", ", ")) for label, data in labels]
    classes = _by_data_set(named)
    texts: dict[str, int] = {}
    averaged: dict[str, tuple[str, ...]] = {}
    questions: list[JudgedQuery] = []
    for kind, lines in (("class", prompts.plain), (LENIENT, prompts.negated)):
        if lines:
            said = {
                name: tuple(line.replace(SLOT, name) for line in lines)
                for name in dict.fromkeys(chain(*classes.values()))
            }
            averaged |= {each[0]: each for each in said.values() if len(each) > 1}
            questions += _questions(kind, {name: each[0] for name, each in said.items()}, named, classes, texts)
    return tuple(texts), tuple(questions), averaged


def _by_data_set(named: Sequence[tuple[str, str]]) -> dict[str, dict[str, None]]:
    classes: dict[str, dict[str, None]] = {}
    for name, data in named:
        classes.setdefault(data, {})[name] = None
    if alone := [data for data, names in classes.items() if len(names) < 2]:
        raise ConfigError(f"{alone[0] or 'The data'} has a single class. Give at least two to choose between.")
    return classes


def _questions(
    kind: str,
    said: Mapping[str, str],
    named: Sequence[tuple[str, str]],
    classes: Mapping[str, Mapping[str, None]],
    texts: dict[str, int],
) -> Iterator[JudgedQuery]:
    """Yield a question per video; `said` are the texts of the classes, which are added to all `texts`."""
    places = {name: texts.setdefault(text, len(texts)) for name, text in said.items()}
    others = {
        (name, data): row_array(places[other] for other in names if other != name)
        for data, names in classes.items()
        for name in names
    }
    verbs = _kinetics_verb()
    for video, (name, data) in enumerate(named):
        parts = (data * (len(classes) > 1), KINETICS_VERB * (name in verbs <= classes[data].keys()))
        group = "; ".join(filter(None, parts))
        yield JudgedQuery(kind, said[name], row_array((video,)), others=others[name, data], group=group)


@cache
def _kinetics_verb() -> frozenset[str]:
    return frozenset((ASSETS / "kinetics-verb.txt").read_text(encoding="utf-8").splitlines())
