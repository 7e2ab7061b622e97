"""The core knows no paper by name, but for citations, models that ship, and files and folders that exist."""

import re
from collections.abc import Iterator

import pytest

from tests.support.paths import ROOT

# Paper -> the words that may not be said outside its folder.
WORDS = {
    "con_clip": r"con[-_ ]?clip|neg[-_]?clip|cc[-_]?neg|distractor|CLIP-con",
    "covr": r"covr|(?<!js)fusion\b(?! import)|_fusion|triplet|\bcirr\b|fashion[-_]?iq|\bcirco\b",
    "sea": r"w2vv|unit_projected|words\.vectors|word_settings|ppmi|big_?file|\bfeatures\b|[sd]_features|features_",
    "vfc": r"vfc|verb[-_ ]?changes?\b|verb[-_]negatives|verb phrase loss|svo[-_ ]?probes|next[-_ ]?qa|kinetics",
}
FOLDERS = (
    "nt2vr",
    "trainer",
    "benchmarks",
    "deploy",
    "assets/ui",
    "assets/language",
    "assets/wordings",
)
FILES = ("app.py", "pyproject.toml", "Dockerfile", "compose.yaml")
SUFFIXES = (".py", ".json", ".toml", ".html", ".js", ".css", ".txt", ".tsv", ".yaml", "")

# Where it may be said: file -> the lines' beginnings, or parts of them
ALLOWED = {
    # citations in docstrings
    "nt2vr/evaluation/built_in.py": (
        "Foils are captions of a changed scene, in eight folds after CC-Neg",
    ),
    "nt2vr/evaluation/class_tasks.py": (
        "As CoN-CLIP does, every class is asked for",
        "Source: jaisidhsingh/CoN-CLIP",
    ),
    # models that ship
    "assets/ui/help.html": ("<dt>CLIP-bnl, CLIP-con, CLIP-neg</dt>", "<dt>CLIP-vfc</dt>"),
    "benchmarks/exclusion.py": ('MODELS = ("CLIP", "CLIP-bnl", "CLIP-con", "CLIP-neg")',),
    "nt2vr/ui/evaluate/form_panel.py": ('DEFAULT_SYSTEMS = ("CLIP-bnl", "CLIP-con"',),
    # whose trainer wrote a checkpoint that is imported
    "nt2vr/models/foreign_clip.py": (
        "Recognise the trainer by its names",
        'return Form("CoN-CLIP\'s trainer")',
    ),
    # the source of a word list, and a citation
    "assets/language/words.toml": (
        "# stopwords_en.txt of",
        "shown feature features featuring",
    ),
    "trainer/losses/paper.py": ("W2VV++ has the same.",),
    # features in another sense: what transformers returns, those of a face, and the verb
    "nt2vr/models/clip_libraries.py": ("features of texts and videos",),
    "nt2vr/world/drawn/busts.py": (
        "with the features of a smiley",
        "features = recoloured(",
        "{features}</g>",
    ),
    "assets/language/rewriting.toml": ("|features?|contains?",),
    # packages
    "pyproject.toml": (
        '"nt2vr.papers.con_clip"',
        '"nt2vr.papers.covr"',
        '"nt2vr.papers.vfc"',
    ),
}


def lines_of_core() -> Iterator[tuple[str, str]]:
    """Yield each line outside the papers, with the name of its file."""
    paths = [ROOT / name for name in FILES]
    for folder in FOLDERS:
        paths += sorted((ROOT / folder).rglob("*"))
    for path in paths:
        name = path.relative_to(ROOT).as_posix()
        if path.is_file() and path.suffix in SUFFIXES and not name.startswith("nt2vr/papers/"):
            for line in path.read_text(encoding="utf-8").splitlines():
                yield name, line.strip()


@pytest.mark.parametrize("paper", WORDS)
def test_no_code_outside_a_papers_folder_knows_it(paper: str) -> None:
    word = re.compile(WORDS[paper], re.IGNORECASE)
    strays = []
    for name, line in lines_of_core():
        is_allowed = any(part in line for part in ALLOWED.get(name, ()))
        if word.search(line) and not is_allowed:
            strays.append(f"{name}: {line}")
    assert strays == []


def test_each_exception_is_needed() -> None:
    words = re.compile("|".join(WORDS.values()), re.IGNORECASE)
    mentions: dict[str, list[str]] = {}
    for name, line in lines_of_core():
        if name in ALLOWED and words.search(line):
            mentions.setdefault(name, []).append(line)
    for name, parts in ALLOWED.items():
        for part in parts:
            assert any(part in line for line in mentions.get(name, ())), (name, part)


def test_a_papers_losses_are_named_by_no_other_code() -> None:
    """Names of losses such as "con" are too short to be searched for as words."""
    quoted = re.compile(r"""["'](con|negclip|vfc)["']""")
    assert [f"{name}: {line}" for name, line in lines_of_core() if quoted.search(line)] == []
