"""What a person can set: command line flags and environment variables, read here and nowhere else."""

import argparse
import ctypes
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ASSETS = Path(__file__).parent.parent / "assets"
DEFAULT_DATA_DIR = Path("~/.cache/nt2vr")

# Set before the libraries that read it are imported.
ENVIRONMENT = {
    # nothing phones home
    "GRADIO_ANALYTICS_ENABLED": "False",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    # torch's threads sleep while they wait: spinning, a text took 392 ms instead of 7 beside one other busy process
    "OMP_WAIT_POLICY": "PASSIVE",
}


@dataclass(frozen=True)
class Settings:
    """How the app runs.

    Attributes:
        data_dir: caches and downloaded models.
        device: where models run, "cpu" or "cuda".
        host: address to listen on; None is Gradio's own choice (this machine only, or GRADIO_SERVER_NAME).
        port: port to listen on; None takes a free one from 7860 up.
        assets: what ships with the app.
        may_download: whether people may have models downloaded; strangers on Hugging Face Spaces may not.
        may_train: whether people may start trainings; on Spaces only where NT2VR_TRAIN=1 says so, and never on
            ZeroGPU, which lends its processors to no process of the app's.
    """

    data_dir: Path
    device: str = "cpu"
    host: str | None = None
    port: int | None = None
    assets: Path = ASSETS
    may_download: bool = True
    may_train: bool = True

    @classmethod
    def read(cls, arguments: Sequence[str] | None = None, environment: Mapping[str, str] = os.environ) -> "Settings":
        """Read the command line; NT2VR_DATA and NT2VR_DEVICE are the defaults of --data-dir and --device."""
        parser = argparse.ArgumentParser(
            prog="app.py", description="See whether a text-to-video retrieval model understands what you do not want."
        )
        parser.add_argument(
            "--data-dir",
            type=Path,
            default=Path(environment.get("NT2VR_DATA", DEFAULT_DATA_DIR)),
            help="caches and downloaded models (NT2VR_DATA; default %(default)s)",
        )
        parser.add_argument(
            "--device", default=environment.get("NT2VR_DEVICE", "cpu"), help="cpu or cuda (NT2VR_DEVICE; default cpu)"
        )
        parser.add_argument("--host", help="address to listen on (default: this machine only)")
        parser.add_argument("--port", type=int, help="port to listen on (default: the first free one from 7860)")
        flags = parser.parse_args(arguments)
        on_spaces = environment.get("SYSTEM") == "spaces"
        on_zero_gpu = environment.get("SPACES_ZERO_GPU", "").lower() in ("1", "true")
        return cls(
            flags.data_dir.expanduser(),
            flags.device,
            flags.host,
            flags.port,
            may_download=not on_spaces,
            may_train=not on_zero_gpu and (not on_spaces or environment.get("NT2VR_TRAIN") == "1"),
        )


def prepare_environment() -> None:
    """Tell the libraries how to behave, where the person has not said otherwise."""
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)


def process_rank(environment: Mapping[str, str] = os.environ) -> int:
    """Which of the processes that torchrun started together this is; 0 for the first, and for one on its own."""
    return int(environment["RANK"]) if "TORCHELASTIC_RUN_ID" in environment else 0


def training_devices(environment: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """Name the devices that a training started with this environment uses, without importing torch.

    "cpu" without a CUDA driver or without visible GPUs; otherwise "cuda:N" of the first visible GPU, or of the first n
    where torchrun starts n processes here.
    """
    try:
        ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
    except OSError:
        return ("cpu",)
    count = int(environment.get("LOCAL_WORLD_SIZE", 1)) if "TORCHELASTIC_RUN_ID" in environment else 1
    visible = environment.get("CUDA_VISIBLE_DEVICES", ",".join(map(str, range(count))))
    gpus = [gpu.strip() for gpu in visible.split(",") if gpu.strip()]
    return tuple(f"cuda:{gpu}" for gpu in gpus[:count]) if gpus and gpus[0] != "-1" else ("cpu",)
