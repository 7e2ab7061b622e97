"""Check that the Space's requirements resolve: `python -m tests.support.space_pins [--zero-gpu]`.

Downloads only metadata.
"""

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml  # type: ignore[import-untyped]

from nt2vr.models.space import space_files


def main(zero_gpu: bool) -> int:
    """Let pip resolve what the Hub would install: Gradio as README pins it, and the Space's requirements."""
    files = space_files(zero_gpu)
    _, front_matter, _ = _content(files["README.md"]).decode().split("---\n", 2)
    fields = yaml.safe_load(front_matter)
    with TemporaryDirectory() as folder:
        requirements = Path(folder) / "requirements.txt"
        requirements.write_bytes(_content(files["requirements.txt"]))
        command = [sys.executable, "-m", "pip", "install", "--quiet"]
        command += ["--dry-run", "--ignore-installed", "--only-binary=:all:", "--target", folder]
        command += ["--python-version", fields["python_version"]]
        command += ["--requirement", str(requirements), f"gradio[oauth]=={fields['sdk_version']}"]
        return subprocess.run(command, check=False).returncode


def _content(file: Path | bytes) -> bytes:
    return file.read_bytes() if isinstance(file, Path) else file


if __name__ == "__main__":
    sys.exit(main("--zero-gpu" in sys.argv))
