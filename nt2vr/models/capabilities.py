"""What a model can do, for callers that must know before they ask it."""

from dataclasses import dataclass
from typing import NamedTuple


class VideoInputName(NamedTuple):
    """What a model reads of videos instead of frames: a kind of input, and which one of a dataset."""

    # As in `Extension.video_inputs`.
    kind: str
    name: str


@dataclass(frozen=True)
class Capabilities:
    """What a model can do. Each field says why a caller asks; the defaults are those of a CLIP.

    A card tells them before its model is loaded, see `Card.capabilities`.
    """

    # Frames have embeddings of their own, so that an explanation shows a score per frame. A model
    # without them takes clips of exactly its number of frames.
    scores_frames: bool = True
    # Embeddings depend on when each frame was, so that the length of a file is read as well.
    reads_seconds: bool = False
    # A clip takes seconds, so that a person learns what an index costs before it is made.
    is_slow: bool = False
    # A picture and a text are embedded as one query, instead of as a weighted mean of two.
    composes: bool = False
    # Frames are weighed by the query, so that scores need a clip's frames, and the texts that weigh
    # them.
    weighs_frames: bool = False
    # Videos are read as an input that an extension adds, so that no file can be decoded for the
    # model; None for frames.
    video_input: VideoInputName | None = None
    # Only the queries of a file are known, and neither their parts nor other texts, so that
    # strategies need not ask.
    given_queries_only: bool = False
    # Texts are read by a tower of tokens, from which a training can start.
    has_text_tower: bool = True

    @property
    def sees_files(self) -> bool:
        """Return True if videos are decoded for the model, which finds those that cannot be read."""
        return self.video_input is None and not self.given_queries_only

    @property
    def takes_whole_clips(self) -> bool:
        """Return True if clips have exactly the model's number of frames."""
        return self.sees_files and not self.scores_frames
