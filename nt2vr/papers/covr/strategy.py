"""The strategy that searches by a trained fusion of a picture and a text."""

from nt2vr.search.strategies import Strategy, combining

FUSION = Strategy(
    vector=combining("fusion"),
    meaning="what a trained layer makes of the picture and both parts",
    uses=("sentence",),
    needs_picture=True,
    composer="fusion",
)
