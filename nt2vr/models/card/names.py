"""Names that cards and checkpoint folders use: of poolings, and of files."""

MEAN = "mean"
RAW_MEAN = "raw_mean"
QUERY_SCORED = "query_scored"
SEQUENCE = "seqTransf"
UNIT_SEQUENCE = "unit_seqTransf"
ATTENTION = "attention"
# Poolings by the mean; for a query-scored model it finds candidates.
FIXED = (MEAN, RAW_MEAN, QUERY_SCORED)
LEARNT = (SEQUENCE, UNIT_SEQUENCE, ATTENTION)
POOLINGS = (*FIXED, *LEARNT)
# Poolings of frames as the tower returns them.
OF_RAW = (RAW_MEAN, SEQUENCE)
CARD = "nt2vr.json"
CONFIG = "open_clip_config.json"
WEIGHTS = "open_clip_model.safetensors"
# Instead of WEIGHTS: the tensors that its base does not have.
DIFFERENCE = "difference.safetensors"
# Weights of a pooling that learns.
HEAD = "head.safetensors"
# Bytes: 0.2 GB for four layers at 1,024 dimensions in float32.
MAX_HEAD = 1 << 30
# In `data` of models trained on drawings.
DRAWINGS = "built-in world"
# Begins the `base` of a model of which nothing else is known.
IMPORTED = "imported from "


def extension_file(name: str) -> str:
    """Return the name of the file that has the weights of a text side or composer of an extension."""
    return f"{name}.safetensors"
