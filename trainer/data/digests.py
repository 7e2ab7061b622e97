"""Digests of training data, by which a resumed run notices that its clips or captions have changed."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from hashlib import blake2b

from trainer.data.clips import Clips
from trainer.inputs.base import AnyInput, Inputs

# A hash of everything that batches and measures take from a clip, for all clips of each split.
Digests = Mapping[str, tuple[int, ...]]


def digests_of(training: Clips, validation: Clips, inputs: Inputs) -> Digests:
    """Hash the clips of both splits, with their captions, and what the losses' inputs know of the training clips.

    Captions that are generated as they are drawn have no digests.
    """
    digests = {}
    if training.num_captions:
        digests["train"] = _digests(training, inputs)
    if validation.num_captions:
        digests["validation"] = _digests(validation, ())
    return digests


def _digests(clips: Clips, inputs: Iterable[AnyInput]) -> tuple[int, ...]:
    hashes = []
    for row in range(len(clips)):
        clip_id = clips.ids[row] if clips.ids else ""
        vector = b""
        if clips.vectors is not None:
            vector = clips.vectors[row].tobytes()
        vector_hash = blake2b(vector, digest_size=8).hexdigest()
        captions = clips.all_captions([row])
        known_texts = []
        for loss_input in inputs:
            known_texts += loss_input.known_texts(row)
        hashes.append(digest(clip_id, vector_hash, captions, known_texts))
    return tuple(hashes)


def digest(*contents: object) -> int:
    """Hash texts, or lists of texts, in 63 bits."""
    text = json.dumps(contents, ensure_ascii=False)
    hashed = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(hashed) >> 1


def _count_clips(digests: Digests) -> Counter[tuple[str, int]]:
    clips: Counter[tuple[str, int]] = Counter()
    for split, hashes in digests.items():
        clips.update((split, clip) for clip in hashes)
    return clips


def difference(before: Digests, now: Digests) -> str:
    """Say in how many clips two versions of some data differ; "" if they are the same."""
    if dict(before) == dict(now):
        return ""
    old = _count_clips(before)
    new = _count_clips(now)
    num_different = max((old - new).total(), (new - old).total())
    if not num_different:
        return "its clips are in another order"
    num_clips = max(old.total(), new.total())
    return f"{num_different:,} of {num_clips:,} clips or their captions differ"
