"""A check after the first steps of teaching negation from captions: is anything being learnt?

With too low a learning rate a tower stays where its base is, and every measure but text/order looks well: at 1e-5,
MiniLM still treated "not" like any other word after 250 steps.
"""

from collections.abc import Mapping

EARLY_STEPS = 100
LEAST_GAIN = 5.0  # percentage points of text/order
LEAST_KEPT = 0.95  # of text/kept


def early_warning(measured: Mapping[str, float], controls: Mapping[str, float], learning_rate: float) -> str:
    """Return a sentence on what goes wrong, "" if nothing does.

    Args:
        measured: measures after EARLY_STEPS steps, see `TextMeasures`.
        controls: the same of the base, "base/…".
    """
    order, before, kept = measured["text/order"], controls["base/text/order"], measured["text/kept"]
    if kept < LEAST_KEPT:
        return (
            f"text/kept has fallen to {kept:.3f} in {EARLY_STEPS} steps, so captions find less than before: "
            f"lower the learning rate ({learning_rate:g})."
        )
    if order - before < LEAST_GAIN:
        return (
            f"text/order has not moved in {EARLY_STEPS} steps ({before:.1f} to {order:.1f} %): "
            f"raise the learning rate ({learning_rate:g})."
        )
    return ""
