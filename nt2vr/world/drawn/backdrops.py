"""Backdrops as SVG: sky, ground and fixed scenery, never mentioned in captions."""

from nt2vr.world.drawn.sprites import UNITS, picture

SIZE = 224
HORIZON = 0.58  # top of the ground, as a share of the height

# place -> colours of sky top, sky bottom and ground, then pictures on the horizon: (code, size in pixels)
_PLACES: dict[str, tuple[str, str, str, tuple[tuple[str, int], ...]]] = {
    "beach": ("#87CEFA", "#DFF3FF", "#F2D98B", (("1F334", 84), ("1F334", 70))),
    "park": ("#9AD7FF", "#E5F6FF", "#7BC45A", (("1F333", 84), ("26F2", 66), ("1F333", 84))),
    "street": ("#B9C4D6", "#E4E8EE", "#7C7F86", (("1F3D9", 110), ("1F6A6", 56), ("1F3D9", 110))),
    "mountain": ("#A9C8E8", "#EAF4FF", "#FFFFFF", (("1F3D4", 110), ("1F332", 70), ("1F3D4", 110))),
    "room": ("#F3E3C8", "#F7EEDD", "#B98A5A", (("1F6CB", 96), ("1FA9F", 64))),
    "kitchen": ("#FFF3D6", "#FFF9EA", "#C9C9C9", (("1F374", 46), ("1FAD6", 62))),
    "gym": ("#C9D3DE", "#DDE4EC", "#C58B4A", (("1F94A", 48), ("1F945", 70))),
    "stage": ("#2E1747", "#7A3E8E", "#A1582D", (("1F3AD", 60),)),
    "desert": ("#FFD9A0", "#FFEFD0", "#E2B56B", (("1F335", 76), ("1F3DC", 96))),
    "lake": ("#A7DCF7", "#DDF3FC", "#B7C98B", (("1F3DE", 110), ("1F332", 60), ("1F3DE", 110))),
    "farm": ("#BDE3FF", "#EAF6FF", "#A9B84C", (("1F3E0", 76), ("1F33E", 60), ("1F33E", 60))),
    "golf": ("#BFE6FF", "#EDF8FF", "#4FA34A", (("26F3", 76), ("1F333", 76))),
    "forest": ("#7FA98A", "#CFE3CF", "#5B7F3A", (("1F332", 92), ("1F332", 110), ("1F332", 84), ("1F332", 100))),
}

_EXTRA = {  # drawn between the ground and the pictures
    "beach": '<rect y="118" width="224" height="22" fill="#4FA9DC"/>',
    "street": "".join(f'<rect x="{x}" y="172" width="26" height="5" fill="#EDEDED"/>' for x in range(6, 224, 56)),
    "stage": (
        '<path d="M0 0H40Q34 70 10 130H0Z" fill="#B3212F"/><path d="M224 0H184Q190 70 214 130H224Z" fill="#B3212F"/>'
        '<path d="M60 0L20 224H110ZM164 0L204 224H114Z" fill="#FFF4C0" opacity=".16"/>'
    ),
    "kitchen": '<rect y="122" width="224" height="10" fill="#A9825A"/>',
    "lake": '<rect y="124" width="224" height="34" fill="#6BB5E0"/>',
    "gym": '<rect y="126" width="224" height="5" fill="#8C97A5"/>',
}


def backdrop_svg(place: str, variant: int) -> str:
    """Return the SVG of a place; `variant` (0 to 3) reverses and shifts its pictures."""
    top, bottom, ground, standing = _PLACES[place]
    horizon = HORIZON * SIZE
    if variant % 2:
        standing = standing[::-1]
    shift = 10 if variant >= 2 else -6
    step = SIZE / len(standing)
    pictures = ""
    for index, (code, size) in enumerate(standing):
        x = (index + 0.5) * step - size / 2 + shift
        pictures += picture(code, x, horizon + 6 - 0.87 * size, size / UNITS)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {SIZE} {SIZE}">'
        f'<defs><linearGradient id="sky" x2="0" y2="1">'
        f'<stop stop-color="{top}"/><stop offset="1" stop-color="{bottom}"/></linearGradient></defs>'
        f'<rect width="{SIZE}" height="{SIZE}" fill="url(#sky)"/>'
        f'<rect y="{horizon}" width="{SIZE}" height="{SIZE - horizon}" fill="{ground}"/>'
        f"{_EXTRA.get(place, '')}{pictures}</svg>"
    )
