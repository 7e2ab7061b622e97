"""What the documentation names is there: links, anchors, paths, functions and modules; and README stays short."""

import ast
import re
import tomllib
from pathlib import Path
from urllib.parse import unquote

import pytest
import yaml  # type: ignore[import-untyped]

from tests import model_zoo
from tests.paths import ROOT

PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), ROOT / "trainer" / "LOG.md"])
MAX_README_WORDS = 1_000
FOLDERS = "app.py|nt2vr|trainer|tests|benchmarks|assets|docs"


def of_each(pages: list[Path]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("page", pages, ids=lambda page: page.relative_to(ROOT).as_posix())


of_each_page = of_each(PAGES)


def prose_of(page: Path) -> str:
    """Read a page without its code blocks."""
    return re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def anchors_of(page: Path) -> set[str]:
    """Make the anchors of a page's headings as GitHub does."""
    headings = re.findall(r"^#+ (.+)$", prose_of(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def defines(file: Path, name: str) -> bool:
    """Whether a module defines `name`, or `Class.method`, itself."""
    body = ast.parse(file.read_text(encoding="utf-8")).body
    for part in name.split("."):
        named = [node for node in body if part in names_of(node)]
        if not named:
            return False
        body = getattr(named[0], "body", [])
    return True


def names_of(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return [target.id for target in targets if isinstance(target, ast.Name)]


@of_each_page
def test_every_relative_link_and_its_anchor_exist(page: Path) -> None:
    broken = []
    for link in re.findall(r"\]\(([^)\s]+)\)", prose_of(page)):
        path, _, anchor = unquote(link).partition("#")
        target = page.parent / path if path else page
        if "://" not in link and (not target.exists() or (anchor and anchor not in anchors_of(target))):
            broken.append(link)
    assert broken == []


@of_each_page
def test_every_path_in_backticks_exists(page: Path) -> None:
    named = re.findall(rf"`((?:{FOLDERS})(?:/[\w./-]*)?)`", prose_of(page))
    assert [path for path in named if not (ROOT / path).exists()] == []


@of_each_page
def test_every_function_named_with_its_file_is_in_it(page: Path) -> None:
    name = r"`[A-Za-z_][\w.]*`"
    several = rf"({name}(?:(?:,|\s+and)\s+{name})*)\s+(?:\(|in\s+)`((?:nt2vr|trainer|tests)/[\w/]+\.py)`"
    named = [(each, file) for names, file in re.findall(several, prose_of(page)) for each in re.findall(name, names)]
    assert [f"{each} in {file}" for each, file in named if not defines(ROOT / file, each.strip("`"))] == []


@of_each([page for page in PAGES if page.name != "CHANGELOG.md"])  # which names what was removed, too
def test_every_module_to_be_run_exists(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    named = re.findall(r"(?:python -m |`(?=benchmarks\.))((?:nt2vr|trainer|benchmarks)(?:\.[a-z_]+)*)(?![.\w])", text)
    files = [(f"{module.replace('.', '/')}.py", f"{module.replace('.', '/')}/__main__.py") for module in named]
    assert [either for either in files if not any((ROOT / file).is_file() for file in either)] == []


def test_readme_is_short() -> None:
    _, _, text = (ROOT / "README.md").read_text(encoding="utf-8").split("---\n", 2)  # without the front matter
    assert len(text.split()) < MAX_README_WORDS


def test_the_model_zoo_is_the_generated_one() -> None:
    written = model_zoo.PAGE.read_text(encoding="utf-8")
    assert written == model_zoo.model_zoo(), "run python -m tests.model_zoo --write to renew docs/model-zoo.md"


def test_the_citation_and_the_badges_agree_with_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == project["version"]
    (paper,) = citation["references"]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    cited = [paper["title"], paper["doi"], *(author["family-names"] for author in paper["authors"])]
    assert [part for part in cited if part not in readme] == []
    badges = dict(re.findall(r"img\.shields\.io/badge/(\w+)-(.+?)-\w+\)", readme))
    assert badges == {"python": project["requires-python"].replace(">=", "%E2%89%A5%20"), "licence": "MIT"}
    assert (ROOT / "LICENSE").read_text(encoding="utf-8").startswith("MIT License")
