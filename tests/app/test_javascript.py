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
const asked = { query: "a dog and not a cat", systems: ["CLIP-neg"], k: 3, image: null };
const found = await app.predict("/search", asked);
const refused = await app.predict("/search", { ...asked, query: "" }).catch((error) => error.message);
console.log(JSON.stringify({ found: found.data[0], refused }));
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
    (tmp_path / "search.mjs").write_text(SCRIPT)
    command = ["node", str(tmp_path / "search.mjs"), running_app.url]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout.splitlines()[-1])
    assert answer["found"]["query"]["unwanted"] == ["a cat"]
    assert [len(system["hits"]) for system in answer["found"]["systems"]] == [3]
    assert "Type what the clip should show" in answer["refused"]
