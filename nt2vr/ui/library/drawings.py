"""What is said of models that know only drawings, and the offer of one that knows more. It downloads nothing."""

from collections.abc import Iterable
from typing import Any

from nt2vr.errors import counted, listed
from nt2vr.models.card import Card
from nt2vr.models.catalog import Catalog
from nt2vr.models.device import gflops_per_second
from nt2vr.models.recommended import BANDWIDTH, OFFERED, RECOMMENDED
from nt2vr.progress import duration_text
from nt2vr.ui.web.permissions import Permissions, Visitor

PER_CLIPS = 100  # clips that the time of indexing is stated for where their number is not known


def better_model(models: Catalog) -> str:
    """Return a model here that knows more than drawings, otherwise the name that the offered one will have."""
    return next(iter(models.real_models()), OFFERED.catalog_name)


def drawings_view(
    models: Catalog,
    names: Iterable[str],
    num_clips: int,
    permissions: Permissions,
    visitor: Visitor,
    again: bool = False,
) -> dict[str, Any]:
    """Say which of some models know only drawings, and offer to get a better one, at its cost; nothing if none does.

    Args:
        names: of models; if one of them knows more, none is offered.
        num_clips: of the library; 0 if that is not known yet.
        again: whether they have indexed the library already.
    """
    given = [name for name in dict.fromkeys(names) if name]
    drawn = [name for name in given if models.knows_only_drawings(name)]
    if not drawn:
        return {}
    know, their = ("knows", "its ranking") if len(drawn) == 1 else ("know", "their rankings")
    text = (
        f"{listed(*drawn)} {know} only drawings: of real videos, {their} mean{'s' * (len(drawn) == 1)} almost nothing."
    )
    if len(drawn) < len(given):
        return {"text": text}
    model = better_model(models)
    is_here = model in models.names()
    refusal = permissions.refusal(visitor, *(("import",) if is_here else ("import", "download")))
    do = f"Use {model} instead" if is_here else f"Get {model} and index {'again' if again else 'with it'}"
    return {"text": text, "do": do, "cost": _cost(models.device, model, is_here, num_clips), "refusal": refusal}


def _cost(device: str, name: str, is_here: bool, num_clips: int) -> str:
    """Say what a model takes; of one that is not recommended, nothing is known."""
    model = next((each for each in RECOMMENDED if each.catalog_name == name), None)
    if model is None:
        return ""
    clips = num_clips or PER_CLIPS
    computing = duration_text(clips * Card.frames * model.gflops / gflops_per_second(device))
    each = "" if num_clips else "each "
    indexing = f"about {computing} of computing on this machine for {each}{counted(clips, 'clip')}"
    if is_here:
        return f"It is here already; indexing takes {indexing}."
    download = f"{model.size_mb:,} MB to download, about {duration_text(model.download_s)} at {BANDWIDTH} Mbit/s"
    return f"{download}, then {indexing}."
