"""Settings from command-line flags and environment variables; no other module reads the environment."""

import ctypes
import os
import re
import sys
from argparse import ArgumentParser
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from nt2vr.errors import ConfigError, quoted

PACKAGE = Path(__file__).parent
ASSETS = (
    PACKAGE / "assets" if (PACKAGE / "assets").is_dir() else PACKAGE.parent / "assets"
)  # in a wheel, in a checkout
DEFAULT_DATA_DIR = "~/.cache/nt2vr"

# Set before the libraries that read it are imported.
ENVIRONMENT = {
    # no telemetry
    "GRADIO_ANALYTICS_ENABLED": "False",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    # idle torch threads sleep: while spinning, with one other busy process, encoding a text took 392 ms instead of 7
    "OMP_WAIT_POLICY": "PASSIVE",
}


@dataclass(frozen=True)
class Settings:
    """How nT2VR runs.

    Attributes:
        data_dir: caches, runs, reports, and downloaded or imported models.
        device: where models run: "auto" (CUDA, then MPS, then CPU), "cpu", "cuda", "cuda:1" or "mps".
        host: address to listen on; None leaves it to Gradio (this machine only, or GRADIO_SERVER_NAME).
        port: port to listen on; None takes the first free one from 7860.
        assets: the shipped gallery, models and page templates.
        may_download: whether users may download models; not on Hugging Face Spaces, where they are strangers.
        models: pre-trained models of open_clip to download at the start, in the background.
        may_train: whether users may start training runs; on Spaces only if NT2VR_TRAIN=1, and never on ZeroGPU, which
            lends its GPUs to no child process.

    Raises:
        ConfigError: if there is no such kind of device.
    """

    data_dir: Path
    device: str = "auto"
    host: str | None = None
    port: int | None = None
    assets: Path = ASSETS
    may_download: bool = True
    may_train: bool = True
    models: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check the device's name, not whether this machine has one."""
        if not re.fullmatch(r"auto|cpu|cuda(:\d+)?|mps", self.device):
            raise ConfigError(f"Unknown device {quoted(self.device)}. Choose auto, cpu, cuda or mps.")

    @classmethod
    def read(
        cls,
        data_dir: str | Path | None = None,
        device: str | None = None,
        host: str | None = None,
        port: int | None = None,
        environment: Mapping[str, str] = os.environ,
    ) -> "Settings":
        """Complete the given values from the environment: NT2VR_DATA, NT2VR_DEVICE, NT2VR_MODELS, and on a Space."""
        on_spaces = environment.get("SYSTEM") == "spaces"
        return cls(
            Path(data_dir or environment.get("NT2VR_DATA") or DEFAULT_DATA_DIR).expanduser(),
            device or environment.get("NT2VR_DEVICE") or "auto",
            host,
            port,
            models=tuple(name.strip() for name in environment.get("NT2VR_MODELS", "").split(",") if name.strip()),
            may_download=not on_spaces,
            may_train=not on_zero_gpu(environment) and (not on_spaces or environment.get("NT2VR_TRAIN") == "1"),
        )


def add_flags(parser: ArgumentParser) -> None:
    """Add the flags that all commands share; `Settings.read` supplies their defaults."""
    parser.add_argument(
        "--data-dir",
        type=Path,
        metavar="FOLDER",
        help=f"caches, runs and downloaded models (default: NT2VR_DATA, or {DEFAULT_DATA_DIR})",
    )
    parser.add_argument("--device", help="auto, cpu, cuda or mps (default: NT2VR_DEVICE, or auto: the fastest here)")


def resolve_path(path: str | Path) -> Path:
    """Expand "~", and find shipped files under "assets/…" from any working directory, also in an installed package."""
    path = Path(path).expanduser()
    shipped = ASSETS.parent / path
    return shipped if path.parts[:1] == (ASSETS.name,) and shipped.exists() else path


def prepare_environment() -> None:
    """Set the libraries' environment variables, except those the user has set."""
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)


def on_zero_gpu(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether this is a Hugging Face Space that borrows its GPUs."""
    return environment.get("SPACES_ZERO_GPU", "").lower() in ("1", "true")


def process_rank(environment: Mapping[str, str] = os.environ) -> int:
    """Return this process's rank under torchrun; 0 for a process on its own."""
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
