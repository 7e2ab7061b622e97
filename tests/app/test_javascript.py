"""JavaScript programs search with Gradio's client from npm."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.conftest import RunningApp

PACKAGE = "@gradio/client"
SCRIPT = """
import { Client } from "@gradio/client";

const app = await Client.connect(process.argv[2]);
const request = { query: "a dog and not a cat", systems: ["CLIP-neg"], k: 3, image: null };
const answer = await app.predict("/search", request);
const error = await app.predict("/search", { ...request, query: "" }).catch((refusal) => refusal.message);
console.log(JSON.stringify({ answer: answer.data[0], error }));
process.exit(0);
"""


@pytest.fixture(scope="module")
def node_modules() -> Path:
    """The folder of npm's packages that NT2VR_NODE_MODULES names."""
    folder = Path(os.environ.get("NT2VR_NODE_MODULES", "node_modules"))
    if shutil.which("node") is None or not (folder / PACKAGE).is_dir():
        pytest.skip(
            f"needs Node, and {PACKAGE} in NT2VR_NODE_MODULES: npm install --prefix DIR {PACKAGE}"
        )
    return folder


def test_gradio_s_client_for_javascript_searches(
    running_app: RunningApp, node_modules: Path, tmp_path: Path
) -> None:
    (tmp_path / "node_modules").symlink_to(node_modules.absolute())
    script = tmp_path / "search.mjs"
    script.write_text(SCRIPT)
    command = ["node", str(script), running_app.url]

    process = subprocess.run(command, capture_output=True, text=True, timeout=300)

    assert process.returncode == 0, process.stderr
    printed = json.loads(process.stdout.splitlines()[-1])
    assert printed["answer"]["query"]["unwanted"] == ["a cat"]
    (system,) = printed["answer"]["systems"]
    assert len(system["hits"]) == 3
    assert "Type what the clip should show" in printed["error"]
