"""Check that relative links in the documentation lead to a file and a heading: `python .ci/links.py`."""

import re
import sys
from pathlib import Path

FOLDERS = (".", "docs", "docs/lab", "nt2vr/papers", "nt2vr/papers/*")
PAGES = [page for folder in FOLDERS for page in Path(".").glob(f"{folder}/*.md")]


def anchors(page: Path) -> set[str]:
    """Return GitHub's anchors of a page's headings."""
    heads = re.findall(
        r"^#+ (.+)$", re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.S), re.M
    )
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


broken = []
for page in PAGES:
    for link in re.findall(
        r"\]\(([^)\s]+)\)", re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.S)
    ):
        place, _, anchor = link.partition("#")
        target = page if not place else page.parent / place
        if link.startswith(("http", "mailto")):
            continue
        if not target.exists() or (
            anchor and target.suffix == ".md" and anchor not in anchors(target)
        ):
            broken.append(f"{page}: {link}")
sys.exit("\n".join(broken) or None)
