"""Reference chips of a query: gallery clips, and uploaded pictures and videos.

The browser holds them; everything that it sends is checked here.
"""

import base64
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nt2vr.errors import ConfigError, MediaError, Nt2vrError
from nt2vr.media.decode import Decoder
from nt2vr.media.picture import shrunk, write_jpeg
from nt2vr.search.answers import Answer
from nt2vr.search.galleries import Galleries
from nt2vr.search.references import DEFAULT_WEIGHT, Reference, check_number
from nt2vr.search.searcher import Searcher
from nt2vr.ui.library.media import Media
from nt2vr.ui.search.view import picture_remark
from nt2vr.ui.web.request_checks import MAX_PICTURE_MB, MB
from nt2vr.ui.web.uploads import is_upload

KEPT = 8  # decoded uploads, for the next search with them; a video's frames take at most 6.5 MB
THUMB = (96, 160)  # pixels of the short and the long side
REFUSED = "The request was refused: its references are not of the page's form."
RIGHT_BESIDE = (
    "✓ next to a reference: as the text says, and its other actors do what they do there; the place is free."
)
NONE_RIGHT = (
    "Next to these references, clips can violate the text or miss what it wants, but none can be called right."
)
Frames = tuple[NDArray[np.uint8], ...]


@dataclass(frozen=True)
class Chosen:
    """A reference as the browser names it.

    Attributes:
        clip: id of a clip; empty for an upload.
        gallery: key of the clip's gallery.
        path: of an upload.
        weight: 0 to 1.
        wanted: False for "less like this".
    """

    clip: str = ""
    gallery: str = ""
    path: str = ""
    weight: float = DEFAULT_WEIGHT
    wanted: bool = True


def read_chosen(value: Any) -> tuple[Chosen, ...]:
    """Check what a browser sent as references.

    Raises:
        ConfigError: if it is of another form, too many, or a weight is not 0 to 1.
    """
    sent = value.get("references", []) if isinstance(value, Mapping) else None
    if not isinstance(sent, list):
        raise ConfigError(REFUSED)
    check_number(len(sent))
    return tuple(map(_read_one, sent))


def _read_one(sent: Any) -> Chosen:
    if not isinstance(sent, Mapping):
        raise ConfigError(REFUSED)
    clip, gallery, path = texts = [sent.get(name, "") for name in ("clip", "gallery", "path")]
    weight, wanted = sent.get("weight", DEFAULT_WEIGHT), sent.get("wanted", True)
    is_weight = type(weight) in (int, float) and 0 <= weight <= 1
    if not all(isinstance(text, str) for text in texts) or not is_weight or not isinstance(wanted, bool):
        raise ConfigError(REFUSED)
    if bool(clip) == bool(path):
        raise ConfigError(REFUSED)
    return Chosen(clip, gallery, path, float(weight), wanted)


def with_clip(chosen: Sequence[Chosen], clip: str, gallery: str, wanted: bool) -> tuple[Chosen, ...]:
    """Add a clip; one that is a reference already becomes wanted or unwanted."""
    found = next((each for each in chosen if (each.clip, each.gallery) == (clip, gallery)), None)
    if found is not None:
        return tuple(replace(each, wanted=wanted) if each is found else each for each in chosen)
    check_number(len(chosen) + 1)
    return (*chosen, Chosen(clip, gallery, wanted=wanted))


def beside(chosen: Sequence[Chosen], gallery: str, answer: Answer) -> dict[str, str]:
    """Explain the verdicts of an answer next to wanted references, in the place of how captions judge."""
    wanted = [each for each in chosen if each.wanted]
    if not wanted or not answer.has_verdicts:
        return {}
    is_known = len(wanted) == 1 and wanted[0].clip and wanted[0].gallery == gallery and not answer.judged_by
    return {"by_captions": RIGHT_BESIDE if is_known else NONE_RIGHT}


def remark(searcher: Searcher, answer: Answer, chosen: Sequence[Chosen]) -> str:
    """Remark on a single wanted reference that may show what the text excludes, for systems that take it whole."""
    wanted = [each for each in chosen if each.wanted]
    names = [ranking.system.name for ranking in answer.rankings]
    whole = [r.system.name for r in answer.rankings if r.system.strategy not in ("parts", "fusion")]
    if len(wanted) != 1 or not whole:
        return ""
    try:
        verdict = searcher.judge(answer.query, searcher.video(wanted[0].clip))
    except Nt2vrError:  # no clip of this gallery
        verdict = None
    return picture_remark(answer.query, verdict, whole if whole != names else ())


class References:
    """Resolves references, and shows them.

    Args:
        galleries: have the clips.
        media: knows their URLs, and has stills of libraries' clips.
        decoder: decodes uploads, which are untrusted.
    """

    def __init__(self, galleries: Galleries, media: Media, decoder: Decoder) -> None:
        """Nothing is decoded yet."""
        self._galleries, self._media, self._decoder = galleries, media, decoder
        self._decoded = lru_cache(KEPT)(decoder.reference)

    def resolve(self, chosen: Sequence[Chosen], gallery: str) -> tuple[Reference, ...]:
        """Return references for a search of a gallery; clips of another one are seen by their middle frame.

        Raises:
            ConfigError: if there is no such clip or gallery.
            MediaError: if an upload is gone or cannot be read.
        """
        return tuple(self._resolved(each, self._galleries.key(gallery)) for each in chosen)

    def _resolved(self, chosen: Chosen, gallery: str) -> Reference:
        if chosen.path:
            return Reference(self._frames(chosen.path), "", chosen.weight, chosen.wanted)
        key = self._galleries.key(chosen.gallery)
        video = self._galleries.searcher(key).video(chosen.clip)
        if key == gallery:
            return Reference((), video.video_id, chosen.weight, chosen.wanted)
        return Reference((self.middle_frame(key, chosen.clip),), "", chosen.weight, chosen.wanted)

    def middle_frame(self, gallery: str, video_id: str) -> NDArray[np.uint8]:
        """Return a clip's middle frame."""
        video = self._galleries.searcher(gallery).video(video_id)
        if gallery:
            return self._decoder.picture(self._media.still(gallery, video))
        frames = self._decoder.frames(video.path, 1, None).result()
        return np.asarray(frames[0], np.uint8)

    def _frames(self, path: str) -> Frames:
        if not is_upload(path):
            raise MediaError("There is no such picture or video among the uploaded files. Add it again.")
        if Path(path).stat().st_size > MAX_PICTURE_MB * MB:
            raise MediaError(f"A picture or video may have {MAX_PICTURE_MB} MB. Add a smaller one.")
        return self._decoded(Path(path))

    def with_uploads(self, chosen: Sequence[Chosen], paths: Sequence[str]) -> tuple[Chosen, ...]:
        """Add uploaded files that can be read.

        Raises:
            ConfigError: if these are too many.
            MediaError: if one of them is no picture and no video.
        """
        check_number(len(chosen) + len(paths))
        for path in paths:
            if not path:  # the browser could not upload it
                raise MediaError(f"A picture or video may have {MAX_PICTURE_MB} MB: this could not be uploaded.")
            self._frames(path)
        return (*chosen, *(Chosen(path=path) for path in paths))

    def view(self, chosen: Sequence[Chosen]) -> dict[str, Any]:
        """Show references as chips, each with a picture and a name."""
        return {"references": [self._chip(each) for each in chosen]}

    def known(self, chosen: Sequence[Chosen]) -> tuple[Chosen, ...]:
        """Leave out clips that are not there any more, as those of an old link may be."""
        return tuple(each for each in chosen if self._is_known(each))

    def _is_known(self, chosen: Chosen) -> bool:
        try:
            self._galleries.searcher(chosen.gallery).video(chosen.clip)
        except Nt2vrError:
            return False
        return True

    def _chip(self, chosen: Chosen) -> dict[str, Any]:
        chip = {
            "clip": chosen.clip,
            "gallery": chosen.gallery,
            "path": chosen.path,
            "weight": chosen.weight,
            "wanted": chosen.wanted,
            "percent": round(100 * chosen.weight),
        }
        if chosen.path:
            return {**chip, "name": Path(chosen.path).name, "poster": _thumb(self._frames(chosen.path)), "src": ""}
        video = self._galleries.searcher(chosen.gallery).video(chosen.clip)
        urls = self._media.urls(chosen.gallery, video)
        name = next(iter(video.captions), "") or video.path.name
        return {**chip, "name": name, "poster": urls.get("poster", ""), "src": urls["src"]}


def _thumb(frames: Frames) -> str:
    """Return the middle frame as a small data URL."""
    content = io.BytesIO()
    write_jpeg(shrunk(frames[len(frames) // 2], THUMB), content)
    return f"data:image/jpeg;base64,{base64.b64encode(content.getvalue()).decode()}"
