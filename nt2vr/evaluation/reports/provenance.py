"""Where a report's numbers come from: the systems, the time, and the versions of what computed them."""

from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from platform import python_version
from typing import Any

from nt2vr.models.card import Card
from nt2vr.search.strategies import STRENGTHS, tau_of
from nt2vr.search.systems import System
from nt2vr.settings import project_version

PACKAGES = ("torch", "open_clip_torch", "numpy")


def system_spec(system: System, card: Card) -> dict[str, Any]:
    """Describe a system as plain JSON data: the towers of its model, and its strategy with strength and anchor."""
    known = STRENGTHS.get(system.strategy)
    tau = tau_of(card) if system.strategy == "rectified" else None
    anchor = card.exclusion.get("anchor") if system.strategy == "anchored" else None
    return {
        "model": system.model,
        "base": card.base,
        "visual_fingerprint": card.visual_fingerprint,
        "text_fingerprint": card.text_fingerprint,
        **({"settings": f"{card.visual_settings} {card.text_settings}"} if card.visual_settings else {}),
        "frames": card.frames,
        **({"pooling": card.pooling_key} if card.pooling != Card.pooling else {}),
        **({"words": dict(card.words)} if card.words else {}),
        **({"features": card.features} if card.features else {}),
        **({"positions": card.positions} if card.positions != Card.positions else {}),
        "strategy": system.strategy,
        "alpha": None,
        **({known.word: system.strength_for(card)} if known else {}),
        **({"anchor": anchor} if anchor else {}),
        **({} if tau is None else {"tau": tau}),
        **({"shifts": dict(card.shifts)} if card.shifts else {}),
    }


def now() -> str:
    """Return the time for `Report.created`."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def package_versions() -> dict[str, str]:
    """Return the versions of Python, the packages that compute, and nT2VR, as far as known."""
    found = {"python": python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return {**found, "nt2vr": project_version()}
