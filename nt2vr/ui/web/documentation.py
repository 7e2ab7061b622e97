"""The documentation as pages under /docs/, and the links at the head of the app's page."""

import html
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from pathlib import Path
from posixpath import dirname, normpath
from string import Template

from markdown_it import MarkdownIt
from markdown_it.token import Token
from starlette.requests import Request
from starlette.responses import (
    FileResponse,
    HTMLResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
)
from starlette.routing import Route

from nt2vr.settings import DOCS, PACKAGE
from nt2vr.ui.theme import TEMPLATES

PAPER = "https://doi.org/10.1145/3503161.3547968"
# The page that /docs/ shows.
START = "app.md"
# The folder of papers in the repository.
PAPERS = "nt2vr/papers"
# The folder of all measurements, and what the names of its pages begin with where they are served.
LAB = "lab"
LAB_PREFIX = "lab-"
# The attribute that has the address, by type of token.
ADDRESSES = {"link_open": "href", "image": "src"}
MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")


@dataclass(frozen=True)
class Documentation:
    """Serves the pages of a folder, what they show, and a page per paper, but no other file.

    Attributes:
        code: address of the code, where links to its files lead; without one they are plain text.
        folder: the pages and their pictures, also those in its folder `lab`; it may be missing.
        papers: a folder per paper, each with a README.md.
    """

    code: str = ""
    folder: Path = DOCS
    papers: Path = PACKAGE / "papers"

    @cached_property
    def files(self) -> dict[str, Path]:
        """The files by the names under which they are served."""
        files = {path.name: path for path in self.folder.glob("[!.]*") if path.is_file()}
        for path in self.folder.glob(f"{LAB}/[!.]*"):
            files[f"{LAB_PREFIX}{path.name}"] = path
        for page in self.papers.glob("*/README.md"):
            files[f"paper-{page.parent.name}.md"] = page
        files["style.css"] = TEMPLATES / "style.css"
        return files

    @cached_property
    def names(self) -> dict[str, str]:
        """The names under which files are served, by their paths in the repository."""
        return {self.repository_path(name): name for name in self.files}

    def repository_path(self, name: str) -> str:
        """Return the path in the repository of a file that is served."""
        path = self.files[name]
        if path.is_relative_to(self.papers):
            return f"{PAPERS}/{path.relative_to(self.papers).as_posix()}"
        if name.startswith(LAB_PREFIX):
            return f"docs/{LAB}/{path.name}"
        return f"docs/{name}"

    @cached_property
    def titles(self) -> dict[str, str]:
        """The pages' titles by their names: the first page first, those of the lab last."""
        titles = {}
        for name, path in self.files.items():
            if path.suffix == ".md":
                first_line = path.read_text("utf-8").partition("\n")[0]
                titles[name] = first_line.lstrip("# ")
        names = sorted(titles, key=lambda name: titles[name].lower())
        names.sort(key=lambda name: (name != START, name.startswith(LAB_PREFIX)))
        return {name: titles[name] for name in names}

    def routes(self) -> list[Route]:
        # Links are relative to the folder.
        to_folder = RedirectResponse("docs/")
        return [Route("/docs", lambda _: to_folder), Route("/docs/{name:path}", self._answer)]

    def links(self) -> str:
        """Return the links to paper, documentation, API and code as HTML."""
        links = [_link("Paper", "Learn to Understand Negation in Video Retrieval", PAPER)]
        if START in self.files:
            links.append(_link("Docs", "Documentation", "docs/"))
        links.append(_link("API", "Search from programs", "api/docs"))
        if self.code:
            links.append(_link("Code", "The code of this app", f"{self.code}/tree/main"))
        return f'<nav class="nt-links" aria-label="About nT2VR">{"".join(links)}</nav>'

    def _answer(self, request: Request) -> Response:
        name = request.path_params["name"] or START
        if name in self.titles:
            return HTMLResponse(_page(self, name))
        if name in self.files:
            return FileResponse(self.files[name])
        # The pages of the lab were once beside the others.
        if f"{LAB_PREFIX}{name}" in self.titles:
            return RedirectResponse(f"{LAB_PREFIX}{name}")
        return PlainTextResponse("The documentation has no such page.", 404)


def _link(name: str, title: str, address: str) -> str:
    address = html.escape(address)
    return f'<a href="{address}" title="{title}" target="_blank" rel="noopener">{name}</a>'


# The longest page takes .1 s.
@lru_cache
def _page(docs: Documentation, name: str) -> str:
    tokens = MARKDOWN.parse(docs.files[name].read_text("utf-8"))
    for heading, inline in pairwise(tokens):
        if heading.type == "heading_open":
            # The anchors are those that GitHub gives.
            words = re.sub(r"[^\w\- ]", "", inline.content.lower())
            heading.attrSet("id", words.replace(" ", "-"))
    for block in tokens:
        _resolve_addresses(block.children or (), docs, name)

    template = Template((TEMPLATES / "docs.html").read_text("utf-8"))
    return template.substitute(
        title=html.escape(docs.titles[name]),
        pages=_navigation(docs, name),
        article=MARKDOWN.renderer.render(tokens, MARKDOWN.options, {}),
    )


def _resolve_addresses(tokens: Iterable[Token], docs: Documentation, page: str) -> None:
    """Let links and pictures lead to what is served, or to the code; others lose their address."""
    for token in tokens:
        if token.type not in ADDRESSES:
            continue
        attribute = ADDRESSES[token.type]
        link = str(token.attrs.pop(attribute))
        address = _address(link, docs, page)
        if address is not None:
            token.attrs[attribute] = address


def _address(link: str, docs: Documentation, page: str) -> str | None:
    """Return where a link of a page leads; None if that is code without an address."""
    path, mark, anchor = link.partition("#")
    if not path or "://" in path:
        return link
    folder = dirname(docs.repository_path(page))
    target = normpath(f"{folder}/{path}")
    if target in docs.names:
        return f"{docs.names[target]}{mark}{anchor}"
    if docs.code:
        return f"{docs.code}/blob/main/{target}{mark}{anchor}"
    return None


def _navigation(docs: Documentation, current: str) -> str:
    """List the pages as HTML links, and mark the current one."""
    links = []
    for name, title in docs.titles.items():
        mark = " aria-current=page" if name == current else ""
        text = html.escape(title)
        links.append(f'<a href="{name}"{mark}>{text}</a>')
    return "".join(links)
