"""Values in templates of `gr.HTML`: code with Gradio alone, text with the script in the page's head."""

import gradio as gr
import pytest
from playwright.sync_api import Browser, expect

from nt2vr.settings import ASSETS
from nt2vr.ui.web.gradio_fixes import template_script
from tests.browser.conftest import fresh_page
from tests.conftest import free_port

TYPED = r"${6*7} \u0041 ` <b>"


@pytest.mark.parametrize("fixed", [False, True], ids=["Gradio alone", "with the script"])
def test_a_value_in_a_template_is_run_by_gradio_alone_and_is_text_with_the_script(
    chromium: Browser, fixed: bool
) -> None:
    with gr.Blocks(analytics_enabled=False) as blocks:
        gr.HTML({"typed": TYPED}, html_template='<p id="typed">{{value.typed}}</p>')
    head = template_script(ASSETS / "ui") if fixed else None
    _, url, _ = blocks.launch(server_port=free_port(), head=head, ssr_mode=False, prevent_thread_lock=True, quiet=True)
    try:
        with fresh_page(chromium, url) as page:
            page.goto(url)
            expect(page.locator("#typed")).to_have_text(TYPED if fixed else "42 A ` <b>")  # else remove the script
    finally:
        blocks.close()
