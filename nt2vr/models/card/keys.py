"""What version 0.2.0 named stored embeddings by, and how that follows from a card's `visual_key`."""

from typing import NamedTuple


class StoredNames(NamedTuple):
    """The parts of a visual key; folders, files and indexes of embeddings are named by them, as in 0.2.0.

    Attributes:
        tower: what the embedding of a frame depends on: hashes of weights and settings, in words.
        frames: number of frames per video.
        pooling: name of the pooling, with the hash of its weights if it learns; fit to be the name
            of a file.
    """

    tower: str
    frames: str
    pooling: str

    @classmethod
    def of(cls, visual_key: str) -> "StoredNames":
        """Return the parts of a key: of "1ce4 d971 4 mean", the tower "1ce4 d971", "4" frames, and "mean"."""
        return cls(*visual_key.rsplit(" ", 2))

    @property
    def of_frames(self) -> str:
        """Name of frame embeddings, which models that pool differently share."""
        return f"{self.tower} {self.frames}"

    @property
    def of_given_frames(self) -> str:
        """Name of pooled embeddings of frames whose own name says how many they are."""
        return f"{self.tower} {self.pooling}"
