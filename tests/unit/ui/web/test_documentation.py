"""The documentation as pages: their links and pictures lead somewhere, and nothing else is served."""

import re
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from nt2vr.ui.web.documentation import Documentation
from tests.support.paths import ROOT

TEMPLATES = ROOT / "assets" / "ui"
PAPERS = [
    f"paper-{path.parent.name}.md" for path in (ROOT / "nt2vr" / "papers").glob("*/README.md")
]
LAB = [f"lab-{path.name}" for path in (ROOT / "docs" / "lab").glob("*.md")]
PAGES = sorted([*(path.name for path in (ROOT / "docs").glob("*.md")), *LAB, *PAPERS])
SPACE = "https://huggingface.co/spaces/ada/nt2vr"


def client(code: str = "", folder: Path = ROOT / "docs") -> TestClient:
    documentation = Documentation(code, folder)
    return TestClient(Starlette(routes=documentation.routes()), base_url="http://127.0.0.1")


def test_the_first_page_lists_the_others() -> None:
    text = client().get("/docs").text
    assert "<h1" in text
    assert '<a href="app.md" aria-current=page>The app</a>' in text
    for name in PAGES:
        assert f'<a href="{name}"' in text
    assert "<table>" in text


@pytest.mark.parametrize("page", PAGES)
def test_every_link_and_picture_of_a_page_is_served(page: str) -> None:
    docs = client()
    text = docs.get(f"/docs/{page}").text
    article = text[text.index("<main>") :]
    for link in re.findall('(?:href|src)="([^"]+)"', article):
        if "://" in link:
            continue
        name, _, anchor = link.partition("#")
        answer = docs.get(f"/docs/{name or page}")
        assert answer.status_code == 200, link
        assert not anchor or f'id="{anchor}"' in answer.text, link


def test_papers_and_pages_link_to_each_other() -> None:
    assert 'href="paper-con_clip.md#our-numbers"' in client().get("/docs/lab-results.md").text
    assert (
        'href="lab-results.md#the-papers-measures"' in client().get("/docs/paper-con_clip.md").text
    )
    code = f'href="{SPACE}/blob/main/nt2vr/papers/con_clip/loss.py"'
    assert code in client(SPACE).get("/docs/paper-con_clip.md").text


@pytest.mark.parametrize("page", ["benchmarks.md", "parser-ablation.md"])
def test_the_former_address_of_a_lab_page_leads_to_it(page: str) -> None:
    answer = client().get(f"/docs/{page}")
    assert answer.status_code == 200
    assert answer.url.path == f"/docs/lab-{page}"


@pytest.mark.parametrize(
    "path",
    [
        "../README.md",
        "%2e%2e/README.md",
        "..%2fREADME.md",
        "/etc/passwd",
        ".git",
        "app.md/",
        "APP.MD%00",
        "a" * 9_999,
    ],
)
def test_nothing_else_is_served(path: str) -> None:
    answer = client().get(f"/docs/{path}")
    # The client itself leaves the folder for "..".
    sentences = ("The documentation has no such page.", "Not Found")
    assert answer.status_code == 404
    assert answer.text in sentences


def test_markup_in_a_page_is_text(tmp_path: Path) -> None:
    (tmp_path / "app.md").write_text(
        "# <b>A & B</b>\n\n<script>1</script> [x](javascript:alert(1))\n"
    )
    text = client(folder=tmp_path).get("/docs/").text
    assert "<b>" not in text
    assert "<script>1" not in text
    assert 'href="javascript' not in text


def test_links_to_code_need_its_address(tmp_path: Path) -> None:
    (tmp_path / "app.md").write_text(
        "# App\n\nSee [how](../nt2vr/api.py#top), [more](https://a.example).\n"
    )
    for code, link in (
        ("", "<a>how</a>"),
        (SPACE, f'<a href="{SPACE}/blob/main/nt2vr/api.py#top">how</a>'),
    ):
        text = client(code, tmp_path).get("/docs/").text
        assert link in text
        assert '<a href="https://a.example">more</a>' in text
        assert (">Code<" in Documentation(code).links()) == bool(code)
