"""Give models of the built-in world everyday words that no training sentence has, by what a dictionary says of them.

WordPiece splits "pooch" into "po" and "##och", whose vectors know nothing of dogs, and a whole piece such as "palace"
has a vector that no training sentence has shown the model. This takes the everyday words (SCOWL up to size 50) whose
first sense in WordNet can be seen, an animal, an artifact or something that a body does, and has a synonym or hypernym
among the words of training sentences. A word's vector becomes the mean of its own, made as those of pieces are
(`benchmarks.word_vectors`), and of those of these relatives; split words get the rows of pieces that English does not
need, namely those that are unused or not ASCII. Nothing is trained. The words of training sentences, with all pieces
of theirs, stay as they are, and so does all that a model makes of such sentences.

    python -m benchmarks.dictionary CHECKPOINT…

It needs the package of `benchmarks.minilm`, and Debian's `scowl` and `wordnet-base`.
"""

import json
import random
import re
import sys
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, get_args

import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn.functional import normalize

from benchmarks.harness import arguments
from benchmarks.minilm import load_minilm
from benchmarks.word_vectors import embedded_pieces
from nt2vr.errors import ConfigError
from nt2vr.models.card import read_card, write_card
from nt2vr.models.checkpoint import WEIGHTS, fingerprints, read_configs
from nt2vr.models.tokenizer import TOKENIZER, file_digest
from nt2vr.negation.generate.denials import CaptionDenials
from nt2vr.world.lexicon import verbs
from nt2vr.world.reader import labels
from nt2vr.world.sampling import sample_scenes
from nt2vr.world.sentences import SceneDenialKind
from nt2vr.world.things import all_nouns
from trainer.data.sentences import WorldSentences

SCOWL, WORDNET = Path("/usr/share/dict/scowl"), Path("/usr/share/wordnet")
SIZES = (10, 20, 35, 40, 50)
SPELLINGS = ("english", "american", "british")
SEEN = {  # WordNet's lexicographer files
    "noun": {"05", "06", "08", "13", "17", "18", "19", "20"},  # animal, artifact, body, food, object, person, …, plant
    "verb": {"29", "34", "35", "38", "43"},  # body, consumption, contact, motion, weather
}
PARTS = {"1": "noun", "2": "verb", "3": "adjective", "4": "adverb", "5": "adjective"}
LEAST = 3  # marked senses of a word, to tell its usual part of speech
NUM_SCENES = 1_000  # training scenes, several sentences of each, that show which words training uses
NOT_NEEDED = re.compile(r"\[unused\d+\]|.*[^\x00-\x7f].*")
TABLE = "token_embedding.weight"
TOLERANCE = 0.01  # of a value of a vector, stored in half precision


class Synset(NamedTuple):
    """A sense in WordNet: its lexicographer file, its words, and the offsets of its hypernyms."""

    file: str
    words: tuple[str, ...]
    hypernyms: tuple[str, ...]


def everyday_words() -> set[str]:
    """Return SCOWL's words."""
    paths = (SCOWL / f"{spelling}-words.{size}" for spelling in SPELLINGS for size in SIZES)
    return {word for path in paths if path.exists() for word in path.read_text(encoding="latin-1").split()}


def seen_words() -> dict[str, set[str]]:
    """Map single words whose first sense in WordNet can be seen to its other words, and those of its hypernyms.

    It is the first of their usual part of speech: a miss is seldom meant by "miss", nor are a lion's young by "young".
    """
    found, usual = dict[str, set[str]](), usual_parts()
    for part, files in SEEN.items():
        synsets = {fields[0]: _synset(fields) for fields in _lines(WORDNET / f"data.{part}")}
        for word, _, _, pointers, *rest in _lines(WORDNET / f"index.{part}"):
            first = synsets[rest[int(pointers) + 2]]  # after the pointers' kinds and two numbers
            if first.file in files and re.fullmatch("[a-z]+", word) and usual.get(word, part) == part:
                above = [synsets[offset] for offset in first.hypernyms]
                found.setdefault(word, {each for synset in (first, *above) for each in synset.words} - {word})
    return found


def usual_parts() -> dict[str, str]:
    """Map words to the part of speech that they mostly are in the texts whose senses WordNet's authors marked."""
    counts: dict[str, Counter[str]] = {}
    for key, _, count in _lines(WORDNET / "cntlist.rev"):
        word, _, sense = key.partition("%")
        counts.setdefault(word, Counter())[PARTS[sense[0]]] += int(count)
    return {word: parts.most_common(1)[0][0] for word, parts in counts.items() if parts.total() >= LEAST}


def _synset(fields: Sequence[str]) -> Synset:
    """Read a line of WordNet's data: offset, file, part, number of words in base 16, words, number of pointers, …."""
    end = 4 + 2 * int(fields[3], 16)
    pointers = [fields[start : start + 2] for start in range(end + 1, end + 1 + 4 * int(fields[end]), 4)]
    return Synset(fields[1], tuple(fields[4:end:2]), tuple(offset for kind, offset in pointers if kind == "@"))


def _lines(path: Path) -> Iterator[list[str]]:
    lines = path.read_text(encoding="ascii").splitlines()
    return (line.split(" ") for line in lines if not line.startswith(" "))  # the licence is indented


def trained_words() -> set[str]:
    """Return the words of training sentences about the built-in world."""
    said = [text for label in labels() for text in label.texts] + [noun.plural for noun in all_nouns()]
    said += [" ".join(phrase) for phrase in verbs()]
    scenes, rng = sample_scenes("train", NUM_SCENES, 0), random.Random(0)
    plain = WorldSentences(scenes)
    captions = [plain.caption(row, rng) for row in range(len(scenes))]
    source = WorldSentences(scenes, 0.5, CaptionDenials(captions), plain.grammar)
    shares = dict.fromkeys(get_args(SceneDenialKind), 1.0)
    for row in range(len(scenes)):
        said += [source.caption(row, rng), source.pair(row, rng).negated or ""]
        said += [source.denial(row, shares, rng).text for _ in range(8)]
    return set(re.findall("[a-z]+", " ".join(said).lower()))


def free_words(split: Mapping[str, Sequence[str]], candidates: Collection[str]) -> list[str]:
    """Return the candidates that may get a vector without changing how trained words, with their pieces, are read."""
    pieces = {piece for each in split.values() for piece in each}
    longer = {word[:end] for word, (first, *_) in split.items() for end in range(len(first) + 1, len(word) + 1)}
    return sorted(set(candidates) - pieces - longer)


def exchanged(vocabulary: Mapping[str, int], words: Sequence[str]) -> dict[str, int]:
    """Give `words` the rows of pieces that English does not need; those left over become unused.

    Raises:
        ConfigError: if there are fewer such pieces than words.
    """
    rows = sorted(row for piece, row in vocabulary.items() if NOT_NEEDED.fullmatch(piece))
    if len(words) > len(rows):
        raise ConfigError(f"{len(words)} words need as many rows; {len(rows)} are free.")
    unused = [f"[unused{number}]" for number in range(len(rows) - len(words))]
    taken = dict(zip(rows, [*words, *unused], strict=True))
    return {taken.get(row, piece): row for piece, row in vocabulary.items()}


def vectors_of(
    words: Sequence[str],
    related: Mapping[str, Collection[str]],
    table: Tensor,
    vocabulary: Mapping[str, int],
    pieces: Tensor,
) -> Tensor:
    """Return vectors halfway between each word's own and the mean of its relatives that have one: (N, width).

    Args:
        table: token embeddings (V, width), made of MiniLM's vectors of `pieces` (V, 384) by a linear map.

    Raises:
        ConfigError: if the table was trained since then.
    """
    mapped = torch.linalg.lstsq(_with_one(pieces), table.double()).solution
    error = (_with_one(pieces) @ mapped - table).abs().max()
    if error > TOLERANCE:
        raise ConfigError(f"The token table is no longer MiniLM's: it is off by {error:.3f}.")
    model, tokenizer = load_minilm()
    with torch.inference_mode():
        own = (_with_one(model.encode_text(tokenizer(words))) @ mapped).to(table.dtype)
    found = own.clone()
    for word, vector in zip(words, found, strict=True):
        if rows := sorted(vocabulary[other] for other in related[word] if other in vocabulary):
            vector[:] = table[rows].mean(dim=0)
    vectors: Tensor = normalize(own + found) * table.norm(dim=1).mean()
    return vectors


def _with_one(vectors: Tensor) -> Tensor:
    return torch.cat([vectors.double(), torch.ones(len(vectors), 1, dtype=torch.float64)], dim=1)


def add_words(folder: Path, related: Mapping[str, Collection[str]], trained: Collection[str], pieces: Tensor) -> str:
    """Change table, tokenizer and card of a checkpoint folder in place; say how many words there are."""
    told = json.loads((folder / TOKENIZER).read_text(encoding="utf-8"))
    vocabulary: dict[str, int] = told["model"]["vocab"]
    tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
    tokenizer.no_padding()
    split = {word: tokenizer.encode(word, add_special_tokens=False).tokens for word in trained}
    words = free_words(split, related)
    new = [word for word in words if word not in vocabulary]
    told["model"]["vocab"] = changed = exchanged(vocabulary, new)
    weights = load_file(folder / WEIGHTS)
    table = weights[TABLE].float()
    table[[changed[word] for word in words]] = vectors_of(words, related, table, vocabulary, pieces)
    table[vocabulary["[UNK]"]] = 0  # what is in another script: the page says that the model has never seen it
    weights[TABLE] = table.to(weights[TABLE].dtype)
    save_file(weights, folder / WEIGHTS)
    (folder / WEIGHTS).chmod(0o644)  # safetensors writes 0600
    (folder / TOKENIZER).write_text(json.dumps(told, ensure_ascii=False, separators=(",", ":")), encoding="utf-8")
    model_cfg, _ = read_configs(folder)
    visual, text = fingerprints(weights, file_digest(folder, model_cfg["text_cfg"]))
    write_card(folder, replace(read_card(folder), visual_fingerprint=visual, text_fingerprint=text))
    return f"{folder}: {len(words)} words, {len(new)} of them new\n"


def main() -> None:
    """Add words to each checkpoint."""
    parser = arguments("dictionary", __doc__)
    parser.add_argument("folders", nargs="+", type=Path, metavar="CHECKPOINT")
    folders = parser.parse_args().folders
    everyday, trained, pieces = everyday_words(), trained_words(), embedded_pieces()
    related = {word: others & trained for word, others in seen_words().items() if word in everyday}
    related = {word: others for word, others in related.items() if others}
    for folder in folders:
        sys.stdout.write(add_words(folder, related, trained, pieces))


if __name__ == "__main__":
    main()
