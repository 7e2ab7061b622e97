"""What the page says of models that know only drawings: a warning, and the offer of a better one at its cost."""

from collections.abc import Iterable, Sequence

from nt2vr.errors import counted, listed
from nt2vr.models.card import DEFAULT_FRAMES
from nt2vr.models.catalog import Catalog
from nt2vr.models.device import gflops_per_second
from nt2vr.models.download import BANDWIDTH, OFFERED, RECOMMENDED
from nt2vr.progress import duration_text
from nt2vr.ui.view import View
from nt2vr.ui.web.permissions import Permissions, Visitor

# The time of indexing is stated for so many clips where their number is not known.
PER_CLIPS = 100


def better_model(models: Catalog) -> str:
    """Return a model that knows more than drawings.

    If there is none here, this is the name that the one on offer will have.
    """
    return next(iter(models.real_models()), OFFERED.catalog_name)


def drawings_view(
    models: Catalog,
    names: Iterable[str],
    num_clips: int,
    permissions: Permissions,
    visitor: Visitor,
    is_indexed: bool = False,
) -> View:
    """Say which models know only drawings, and offer a better one at its cost.

    It is empty if all models know more. If one of them does, no other is offered.

    Args:
        names: the models.
        num_clips: clips of the library; 0 if their number is not known yet.
        is_indexed: whether the models have indexed the library already.
    """
    chosen = [name for name in dict.fromkeys(names) if name]
    drawn = [name for name in chosen if models.knows_only_drawings(name)]
    if not drawn:
        return {}
    text = _drawings_text(drawn)
    if len(drawn) < len(chosen):
        return {"text": text}

    model = better_model(models)
    is_here = model in models.names()
    offer = f"Use {model} instead"
    actions = ["import"]
    if not is_here:
        offer = f"Get {model} and index {'again' if is_indexed else 'with it'}"
        actions.append("download")
    return {
        "text": text,
        "offer": offer,
        "cost": _cost(models.device, name=model, is_here=is_here, num_clips=num_clips),
        "refusal": permissions.refusal(visitor, *actions),
    }


def _drawings_text(models: Sequence[str]) -> str:
    names = listed(*models)
    if len(models) == 1:
        return f"{names} knows only drawings: its ranking of real videos means almost nothing."
    return f"{names} know only drawings: their rankings of real videos mean almost nothing."


def _cost(device: str, name: str, is_here: bool, num_clips: int) -> str:
    """Say how long a model takes to download and to index; "" if it is not a recommended one."""
    model = next((model for model in RECOMMENDED if model.catalog_name == name), None)
    if model is None:
        return ""
    gflops = (num_clips or PER_CLIPS) * DEFAULT_FRAMES * model.gflops
    computing = duration_text(gflops / gflops_per_second(device))
    clips = counted(num_clips, "clip") if num_clips else f"each {PER_CLIPS} clips"
    indexing = f"about {computing} of computing on this machine for {clips}"
    if is_here:
        return f"It is here already; indexing takes {indexing}."

    download = duration_text(model.download_s)
    return (
        f"{model.size_mb:,} MB to download, about {download} at {BANDWIDTH} Mbit/s, "
        f"then {indexing}."
    )
