"""Which class does a video show? Asked by prompts, of a folder per class.

As CoN-CLIP does, every class is asked for as it is and denied; as CLIP does, several prompts stand
for the normalised mean of their embeddings.

Source: jaisidhsingh/CoN-CLIP (Singh et al., "Learn 'No' to Say 'Yes' Better: Improving
Vision-Language Models via Negations", WACV 2025).
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from nt2vr.datasets.lookup import MEDIA_SUFFIXES, files_below
from nt2vr.errors import ConfigError, quoted
from nt2vr.evaluation.measures import LENIENT, class_groups
from nt2vr.evaluation.queries import JudgedQuery, cue_of, row_array
from nt2vr.evaluation.task_data import Task, benchmark_of_task
from nt2vr.evaluation.text_benchmark import TextBenchmark
from nt2vr.files import expanded
from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import Video
from nt2vr.media.store import Cache
from nt2vr.progress import Progress, silent

# File with a prompt per line, next to the classes.
PROMPTS = "prompts.txt"
# Where the name of a class goes.
SLOT = "{}"
MAX_PROMPTS = 1_000


class Prompts(NamedTuple):
    """Sentences with a slot for the name of a class; `negated` ones deny it, and may be none."""

    plain: tuple[str, ...] = ("this is a photo of a {}",)
    negated: tuple[str, ...] = ("this is not a photo of a {}",)


class Label(NamedTuple):
    """The class of a video, among those of its data set."""

    name: str
    data_set: str


def class_benchmark(
    folder: Path, decoder: Decoder, cache: Cache, progress: Progress = silent, prompts: str = ""
) -> TextBenchmark:
    """Read a folder per class, or several data sets of such folders.

    `prompts` are those of `read_prompts`; a ConfigError says why a folder cannot be used.
    """
    if not folder.is_dir():
        raise ConfigError(f"{folder} is not a folder. Name one that has a folder per class.")
    folder = folder.absolute()
    videos = []
    labels = []
    for path in sorted(files_below(folder)):
        if path.suffix.lower() in MEDIA_SUFFIXES and path.parent != folder:
            videos.append(Video(path.relative_to(folder).as_posix(), path))
            data_set = path.parent.parent.relative_to(folder).as_posix().removeprefix(".")
            labels.append((path.parent.name, data_set))
    if not videos:
        raise ConfigError(
            f"{folder} has no classes. Put the pictures or videos of each class in a folder of its "
            "own."
        )
    task = class_task(videos, labels, read_prompts(prompts, folder))
    return benchmark_of_task(
        task, folder.name, path=folder, decoder=decoder, cache=cache, progress=progress
    )


def read_prompts(prompt_or_file: str, folder: Path) -> Prompts:
    """Read a prompt, or a file with one per line; by default PROMPTS in the folder, if it is there.

    A prompt with a negation denies its class.
    """
    if SLOT in prompt_or_file:
        lines = [prompt_or_file]
    else:
        path = expanded(prompt_or_file) if prompt_or_file else folder / PROMPTS
        if not prompt_or_file and not path.is_file():
            return Prompts()
        try:
            lines = path.read_text(encoding="utf-8-sig").splitlines()
        except (OSError, ValueError) as error:
            raise ConfigError(
                f"The prompts of {path} cannot be read: name a text file with one per line."
            ) from error

    plain = []
    negated = []
    for prompt in dict.fromkeys(filter(None, map(str.strip, lines))):
        if prompt.count(SLOT) != 1:
            raise ConfigError(
                f"A prompt needs one {SLOT} for the name of the class, unlike {quoted(prompt)}."
            )
        if cue_of(prompt):
            negated.append(prompt)
        else:
            plain.append(prompt)
    if not plain or len(plain) + len(negated) > MAX_PROMPTS:
        raise ConfigError(f"Give 1 to {MAX_PROMPTS:,} prompts, at least one without a negation.")
    return Prompts(tuple(plain), tuple(negated))


def class_task(
    videos: Sequence[Video], labels: Sequence[tuple[str, str]], prompts: Prompts
) -> Task:
    """Ask about each video with plain prompts, then with negated prompts if there are any.

    Of each video, `labels` are its class and its data set, for whose classes it is asked; a
    ConfigError refuses a data set with a single class.
    """
    labels_as_asked = [
        # Groups of a question are joined by "; ".
        Label(name.lower().replace("_", " "), data_set.replace("; ", ", "))
        for name, data_set in labels
    ]
    classes = _classes_of(labels_as_asked)
    text_rows: dict[str, int] = {}
    averaged: dict[str, tuple[str, ...]] = {}
    questions: list[JudgedQuery] = []
    for kind, of_kind in (("class", prompts.plain), (LENIENT, prompts.negated)):
        if not of_kind:
            continue
        # The sentence of the first prompt stands for those of all.
        sentence_of = {}
        for name in chain(*classes.values()):
            filled = tuple(prompt.replace(SLOT, name) for prompt in of_kind)
            sentence_of[name] = filled[0]
            text_rows.setdefault(filled[0], len(text_rows))
            if len(filled) > 1:
                averaged[filled[0]] = filled
        questions += _questions(
            kind,
            sentence_of=sentence_of,
            labels=labels_as_asked,
            classes=classes,
            text_rows=text_rows,
        )
    return Task(videos=videos, queries=questions, texts=tuple(text_rows), averaged=averaged)


def _classes_of(labels: Sequence[Label]) -> dict[str, list[str]]:
    """Return the classes of each data set, in the order of their first videos."""
    classes: dict[str, list[str]] = {}
    for label in dict.fromkeys(labels):
        classes.setdefault(label.data_set, []).append(label.name)
    for data_set, names in classes.items():
        if len(names) < 2:
            raise ConfigError(
                f"{data_set or 'The data'} has a single class. Give at least two to choose between."
            )
    return classes


def _questions(
    kind: str,
    sentence_of: Mapping[str, str],
    labels: Sequence[Label],
    classes: Mapping[str, Sequence[str]],
    text_rows: Mapping[str, int],
) -> Iterator[JudgedQuery]:
    """Yield a question about each video.

    Args:
        sentence_of: each class.
        text_rows: of the sentences, among the benchmark's texts.
    """
    rows_of = {}
    for data_set, names in classes.items():
        rows_of[data_set] = row_array(text_rows[sentence_of[name]] for name in names)
    for video, label in enumerate(labels):
        rows = rows_of[label.data_set]
        right = sentence_of[label.name]
        yield JudgedQuery(
            kind=kind,
            text=right,
            relevant=row_array((video,)),
            others=rows[rows != text_rows[right]],
            group="; ".join(_groups(label, classes)),
        )


def _groups(label: Label, classes: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the subsets of a video: its data set, if there are several, and groups of classes."""
    groups = []
    if len(classes) > 1 and label.data_set:
        groups.append(label.data_set)
    for group, path in class_groups().items():
        names = _class_names(path)
        if label.name in names and names <= set(classes[label.data_set]):
            groups.append(group)
    return groups


@cache
def _class_names(path: Path) -> frozenset[str]:
    return frozenset(path.read_text(encoding="utf-8").splitlines())
