"""Names that cards and checkpoint folders use: of poolings, and of files."""

MEAN, RAW_MEAN, QUERY_SCORED = "mean", "raw_mean", "query_scored"
SEQUENCE, UNIT_SEQUENCE, ATTENTION = "seqTransf", "unit_seqTransf", "attention"
FIXED = (MEAN, RAW_MEAN, QUERY_SCORED)  # by the mean; for a query-scored model it finds candidates
LEARNT = (SEQUENCE, UNIT_SEQUENCE, ATTENTION)
POOLINGS = (*FIXED, *LEARNT)
OF_RAW = (RAW_MEAN, SEQUENCE)  # poolings of frames as the tower returns them
WEIGHTS = "open_clip_model.safetensors"
DIFFERENCE = "difference.safetensors"  # instead of WEIGHTS: the tensors that its base does not have
HEAD = "head.safetensors"  # weights of a pooling that learns
MAX_HEAD = 1 << 30  # bytes: 0.2 GB for four layers at 1,024 dimensions in float32
DRAWINGS = "built-in world"  # in `data` of models trained on drawings
CARD, CONFIG = "nt2vr.json", "open_clip_config.json"
IMPORTED = "imported from "  # begins the `base` of a model of which nothing else is known


def extension_file(name: str) -> str:
    """Return the name of the file that has the weights of a text side or composer of an extension."""
    return f"{name}.safetensors"
