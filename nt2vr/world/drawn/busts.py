"""Busts: heads and garments of people, from OpenMoji's pictures, which are taken apart."""

import re
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from nt2vr.world.drawn.canvas import Box, drawing, ink, positioned, recoloured

# The usual colour of OpenMoji's people and smileys.
YELLOW = "#FCEA2B"
# Colours of skin by the ending of a picture's code. Darker ones would hide the black outlines.
SKINS = {"": YELLOW, "-1F3FB": "#FADCBC", "-1F3FD": "#BF8F68"}
BLOND = "#F1B31C"
# Plain busts are drawn blond.
HAIRS = (BLOND, "#A57939", "#6A462F", "#E27022")
PLAIN_SHIRT = "#92D3F5"
# Y of the chin.
CHIN = 45.0
# The width of a trunk, as a share of that of a bust.
SQUEEZE = 0.68
TORSO = "M36 47C31 47 27 48 26.5 53L25 69Q25 72 28 72H44Q47 72 47 69L45.5 53C45 48 41 47 36 47Z"
# Pictures of a head alone.
FACES = frozenset({"1F916", "1F921", "1F47D", "1F47B"})
_ELEMENT = re.compile(r"<(path|circle|line|ellipse|rect|polygon|polyline)\b[^>]*?/>")
_FILL = re.compile(r'fill="(#[0-9A-Fa-f]{6})"')
_BLACK = {"#000000", "#000"}


@dataclass(frozen=True)
class Look:
    """How a person looks.

    Attributes:
        head: SVG content; the chin is at (36, CHIN).
        trunk: SVG content: the collar is at (36, 47), the hips at (36, 72).
        shirt: colour, as the others.
        trousers: of the legs.
        skin: of hands and face.
        skirt: whether it wears one, in the colour of the shirt.
    """

    head: str
    trunk: str
    shirt: str
    trousers: str
    skin: str
    skirt: bool = False


class _Bust(NamedTuple):
    head: str
    garment: str


@cache
def _split(svg: str) -> _Bust:
    """Split a bust into its head and its garment, without things beside it."""
    bust = _with_elements(svg, lambda box: abs(box.left + box.right - 72) <= 28 and box.width <= 50)
    return _Bust(
        head=_with_elements(bust, lambda box: not _is_of_garment(box)),
        garment=_with_elements(bust, _is_of_garment),
    )


def _is_of_garment(box: Box) -> bool:
    is_low = box.top + box.bottom > 2 * 46.5
    reaches_down = box.bottom >= 55.5 and box.top > 30
    return is_low or reaches_down


def _with_elements(svg: str, keeps: Callable[[Box], bool]) -> str:
    """Return a picture with only those of its elements whose boxes are to be kept."""
    return _ELEMENT.sub(lambda match: match[0] if keeps(ink(match[0])) else "", svg)


def _bust_of_face(svg: str) -> _Bust:
    """Return a head of the size of a bust's from the picture of a head alone."""
    box = ink(svg)
    size = 36 / box.height
    head = positioned(svg, size, (box.middle_x, box.bottom), to=(36, CHIN + 1))
    return _Bust(head, garment="")


def _largest_colour(garment: str) -> str:
    """Return the colour of the largest area of a garment."""
    areas = defaultdict[str, float](float)
    for element in _ELEMENT.finditer(garment):
        fill = _FILL.search(element[0])
        if fill:
            colour = fill[1].upper()
            areas[colour] += ink(element[0]).area
    return max(areas, key=areas.__getitem__, default=PLAIN_SHIRT)


def _is_plain(garment: str, colour: str) -> bool:
    """Return whether a garment is the usual shirt, which may have any colour."""
    fills = set(re.findall(r'fill="(#[^"]*)"', garment)) - _BLACK
    return colour == PLAIN_SHIRT and len(fills) < 2


@cache
def look(picture: str, shirt: str, skin: str, hair: str, trousers: str, skirt: bool) -> Look:
    """Take a bust apart, by its code without a skin tone, and dress it.

    Blond hair and plain shirts are tinted.
    """
    first, *rest = picture.split("-", 1)
    try:
        svg = drawing("-".join([first + skin, *rest]))
    except FileNotFoundError:
        svg = drawing(picture)
        skin = ""
    bust = _bust_of_face(svg) if picture in FACES else _split(svg)

    colour = _largest_colour(bust.garment)
    head = bust.head
    worn = ""
    if _is_plain(bust.garment, colour):
        colour = shirt
        head = recoloured(head, BLOND, hair)
    else:
        middle = 36 - 36 * SQUEEZE
        place = f"translate({middle} -0.5) scale({SQUEEZE} 1)"
        worn = f'<g transform="{place}">{bust.garment}</g>'
    return Look(
        head=head,
        trunk=_trunk(colour, worn),
        shirt=colour,
        trousers=trousers,
        skin=SKINS[skin],
        skirt=skirt,
    )


def _trunk(colour: str, worn: str) -> str:
    """Return a trunk in a colour, with a garment cut to its shape."""
    return (
        f'<defs><clipPath id="trunk"><path d="{TORSO}"/></clipPath></defs>'
        f'<path d="{TORSO}" fill="{colour}"/>'
        f'<g clip-path="url(#trunk)">{worn}</g>'
        f'<path d="{TORSO}" fill="none" stroke="#000" stroke-width="2"/>'
    )


@cache
def with_mood(head: str, skin: str, face: str) -> str:
    """Return a head with the features of a smiley, a picture that is a yellow disc with a face."""
    # The disc is larger than what is on it.
    parts = _with_elements(drawing(face), lambda box: min(box.width, box.height) <= 40)
    features = recoloured(parts, YELLOW, skin)
    place = "translate(36 34) scale(0.74) translate(-36 -37)"
    return (
        f'{head}<ellipse cx="36" cy="34.5" rx="11" ry="10.6" fill="{skin}"/>'
        f'<g transform="{place}">{features}</g>'
    )
