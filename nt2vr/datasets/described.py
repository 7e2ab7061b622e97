"""What annotations say about each video, before and after its file is found."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from nt2vr.datasets.base import Listing, Split
from nt2vr.datasets.lookup import Located, MediaName, suffix_of
from nt2vr.errors import DatasetError, counted


@dataclass
class Described:
    """What the annotations say about one video."""

    first: Listing
    captions: dict[Split, list[str]] = field(default_factory=dict)
    places: dict[Split, str] = field(default_factory=dict)  # first entry in each split

    def add(self, other: "Described") -> None:
        """Add what is said about the same video under another id."""
        for split, texts in other.captions.items():
            self.captions.setdefault(split, []).extend(texts)
            self.places.setdefault(split, other.places[split])


def _described(listings: Sequence[Listing]) -> dict[str, Described]:
    """Collect the entries of each video."""
    described: dict[str, Described] = {}
    for listing in listings:
        entry = described.get(listing.video_id)
        if entry is None:
            entry = described[listing.video_id] = Described(listing)
        entry.captions.setdefault(listing.split, []).extend(listing.captions)
        entry.places.setdefault(listing.split, listing.place)
    return described


def _media_names(described: Mapping[str, Described]) -> dict[str, MediaName]:
    """Return the names that files are looked up by."""
    names = {}
    for video_id, entry in described.items():
        listing = entry.first
        alias = listing.alias
        if listing.file and not suffix_of(listing.file):  # perhaps the address of a web page
            alias = alias or video_id
        names[video_id] = MediaName(listing.file or video_id, listing.folder, alias)
    return names


def _by_file(described: Mapping[str, Described], located: Located) -> dict[str, Described]:
    """Leave videos without a file out, and take several ids of one file as one video, under its first id."""
    first_ids: dict[str, str] = {}
    videos: dict[str, Described] = {}
    for video_id, entry in described.items():
        file = located.files.get(video_id)
        if file is None:
            continue
        first_id = first_ids.setdefault(file, video_id)
        if first_id == video_id:
            videos[video_id] = entry
        else:
            videos[first_id].add(entry)
    return videos


def _check_splits(name: str, described: Mapping[str, Described]) -> None:
    """Refuse clips that are in two splits: what was trained on would be evaluated."""
    shared = [video_id for video_id, entry in described.items() if len(entry.captions) > 1]
    if not shared:
        return
    entry = described[shared[0]]
    file = entry.first.file
    clip = f"{shared[0]} ({file})" if file not in ("", shared[0]) else shared[0]
    places = [f"{split} ({place})" if place else split for split, place in entry.places.items()]
    others = f", and {counted(len(shared) - 1, 'other video')} too" if len(shared) > 1 else ""
    raise DatasetError(
        f"{name} cannot be used: {clip} is in two splits, {' and '.join(places)}{others}. "
        "Remove it from all splits but one."
    )


def _texts(entry: Described) -> Iterator[str]:
    for texts in entry.captions.values():
        yield from texts
