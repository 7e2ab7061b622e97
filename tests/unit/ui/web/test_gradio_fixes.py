"""Each fix of Gradio: the fault without it, and that it is gone with it.

Where the first half fails after an upgrade, Gradio no longer has the fault: remove the fix.
"""

import asyncio
import inspect
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import gradio as gr
import httpx
import pytest
from gradio import processing_utils, queueing, route_utils, routes
from gradio.blocks import Block, BlocksConfig
from gradio.components import Component
from gradio.events import api
from gradio.mcp import GradioMCPServer
from gradio.state_holder import SessionState
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient

from nt2vr.ui import quickly_imported
from nt2vr.ui.web import gradio_fixes
from nt2vr.ui.web.gradio_fixes import (
    check_inputs,
    is_odd_mcp_request,
    keep_no_statistics,
    keep_signatures,
    keep_temporary_files,
    limit_files,
    log_in_one_line,
    offer_tools,
    postprocess_what_needs_it,
    refuse_downloads,
    share_configurations,
    show_progress_where_seen,
    wake_queue,
)
from tests.support.running import in_thread

URL = "https://example.org/x.png"


def page_with(build: Callable[[], Any]) -> tuple[gr.Blocks, Callable[[Any], Any]]:
    """Return a page of one component, and a function that sends it a value and returns what a handler would get."""
    page: gr.Blocks
    with gr.Blocks() as page:
        component = build()
        gr.Button().click(lambda value: None, component, None)
    (handler,) = page.fns.values()
    return page, lambda value: in_thread(page.preprocess_data(handler, [value], None))[0]


def client() -> TestClient:
    page, _ = page_with(gr.Textbox)
    # As after `launch`.
    page.max_file_size = None
    return TestClient(routes.App.create_app(page), base_url="http://127.0.0.1")


def test_components_are_imported_without_writing_stubs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("gradio_slow", "gradio_quick"):
        (tmp_path / f"{name}.py").write_text("import gradio\n\n\nclass Box(gradio.Textbox): ...\n")
    import_module("gradio_slow")
    assert (tmp_path / "gradio_slow.pyi").exists(), (
        "Gradio leaves stubs alone: remove quickly_imported"
    )
    with quickly_imported():
        import_module("gradio_quick")
    assert not (tmp_path / "gradio_quick.pyi").exists()


def test_downloads_that_a_request_asks_for_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    fetched: list[str] = []

    async def fetch(url: str) -> None:
        fetched.append(url)
        raise ConnectionError

    monkeypatch.setattr(processing_utils, "async_ssrf_protected_get", fetch)
    _, send = page_with(gr.Image)
    picture = {"path": URL, "meta": {"_type": "gradio.FileData"}}
    with pytest.raises(ConnectionError):
        send(picture)
    assert fetched == [URL], "Gradio no longer downloads it: remove refuse_downloads"
    # This restores it after the test.
    download = processing_utils.async_ssrf_protected_download
    monkeypatch.setattr(processing_utils, "async_ssrf_protected_download", download)
    refuse_downloads()
    with pytest.raises(gr.Error):
        send(picture)
    assert fetched == [URL]


def test_a_request_uploads_so_many_files_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    files = [("files", (f"{number}.txt", b"x")) for number in range(4)]
    app = client()
    assert app.post("/gradio_api/upload", files=files).status_code == 200
    # This restores it after the test.
    parser = route_utils.GradioMultiPartParser
    monkeypatch.setattr(route_utils, "GradioMultiPartParser", parser)
    limit_files(3)
    answer = app.post("/gradio_api/upload", files=files)
    assert (answer.status_code, answer.text) == (
        400,
        "Too many files. Maximum number of files is 3.",
    )
    assert app.post("/gradio_api/upload", files=files[:3]).status_code == 200


def test_a_url_in_a_path_is_recognised(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    served: list[str] = []

    async def serve(url: str, request: Any) -> PlainTextResponse:
        served.append(url)
        return PlainTextResponse("from elsewhere")

    monkeypatch.setattr(routes, "secure_url_stream_response", serve)
    paths = [f"/gradio_api/file={URL}", f"/gradio_api/file/{URL}"]
    app = client()
    answers = [app.get(path).text for path in paths]
    assert answers == ["from elsewhere"] * 2 and served == [URL] * 2, (
        "Gradio no longer serves it: let it answer"
    )
    # This is what RequestChecks refuses.
    for path in paths:
        assert "://" in path


@pytest.mark.parametrize(
    ("build", "value"),
    [(lambda: gr.Slider(0, 1), "abc"), (gr.Image, "abc"), (lambda: gr.Radio(["a"]), "b")],
)
def test_an_error_of_gradio_becomes_one_sentence(build: Callable[[], Any], value: object) -> None:
    page, send = page_with(build)
    with pytest.raises(Exception) as caught:
        send(value)
    assert getattr(caught.value, "print_exception", True), (
        "Gradio refuses it in a sentence: remove this case"
    )
    check_inputs(page)
    with pytest.raises(gr.Error) as refused:
        send(value)
    assert not refused.value.print_exception
    assert "\n" not in refused.value.message


def test_a_text_that_is_null_is_empty() -> None:
    page, send = page_with(gr.Textbox)
    assert send(None) is None, "Gradio makes it empty: remove this from check_inputs"
    check_inputs(page)
    assert send(None) == ""


def test_the_mcp_page_runs_no_script_of_its_address() -> None:
    path = "/gradio_api/mcp/</script><script>alert(1)</script>/gradio_api/mcp"
    scope = {"method": "GET", "path": path, "headers": []}
    page = GradioMCPServer._landing_page_html(GradioMCPServer._server_url_from_scope(scope))
    assert "</script><script>alert(1)</script>" in page, (
        "Gradio escapes it now: answer GET, as agents may use it"
    )
    assert is_odd_mcp_request(scope)


def test_agents_are_offered_the_given_tools_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("mcp", reason="needs the MCP package, nt2vr[mcp]")
    page: gr.Blocks
    with gr.Blocks() as page:
        api(search, api_name="agent_search")
        api(evaluate, api_name="evaluate")
    server = GradioMCPServer(page)
    assert set(server.tool_to_endpoint.values()) == {"/agent_search", "/evaluate"}, (
        "Gradio asks: remove offer_tools"
    )
    assert len(server.mcp_server.request_handlers) > 3
    # This restores both after the test.
    for name in ("get_tool_to_endpoint", "create_mcp_server"):
        monkeypatch.setattr(GradioMCPServer, name, getattr(GradioMCPServer, name))
    offer_tools({"search": "/agent_search"})
    server = GradioMCPServer(page)
    assert server.tool_to_endpoint == {"search": "/agent_search"}
    handled = {kind.__name__ for kind in server.mcp_server.request_handlers}
    assert handled == {"PingRequest", "ListToolsRequest", "CallToolRequest"}


def search(query: str) -> str:
    """Search."""
    return query


def evaluate(data: str) -> str:
    """Evaluate, which takes minutes."""
    return data


def test_progress_is_shown_only_where_somebody_sees_it() -> None:
    page: gr.Blocks
    with gr.Blocks() as page:
        with gr.Tabs() as tabs, gr.Tab():
            text = gr.Textbox()
            number = gr.Textbox()
        page.load(gr.skip, None, [tabs, text], show_progress="hidden")
        page.load(gr.skip, None, [tabs, text])
        page.load(gr.skip, None, [tabs, text], show_progress_on=number)
    show_progress_where_seen(page)
    events = page.get_config_file()["dependencies"]
    places = [event["show_progress_on"] for event in events]
    assert places == [[], [text._id], [number._id]]


def test_a_page_is_built_where_gradios_folder_is_another_users(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gradio").touch()
    monkeypatch.setattr(routes, "DEFAULT_TEMP_DIR", str(tmp_path / "gradio"))
    # Otherwise, keep_temporary_files is not needed.
    with pytest.raises(OSError, match="vibe_edit_history"):
        client()
    (tmp_path / "uploads").mkdir()
    keep_temporary_files(tmp_path / "uploads")
    assert client()


@pytest.mark.parametrize(
    ("build", "value"),
    [
        (lambda: gr.HTML({}), None),
        (lambda: gr.HTML({}), [1]),
        (lambda: gr.BrowserState(None), {"a": 1}),
        (lambda: gr.Dropdown(["a"], allow_custom_value=True), ["a"]),
        (lambda: gr.Dropdown(["a"], allow_custom_value=True), {"a": 1}),
        (lambda: gr.Dropdown(["a"], allow_custom_value=True, multiselect=True), [None]),
    ],
)
def test_values_of_a_wrong_kind_are_refused(build: Callable[[], Any], value: Any) -> None:
    page, send = page_with(build)
    assert send(value) == value, "Gradio refuses it: remove this from check_inputs"
    check_inputs(page)
    with pytest.raises(gr.Error):
        send(value)


def test_no_system_that_is_chosen_is_an_empty_list() -> None:
    page, send = page_with(lambda: gr.Dropdown(["a"], multiselect=True))
    assert send(None) is None, "Gradio makes it empty: remove this from check_inputs"
    check_inputs(page)
    assert send(None) == []


def test_errors_of_gradio_are_one_line_of_the_log(
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
) -> None:
    modules = (queueing, route_utils, routes)
    for module in modules:
        monkeypatch.setattr(module, "traceback", module.traceback)
    log_in_one_line()
    for module in modules:
        try:
            raise KeyError("a\nb")
        except KeyError:
            module.traceback.print_exc()
    assert [len(record.getMessage().splitlines()) for record in caplog.records] == [1, 1, 1]
    assert "Traceback" not in capsys.readouterr().err


def test_signatures_of_components_are_worked_out_once() -> None:
    class Box:
        def __init__(self, value: str = "", colour: str = "red") -> None: ...

    worked_out = inspect.signature(Box.__init__)
    assert inspect.signature(Box.__init__) is not worked_out, (
        "Python keeps signatures: remove keep_signatures"
    )
    keep_signatures(cast(gr.Blocks, SimpleNamespace(blocks={1: Box()})))
    assert inspect.signature(Box.__init__) is inspect.signature(Box.__init__)
    assert inspect.signature(Box.__init__) == worked_out


def test_all_sessions_share_configurations_that_were_computed_before() -> None:
    page, _ = page_with(lambda: gr.Textbox("as built"))
    counted = 0
    work_out = Component.get_config

    def counting(self: Component, cls: type[Block] | None = None) -> dict[str, Any]:
        nonlocal counted
        counted += 1
        return work_out(self, cls)

    with pytest.MonkeyPatch.context() as patches:
        patches.setattr(Component, "get_config", counting)
        # These restore both after the test.
        describe = staticmethod(BlocksConfig.config_for_block)
        patches.setattr(BlocksConfig, "config_for_block", describe)
        write_value = SessionState._update_value_in_config
        patches.setattr(SessionState, "_update_value_in_config", write_value)
        untouched = SessionState(page).config_values
        assert counted > 0, "Gradio keeps configurations: remove share_configurations"
        share_configurations(page)
        counted = 0
        first = SessionState(page)
        second = SessionState(page)
        assert counted == 0
        assert first.config_values == untouched
        (number,) = (key for key, block in page.blocks.items() if isinstance(block, gr.Textbox))
        first._update_value_in_config(number, "typed")
        assert first.config_values[number] is second.config_values[number]
        assert second.config_values[number]["props"]["value"] == "as built"


def test_an_output_that_a_handler_skips_is_left_alone() -> None:
    page: gr.Blocks
    with gr.Blocks() as page:
        skipped = gr.Textbox("as built")
        written = gr.Textbox()
        gr.Button().click(lambda: {written: "new"}, None, [skipped, written])
    (handler,) = page.fns.values()

    def answer() -> tuple[list[Any], bool]:
        state = SessionState(page)
        values = in_thread(page.postprocess_data(handler, {written: "new"}, state))
        return values, state[skipped._id] is skipped

    values, is_left_alone = answer()
    assert not is_left_alone, (
        "Gradio leaves skipped outputs alone: remove this from postprocess_what_needs_it"
    )
    postprocess_what_needs_it(page)
    assert answer() == (values, True)
    assert values == [gr.skip(), "new"]


def test_values_of_templates_are_sent_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    page: gr.Blocks
    with gr.Blocks() as page:
        columns = gr.HTML({}, html_template="")
        text = gr.Textbox()
        number = gr.Number(1)
        gr.Button().click(dict, None, [columns, text, number])
    (handler,) = page.fns.values()
    searched: list[Any] = []
    move_files = processing_utils.async_move_files_to_cache

    async def search_for_files(value: Any, *args: Any, **options: Any) -> Any:
        searched.append(value)
        return await move_files(value, *args, **options)

    monkeypatch.setattr(processing_utils, "async_move_files_to_cache", search_for_files)
    view = {"columns": [{"system": "CLIP"}]}
    answers: list[dict[Any, Any]] = [
        {columns: view, text: "new"},
        {columns: view},
        {columns: gr.HTML(visible=False), text: "new"},
    ]

    def answered() -> list[list[Any]]:
        values = []
        for answer in answers:
            state = SessionState(page)
            values.append(in_thread(page.postprocess_data(handler, answer, state)))
        return values

    expected = answered()
    assert view in searched, "Gradio sends it as it is: remove this from postprocess_what_needs_it"
    postprocess_what_needs_it(page)
    searched.clear()
    assert answered() == expected
    assert view not in searched
    assert expected[0] == [view, "new", gr.skip()]


def test_no_statistics_of_events_are_kept() -> None:
    page: gr.Blocks
    with gr.Blocks() as page:
        text = gr.Textbox()
        gr.Button().click(str, text, text, api_name="repeat")
    body = {"data": ["a"], "session_hash": "one", "fn_index": 0}
    queue = page._queue

    def num_kept() -> int:
        page.max_file_size = None
        with TestClient(routes.App.create_app(page), base_url="http://127.0.0.1") as app:
            assert app.post("/gradio_api/queue/join", json=body).status_code == 200
        return len(queue.event_analytics)

    assert num_kept() == 1, "Gradio keeps no statistics: remove keep_no_statistics"
    keep_no_statistics(page)
    assert num_kept() == 0


def test_an_event_starts_as_it_arrives(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page: gr.Blocks
    with gr.Blocks() as page:
        text = gr.Textbox()
        gr.Button().click(str, text, text, api_name="repeat")
    assert page._queue.sleep_when_free < 0.1, "Gradio waits for events: remove wake_queue"
    # This restores it after the test.
    monkeypatch.setattr(queueing, "asyncio", asyncio)
    monkeypatch.setattr(gradio_fixes, "QUEUE_PAUSE_S", 3600)
    wake_queue(page)
    page.launch(prevent_thread_lock=True, quiet=True)
    try:
        with httpx.Client(base_url=page.local_url or "", timeout=60) as client:
            for typed in ("first", "second"):
                body = {"data": [typed], "session_hash": "one", "fn_index": 0}
                client.post("gradio_api/queue/join", json=body).raise_for_status()
                answer = client.get("gradio_api/queue/data", params={"session_hash": "one"})
                assert f'"data":["{typed}"]' in answer.text
    finally:
        page.close()
