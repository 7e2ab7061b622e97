"""Looks: people from OpenMoji's busts, taken apart into a head and a garment, and bodies for animals that lack one."""

import re
from dataclasses import dataclass
from functools import cache

from nt2vr.world.drawn.sprites import drawing, ink, recoloured

SKINS = {"": "#FCEA2B", "-1F3FB": "#FADCBC", "-1F3FD": "#BF8F68"}  # darker tones hide the black outlines
HAIRS = ("#F1B31C", "#A57939", "#6A462F", "#E27022")  # plain busts are drawn blond
PLAIN_SHIRT = "#92D3F5"
CHIN, SQUEEZE = 45.0, 0.68  # y of the chin, and how much narrower a trunk is than a bust
TRUNK = "M36 47C31 47 27 48 26.5 53L25 69Q25 72 28 72H44Q47 72 47 69L45.5 53C45 48 41 47 36 47Z"
FACES = frozenset({"1F916", "1F921", "1F47D", "1F47B"})  # pictures of a head alone
_ELEMENT = re.compile(r"<(path|circle|line|ellipse|rect|polygon|polyline)\b[^>]*?/>")


@dataclass(frozen=True)
class Look:
    """A person's parts."""

    head: str  # SVG content; the chin is at (36, CHIN)
    trunk: str  # SVG content: the collar is at (36, 47), the hips at (36, 72)
    shirt: str
    trousers: str
    skin: str
    skirt: bool = False


def _part(element: str) -> str:
    """Tell whether an element of a bust belongs to its "head", its "garment", or is a thing "beside" it."""
    left, top, right, bottom = ink(element)
    if abs(left + right - 72) > 28 or right - left > 50:
        return "beside"
    return "garment" if top + bottom > 2 * 46.5 or (bottom >= 55.5 and top > 30) else "head"


@cache
def _split(svg: str) -> tuple[str, str]:
    parts = {m[0]: _part(m[0]) for m in _ELEMENT.finditer(svg)}

    def kept(wanted: str) -> str:
        return _ELEMENT.sub(lambda m: m[0] if parts[m[0]] == wanted else "", svg)

    return kept("head"), kept("garment")


def _as_head(svg: str) -> str:
    left, top, right, bottom = ink(svg)
    size = 36 / (bottom - top)
    x, y = 36 - (left + right) / 2 * size, CHIN + 1 - bottom * size
    return f'<g transform="translate({x} {y}) scale({size})">{svg}</g>'


def _main_colour(garment: str) -> str:
    """Return the colour that fills most of a garment."""
    areas: dict[str, float] = {}
    for match in _ELEMENT.finditer(garment):
        if fill := re.search(r'fill="(#[0-9A-Fa-f]{6})"', match[0]):
            left, top, right, bottom = ink(match[0])
            colour = fill[1].upper()
            areas[colour] = areas.get(colour, 0) + (right - left) * (bottom - top)
    return max(areas, key=areas.__getitem__, default=PLAIN_SHIRT)


@cache
def look(picture: str, shirt: str, skin: str, hair: str, trousers: str, skirt: bool) -> Look:
    """Take a bust apart and dress it.

    Args:
        picture: code of the bust, without a skin tone.
        shirt: colour of plain shirts, or "" for the picture's own.
        skin: one of SKINS.
        hair: colour of hair that is drawn blond.
    """
    first, *rest = picture.split("-", 1)
    try:
        svg = drawing("-".join([first + skin, *rest]))
    except StopIteration:
        svg, skin = drawing(picture), ""
    head, garment = (_as_head(svg), "") if picture in FACES else _split(svg)
    plain = (
        _main_colour(garment).upper() == PLAIN_SHIRT.upper()
        and len(set(re.findall(r'fill="(#[^"]*)"', garment)) - {"#000000", "#000"}) < 2
    )
    colour = shirt if plain and shirt else _main_colour(garment)
    worn = "" if plain else f'<g transform="translate({36 - 36 * SQUEEZE} -0.5) scale({SQUEEZE} 1)">{garment}</g>'
    trunk = (
        f'<defs><clipPath id="trunk"><path d="{TRUNK}"/></clipPath></defs><path d="{TRUNK}" fill="{colour}"/>'
        f'<g clip-path="url(#trunk)">{worn}</g><path d="{TRUNK}" fill="none" stroke="#000" stroke-width="2"/>'
    )
    return Look(recoloured(head, {"#F1B31C": hair} if plain else {}), trunk, colour, trousers, SKINS[skin], skirt)


@cache
def with_mood(head: str, skin: str, face: str) -> str:
    """Return a head with the features of a smiley, a picture that is a yellow disc with a face."""
    features = _ELEMENT.sub(lambda m: "" if _is_disc(m[0]) else m[0], drawing(face))
    features = recoloured(features, {"#FCEA2B": skin})
    place = "translate(36 34) scale(0.74) translate(-36 -37)"
    return f'{head}<ellipse cx="36" cy="34.5" rx="11" ry="10.6" fill="{skin}"/><g transform="{place}">{features}</g>'


def _is_disc(element: str) -> bool:
    left, top, right, bottom = ink(element)
    return right - left > 40 and bottom - top > 40


@cache
def with_body(head: str, colour: str, legs: str, biped: bool) -> str:
    """Return an animal, facing left, from a picture of its head."""
    left, top, right, bottom = ink(head)
    size = 38 / max(right - left, bottom - top)
    at = f"translate({23 - (left + right) / 2 * size} {31 - (top + bottom) / 2 * size}) scale({size})"
    width, where = (3, (38, 48)) if biped else (7, (30, 38, 50, 58))
    stood = "".join(f'<rect x="{x}" y="50" width="{width}" height="15" rx="2" fill="{legs}"/>' for x in where)
    tail = "M58 44L68 34L66 46Z" if biped else "M61 40Q69 38 67 28"
    body = f'<rect x="26" y="35" width="{36 if biped else 40}" height="21" rx="10" fill="{colour}"/>'
    lines = (
        f'<g stroke="#000" stroke-width="2"><path d="{tail}" fill="{colour if biped else "none"}"/>{stood}{body}</g>'
    )
    return f'{lines}<g transform="{at}">{head}</g>'
