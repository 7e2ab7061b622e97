"""The documentation as pages under `/docs/`, and the links at the page's head: to it, paper, API and code."""

import html
import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from pathlib import Path
from posixpath import dirname, normpath
from string import Template

from markdown_it import MarkdownIt
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
START = "app.md"  # the page that `/docs/` shows
PAPERS = "nt2vr/papers"  # in the repository
ADDRESSES = {"link_open": "href", "image": "src"}  # attribute with the address, by type of token
MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")


@dataclass(frozen=True)
class Documentation:
    """Serves the pages of a folder, what they show, and a page per paper; nothing else, whatever is asked for."""

    code: str = (
        ""  # address of the code, which links to its files lead to; without one they are plain text
    )
    folder: Path = DOCS  # of the pages; none in it, none is served
    papers: Path = PACKAGE / "papers"  # has a folder per paper, each with a README.md

    @cached_property
    def files(self) -> dict[str, Path]:
        """The files by the names under which they are served."""
        files = {path.name: path for path in self.folder.glob("[!.]*") if path.is_file()}
        for page in self.papers.glob("*/README.md"):
            files[f"paper-{page.parent.name}.md"] = page
        return files | {"style.css": TEMPLATES / "style.css"}

    @cached_property
    def names(self) -> dict[str, str]:
        """The names under which files are served, by their paths in the repository."""
        return {self.repository_path(name): name for name in self.files}

    def repository_path(self, name: str) -> str:
        """Return where a file that is served lies in the repository."""
        path = self.files[name]
        if path.is_relative_to(self.papers):
            return f"{PAPERS}/{path.relative_to(self.papers).as_posix()}"
        return f"docs/{name}"

    @cached_property
    def titles(self) -> dict[str, str]:
        """The pages' titles by their names, the first page first."""
        pages = [(name, path) for name, path in self.files.items() if path.suffix == ".md"]
        titles = {
            name: path.read_text("utf-8").partition("\n")[0].lstrip("# ") for name, path in pages
        }
        return dict(sorted(titles.items(), key=lambda each: (each[0] != START, each[1].lower())))

    def routes(self) -> list[Route]:
        to_folder = RedirectResponse("docs/")  # links are relative to the folder
        return [Route("/docs", lambda _: to_folder), Route("/docs/{name:path}", self._answer)]

    def links(self) -> str:
        places = [("Paper", "Learn to Understand Negation in Video Retrieval", PAPER)]
        places += [("Docs", "Documentation", "docs/")] if START in self.files else []
        places += [("API", "Search from programs", "api/docs")]
        places += [("Code", "The code of this app", f"{self.code}/tree/main")] if self.code else []
        links = (
            f'<a href="{html.escape(address)}" title="{title}" target="_blank" rel="noopener">{name}</a>'
            for name, title, address in places
        )
        return f'<nav class="nt-links" aria-label="About nT2VR">{"".join(links)}</nav>'

    def _answer(self, request: Request) -> Response:
        name = request.path_params["name"] or START
        if name in self.titles:
            return HTMLResponse(_page(self, name))
        if name in self.files:
            return FileResponse(self.files[name])
        return PlainTextResponse("The documentation has no such page.", 404)


@lru_cache  # the longest takes .1 s
def _page(docs: Documentation, name: str) -> str:
    """Render a page: headings get GitHub's anchors, and links to files that are not served lead to the code."""
    tokens = MARKDOWN.parse(docs.files[name].read_text("utf-8"))
    for heading, inline in pairwise(tokens):
        if heading.type == "heading_open":
            heading.attrSet("id", re.sub(r"[^\w\- ]", "", inline.content.lower()).replace(" ", "-"))
    for token in (
        child for block in tokens for child in block.children or () if child.type in ADDRESSES
    ):
        attribute = ADDRESSES[token.type]
        address = _address(str(token.attrs.pop(attribute)), docs, name)
        if address is not None:
            token.attrs[attribute] = address
    pages = (
        f'<a href="{each}"{" aria-current=page" * (each == name)}>{html.escape(title)}</a>'
        for each, title in docs.titles.items()
    )
    return Template((TEMPLATES / "docs.html").read_text("utf-8")).substitute(
        title=html.escape(docs.titles[name]),
        pages="".join(pages),
        article=MARKDOWN.renderer.render(tokens, MARKDOWN.options, {}),
    )


def _address(link: str, docs: Documentation, page: str) -> str | None:
    """Return where a link of a page leads: to what is served, or to the code; None without an address of the code."""
    path, mark, anchor = link.partition("#")
    if not path or "://" in path:
        return link
    target = normpath(f"{dirname(docs.repository_path(page))}/{path}")
    if target in docs.names:
        return f"{docs.names[target]}{mark}{anchor}"
    return f"{docs.code}/blob/main/{target}{mark}{anchor}" if docs.code else None
