"""The kinds of denying sentences, and the slow twin of `SceneDenials.fitting`."""

from nt2vr.world.scene_denials import SceneDenial, SceneDenialKind
from nt2vr.world.scenes import Scene

# All but idioms, which deny nothing.
DENIAL_KINDS: tuple[SceneDenialKind, ...] = (
    "negated",
    "composed",
    "without",
    "list",
    "not",
    "except",
    "place",
    "typed",
)


def fits(sentence: SceneDenial, scene: Scene) -> bool:
    """Return whether a scene shows the wanted part of a sentence and none of the unwanted ones."""
    return sentence.wanted_claim.holds(scene) and not any(
        claim.holds(scene) for claim in sentence.unwanted_claims
    )
