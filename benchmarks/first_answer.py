"""Make the answer that the page opens with, assets/first-answer.json: `python -m benchmarks.first_answer`.

Run it again whenever the default query, its systems, their models, the gallery, or what the page
shows of an answer changes. `tests/unit/ui/search/test_first_answer.py` says so.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import gradio as gr

from benchmarks.harness import arguments
from nt2vr.files import write_json
from nt2vr.services import Services
from nt2vr.settings import Settings, prepare_environment
from nt2vr.ui.library.indexing import Indexing
from nt2vr.ui.library.media import Media
from nt2vr.ui.search.columns import Marked
from nt2vr.ui.search.first_answer import FILE, fingerprint
from nt2vr.ui.search.tab import SearchTab
from nt2vr.ui.view import View
from nt2vr.ui.web.later_parts import LaterParts
from nt2vr.ui.web.permissions import Permissions
from trainer.runs.manager import RunManager


def made(services: Services) -> View:
    """Search as the page does, and return what the panels show."""
    galleries = services.galleries
    permissions = Permissions.of(services.settings)
    page: gr.Blocks
    with gr.Blocks() as page:
        tab = SearchTab(
            galleries,
            Media(galleries, services.libraries, services.decoder, permissions),
            Indexing(services),
            services.pictures,
            permissions,
            head=gr.HTML(),
            marked=lambda *_: Marked(),
            runs=RunManager(services.settings.data_dir / "runs"),
        )
        with gr.Tabs() as tabs, gr.Tab():
            tab.build(page, tabs, LaterParts("more-models"))
    return tab.first_views()


def main() -> None:
    """Write the answer."""
    parser = arguments("first_answer", __doc__)
    parser.add_argument("--out", type=Path, default=FILE, metavar="FILE")
    options = parser.parse_args()
    prepare_environment()
    with TemporaryDirectory() as folder:
        services = Services(Settings.read(folder))
        answer = {"fingerprint": fingerprint(services.models), "views": made(services)}
        write_json(options.out, answer)
        services.close()


if __name__ == "__main__":
    main()
