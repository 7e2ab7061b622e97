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
    contents = {
        name: file.read_bytes() if isinstance(file, Path) else file
        for name, file in space_files(zero_gpu).items()
        if name in ("README.md", "requirements.txt")
    }
    fields = yaml.safe_load(contents["README.md"].decode().split("---\n", 2)[1])
    with TemporaryDirectory() as folder:
        requirements = Path(folder) / "requirements.txt"
        requirements.write_bytes(contents["requirements.txt"])
        command = [
            sys.executable,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--dry-run",
            "--ignore-installed",
        ]
        command += [
            "--python-version",
            fields["python_version"],
            "--only-binary=:all:",
            "--target",
            folder,
        ]
        command += ["--requirement", str(requirements), f"gradio[oauth]=={fields['sdk_version']}"]
        return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main("--zero-gpu" in sys.argv))
