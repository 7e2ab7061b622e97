"""The documentation as pages under `/docs/`, and the links at the page's head: to it, paper, API and code."""

import html
import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from pathlib import Path
from posixpath import normpath
from string import Template

from markdown_it import MarkdownIt
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from nt2vr.settings import DOCS
from nt2vr.ui.theme import TEMPLATES

PAPER = "https://doi.org/10.1145/3503161.3547968"
START = "app.md"  # the page that `/docs/` shows
MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")


@dataclass(frozen=True)
class Documentation:
    """Serves the pages of a folder and what they show; nothing else, whatever is asked for."""

    code: str = ""  # address of the code, which links to its files lead to; without one they are plain text
    folder: Path = DOCS  # of the pages; none in it, none is served

    @cached_property
    def files(self) -> dict[str, Path]:
        found = {path.name: path for path in self.folder.glob("[!.]*") if path.is_file()}
        return found | {"style.css": TEMPLATES / "style.css"}

    @cached_property
    def titles(self) -> dict[str, str]:
        """The pages' titles by their names, the first page first."""
        pages = [(name, path) for name, path in self.files.items() if path.suffix == ".md"]
        titles = {name: path.read_text("utf-8").partition("\n")[0].lstrip("# ") for name, path in pages}
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
    for link in (each for token in tokens for each in token.children or () if each.type == "link_open"):
        if (address := _address(str(link.attrs.pop("href")), docs)) is not None:
            link.attrs["href"] = address
    pages = (
        f'<a href="{each}"{" aria-current=page" * (each == name)}>{html.escape(title)}</a>'
        for each, title in docs.titles.items()
    )
    return Template((TEMPLATES / "docs.html").read_text("utf-8")).substitute(
        title=html.escape(docs.titles[name]),
        pages="".join(pages),
        article=MARKDOWN.renderer.render(tokens, MARKDOWN.options, {}),
    )


def _address(link: str, docs: Documentation) -> str | None:
    path, mark, anchor = link.partition("#")
    if not path or "://" in path or path in docs.files:
        return link
    return f"{docs.code}/blob/main/{normpath(f'docs/{path}')}{mark}{anchor}" if docs.code else None
