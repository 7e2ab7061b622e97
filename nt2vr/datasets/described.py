"""What annotations say about each video, before and after its file is found."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from nt2vr.datasets.base import Listing, Split
from nt2vr.datasets.lookup import Located, MediaName, suffix_of
from nt2vr.errors import DatasetError, counted


@dataclass
class DescribedVideo:
    """What the annotations say about one video.

    Attributes:
        places: where its first entry of each split stands.
    """

    first: Listing
    captions: dict[Split, list[str]] = field(default_factory=dict)
    places: dict[Split, str] = field(default_factory=dict)

    def add(self, split: Split, texts: Sequence[str], place: str) -> None:
        self.captions.setdefault(split, []).extend(texts)
        self.places.setdefault(split, place)

    def texts(self) -> Iterator[str]:
        """Yield the captions of all splits, also empty ones."""
        return chain.from_iterable(self.captions.values())

    def named_places(self) -> Iterator[str]:
        """Yield the name of each split, and where its first entry stands."""
        for split, place in self.places.items():
            yield f"{split} ({place})" if place else split


# By video id.
DescribedVideos = dict[str, DescribedVideo]


def describe_videos(listings: Sequence[Listing]) -> DescribedVideos:
    """Collect the entries of each video."""
    described: DescribedVideos = {}
    for listing in listings:
        video = described.get(listing.video_id)
        if video is None:
            video = described[listing.video_id] = DescribedVideo(listing)
        video.add(listing.split, listing.captions, listing.place)
    return described


def media_names(described: DescribedVideos) -> dict[str, MediaName]:
    """Return the names that files are looked up by."""
    names = {}
    for video_id, video in described.items():
        listing = video.first
        alias = listing.alias
        # A name without a suffix may be the address of a web page.
        if listing.file and not suffix_of(listing.file):
            alias = alias or video_id
        names[video_id] = MediaName(listing.file or video_id, listing.folder, alias)
    return names


def merge_by_file(described: DescribedVideos, located: Located) -> DescribedVideos:
    """Merge the ids of one file under the first of them; videos without a file are left out."""
    first_ids: dict[str, str] = {}
    merged = {}
    for video_id, video in described.items():
        file = located.files.get(video_id)
        if file is None:
            continue
        first_id = first_ids.setdefault(file, video_id)
        if first_id == video_id:
            merged[video_id] = video
            continue
        for split, texts in video.captions.items():
            merged[first_id].add(split, texts, video.places[split])
    return merged


def check_splits(name: str, described: Mapping[str, DescribedVideo]) -> None:
    """Refuse clips that are in two splits: what was trained on would be evaluated."""
    shared = [video_id for video_id, video in described.items() if len(video.captions) > 1]
    if not shared:
        return

    clip = shared[0]
    video = described[clip]
    file = video.first.file
    if file not in ("", clip):
        clip = f"{clip} ({file})"
    places = " and ".join(video.named_places())
    more = ""
    if len(shared) > 1:
        more = f", and {counted(len(shared) - 1, 'other video')} too"
    raise DatasetError(
        f"{name} cannot be used: {clip} is in two splits, {places}{more}. "
        "Remove it from all splits but one."
    )
