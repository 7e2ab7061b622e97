"""Ways to encode frames on a CPU: speed as a multiple of float32's, interleaved, and the cosine with its embeddings.

    pip install openvino nncf
    python -m benchmarks.cpu_encoding [--model NAME]

OpenVINO's int8 is calibrated on half of the frames (NNCF, per layer), and compared on the other half. Frames are those
of the built-in gallery. Random weights say nothing of int8's cosine.
"""

import os
from collections.abc import Callable
from copy import deepcopy
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import normalize

from benchmarks.encoding import decoded
from benchmarks.harness import arguments, built_in_gallery, in_turns, ranged, write_head, write_row
from benchmarks.indexing import RANDOM, load
from nt2vr.media.decode import Decoder
from nt2vr.models.open_clip_encoder import OpenClipEncoder, normalise_frames
from nt2vr.settings import Settings, prepare_environment

Encode = Callable[[torch.Tensor], torch.Tensor]
BATCH = 32
FLOAT = "float32, as in the app"


def ways(tower: torch.nn.Module, pixels: torch.Tensor) -> dict[str, Encode]:
    """Return each way to encode (N, 3, S, S) float32 pixels."""
    half = deepcopy(tower).bfloat16()
    last = deepcopy(tower).to(memory_format=torch.channels_last)

    def mixed(batch: torch.Tensor) -> torch.Tensor:
        with torch.autocast("cpu", torch.bfloat16):
            return tower(batch)  # type: ignore[no-any-return]

    found: dict[str, Encode] = {
        FLOAT: tower,
        "channels last": lambda batch: last(batch.contiguous(memory_format=torch.channels_last)),
        "torch.compile": torch.compile(deepcopy(tower)),
        "bfloat16 weights": lambda batch: half(batch.bfloat16()),
        "bfloat16 by autocast": mixed,
    }
    try:
        nncf, openvino = import_module("nncf"), import_module("openvino")
    except ImportError:
        return found
    traced = torch.jit.trace(tower, pixels[:BATCH], check_trace=False)  # type: ignore[no-untyped-call]
    model = openvino.convert_model(traced, example_input=pixels[:BATCH])
    quantized = nncf.quantize(model, nncf.Dataset(list(torch.split(pixels, BATCH)), lambda batch: batch.numpy()))
    for name, each in (("OpenVINO, float32", model), ("OpenVINO, int8", quantized)):
        compiled = openvino.compile_model(each, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
        found[name] = lambda batch, run=compiled: torch.from_numpy(run(batch.numpy())[0])  # type: ignore[misc]
    return found


def embedded(encode: Encode, pixels: torch.Tensor) -> torch.Tensor:
    """Return embeddings (N, D) of length 1."""
    with torch.inference_mode():
        return normalize(torch.cat([encode(batch).float() for batch in torch.split(pixels, BATCH)]), dim=-1)


def frames_of(encoder: OpenClipEncoder, count: int) -> NDArray[np.uint8]:
    """Return the gallery's first frames, one clip after the other."""
    with Decoder() as decoder:
        return np.concatenate(decoded(built_in_gallery(), encoder, decoder))[:count]


def main() -> None:
    """Print one row per way."""
    parser = arguments("cpu_encoding", __doc__)
    parser.add_argument("--model", default="CLIP", help=f'a model of the app\'s, or "{RANDOM}"')
    parser.add_argument("--frames", type=int, default=512, help="that are timed (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    prepare_environment()
    with TemporaryDirectory() as folder:
        encoder = load(options.model, Settings.read(), Path(folder) / "model")
    assert isinstance(encoder, OpenClipEncoder)
    tower, config = encoder._visual or encoder._model.visual, encoder._preprocess
    pixels = normalise_frames(torch.from_numpy(frames_of(encoder, 2 * options.frames)), config["mean"], config["std"])
    seen, new = pixels[::2], pixels[1::2]
    found = ways(tower, seen)
    exact = embedded(tower, new)
    cosines = {name: (embedded(way, new) * exact).sum(dim=1) for name, way in found.items()}  # warms up
    times = in_turns({name: lambda way=way: embedded(way, new) for name, way in found.items()}, options.rounds)  # type: ignore[misc]
    write_head(f"{encoder.name}, {os.cpu_count()} cores", "frames/s", "times float32's speed", "cosine, mean", "least")
    for name, took in times.items():
        ratio, cosine = times[FLOAT] / took, cosines[name]
        write_row(
            name,
            f"{len(new) / np.median(took):.1f}",
            ranged(list(ratio)),
            f"{cosine.mean():.4f}",
            f"{cosine.min():.4f}",
        )


if __name__ == "__main__":
    main()
