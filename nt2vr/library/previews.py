"""Posters and previews of clips, that every browser shows whatever the format of the original."""

from pathlib import Path

from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import Video


class Previews:
    """JPEG posters and muted VP9 previews in one folder, made in the decoder's children.

    Names depend on the clip's content alone, so browsers may cache them for ever.

    Args:
        folder: created when first written to.
        decoder: its children read the clips.
    """

    def __init__(self, folder: Path, decoder: Decoder) -> None:
        """Make nothing yet."""
        self.folder, self._decoder = folder, decoder

    def poster(self, video: Video) -> Path:
        """Return the JPEG of a clip's middle frame, at most 224 pixels on its short side; made if it is missing.

        Raises:
            MediaError: if the clip cannot be decoded, or the disk is full.
        """
        raise NotImplementedError

    def preview(self, video: Video) -> Path:
        """Return a WebM of a clip, 224 pixels on its short side, at most 10 s, muted; made if it is missing.

        Raises:
            MediaError: if the clip cannot be decoded, or the disk is full.
        """
        raise NotImplementedError

    def has(self, video: Video) -> bool:
        """Whether both are there already."""
        raise NotImplementedError
