"""Reference chips of a query: gallery clips and uploads, held by the browser; what it sends is checked here."""

import base64
import io
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import lru_cache, partial
from pathlib import Path
from threading import BoundedSemaphore

import numpy as np
from numpy.typing import NDArray

from nt2vr.errors import BusyError, MediaError, Nt2vrError, listed
from nt2vr.library.galleries import Galleries
from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import Video
from nt2vr.media.picture import write_jpeg
from nt2vr.media.resize import shrunk
from nt2vr.negation.parse.query import Query
from nt2vr.search.answers import Answer
from nt2vr.search.judge import Verdict
from nt2vr.search.plan import CONCURRENT
from nt2vr.search.references import Reference, check_number
from nt2vr.search.searcher import Searcher
from nt2vr.search.strategies import STRATEGIES
from nt2vr.ui.library.media import Media
from nt2vr.ui.search.state import Chosen, ChosenReferences
from nt2vr.ui.view import View
from nt2vr.ui.web.inputs import MAX_PICTURE_MB, is_too_large, is_upload

# Uploads that are decoded at a time, so that searches without uploads need not wait.
MAX_DECODING = CONCURRENT // 2
# Decoded uploads, for the next search with them; a video's frames take at most 6.5 MB.
CACHED = 8
# Pixels of the short and the long side of a chip's picture.
THUMB = (96, 160)
RIGHT_BESIDE = (
    "✓ next to a reference: the clip shows what the text says, and the reference's other actors do "
    "the same as in the reference; the place may differ."
)
NONE_RIGHT = (
    "With these references, no clip gets a ✓: it is not known what else a clip would have to show."
)
Frames = tuple[NDArray[np.uint8], ...]


def beside(chosen: ChosenReferences, gallery: str, answer: Answer) -> View:
    """Explain the verdicts next to wanted references, instead of how captions judge."""
    wanted = [reference for reference in chosen if reference.wanted]
    if not wanted or not answer.has_verdicts:
        return {}
    is_clip = len(wanted) == 1 and wanted[0].clip and wanted[0].gallery == gallery
    is_known = is_clip and not answer.judged_by
    return {"verdict_notice": RIGHT_BESIDE if is_known else NONE_RIGHT}


def remark(searcher: Searcher, answer: Answer, chosen: ChosenReferences) -> str:
    """Warn of a single wanted reference that may show what the text excludes, for systems that cannot subtract it.

    Without a wanted reference, an unwanted one cannot undo that the sentence names the thing.
    """
    wanted = [reference for reference in chosen if reference.wanted]
    if chosen and not wanted:
        return _unwanted_remark(answer)
    # These search for the picture with all that it shows.
    whole_picture = []
    for ranking in answer.rankings:
        if not STRATEGIES[ranking.system.strategy].needs_picture:
            whole_picture.append(ranking.system.name)
    if len(wanted) != 1 or not whole_picture:
        return ""
    verdict = None
    # It may not be a clip of this gallery.
    with suppress(Nt2vrError):
        verdict = searcher.judge(answer.query, searcher.video(wanted[0].clip))
    if len(whole_picture) == len(answer.rankings):
        whole_picture = []
    return _picture_remark(answer.query, verdict, whole_picture)


def _picture_remark(query: Query, verdict: Verdict | None, systems: Sequence[str]) -> str:
    """Warn that a picture is searched for with all that it shows, unless its verdict says nothing of it is unwanted.

    Args:
        systems: names of those that do so; empty for all.
    """
    if not query.unwanted or verdict in ("right", "miss"):
        return ""
    by_systems = f" by {listed(*systems)}" if systems else ""
    as_a_whole = f"searched for as a whole{by_systems}"
    parts = " or ".join(f"“{part}”" for part in query.unwanted)
    if verdict is None:
        return f"The picture is {as_a_whole}, with {parts} if it shows that."
    return f"The picture shows {parts}, which the text excludes: it is {as_a_whole}."


def _unwanted_remark(answer: Answer) -> str:
    """Say which systems still find what an unwanted picture shows, because their sentence names it."""
    names = []
    for ranking in answer.rankings:
        system = ranking.system
        searches_sentence = system.strategy == "plain" or STRATEGIES[system.strategy].needs_picture
        if searches_sentence and ranking.counts["violation"]:
            names.append(system.name)
    if not names or not answer.query.unwanted:
        return ""
    parts = listed(*(f"“{part}”" for part in answer.query.unwanted))
    verb = "searches" if len(names) == 1 else "search"
    return (
        f"{listed(*names)} {verb} for the sentence, which names {parts}: an unwanted picture of it "
        "weighs less. Search for what you want instead, or choose a strategy."
    )


class References:
    """Resolves references, and shows them; the decoder reads uploads, which are untrusted."""

    def __init__(self, galleries: Galleries, media: Media, decoder: Decoder) -> None:
        self._galleries = galleries
        self._media = media
        self._decoder = decoder
        self._decoded = lru_cache(CACHED)(self._decode)
        self._free = BoundedSemaphore(MAX_DECODING)

    def resolve(self, chosen: ChosenReferences, gallery: str) -> tuple[Reference, ...]:
        """Return references for a search of a gallery; a clip of another one becomes its middle frame."""
        searched = self._galleries.key(gallery)
        return tuple(self._resolve(reference, searched) for reference in chosen)

    def _resolve(self, chosen: Chosen, searched: str) -> Reference:
        reference = partial(Reference, weight=chosen.weight, wanted=chosen.wanted)
        if chosen.path:
            return reference(self._frames(chosen.path))
        video = self._clip(chosen)
        gallery = self._galleries.key(chosen.gallery)
        if gallery == searched:
            return reference(video_id=video.video_id)
        return reference((self._middle_frame(gallery, video),))

    def _clip(self, chosen: Chosen) -> Video:
        return self._galleries.searcher(chosen.gallery).video(chosen.clip)

    def _middle_frame(self, gallery: str, video: Video) -> NDArray[np.uint8]:
        """Return the middle frame of a clip; of a library, it is the clip's poster."""
        if gallery:
            previews = self._media.libraries.previews(gallery, self._decoder)
            return self._decoder.picture(previews.poster(video))
        frames = self._decoder.frames(video.path, 1, None, video.root).result()
        return np.asarray(frames[0], np.uint8)

    def _frames(self, path: str) -> Frames:
        if not is_upload(path):
            raise MediaError(
                "There is no such picture or video among the uploaded files. Add it again."
            )
        if is_too_large(path):
            raise MediaError(f"A picture or video may have {MAX_PICTURE_MB} MB. Add a smaller one.")
        return self._decoded(Path(path))

    def _decode(self, path: Path) -> Frames:
        """Decode a picture or video, unless so many are decoded that searches would have to wait."""
        if not self._free.acquire(blocking=False):
            raise BusyError(
                "Pictures of other visitors are being read. Try again in a few seconds."
            )
        try:
            return self._decoder.reference(path)
        finally:
            self._free.release()

    def with_uploads(self, chosen: ChosenReferences, paths: Sequence[str]) -> ChosenReferences:
        """Add uploaded files; a MediaError if one of them is neither a picture nor a video."""
        check_number(len(chosen) + len(paths))
        for path in paths:
            # The browser could not upload it.
            if not path:
                raise MediaError(
                    f"A picture or video may have {MAX_PICTURE_MB} MB: this could not be uploaded."
                )
            self._frames(path)
        return (*chosen, *(Chosen(path=path) for path in paths))

    def view(self, chosen: ChosenReferences) -> View:
        """Show references as chips, each with a picture and a name."""
        return {"references": [self._chip(reference) for reference in chosen]}

    def _chip(self, chosen: Chosen) -> View:
        if chosen.path:
            name = Path(chosen.path).name
            poster = self._thumbnail(chosen.path)
        else:
            video = self._clip(chosen)
            name = next(iter(video.captions), "") or video.path.name
            poster = self._media.urls(chosen.gallery, video)["poster"]
        percent = round(100 * chosen.weight)
        return {**asdict(chosen), "percent": percent, "name": name, "poster": poster}

    def _thumbnail(self, path: str) -> str:
        """Return the middle frame of an upload as a small picture's data address."""
        frames = self._frames(path)
        jpeg = io.BytesIO()
        write_jpeg(shrunk(frames[len(frames) // 2], THUMB), jpeg)
        return f"data:image/jpeg;base64,{base64.b64encode(jpeg.getvalue()).decode()}"

    def existing(self, chosen: ChosenReferences) -> ChosenReferences:
        """Leave out clips that no longer exist, as happens with old links."""
        existing = []
        for reference in chosen:
            with suppress(Nt2vrError):
                self._clip(reference)
                existing.append(reference)
        return tuple(existing)
