"""The closing slide of the stage."""

from typing import Any
from urllib.parse import unquote

import cv2
import gradio as gr
import numpy as np
import pytest
import resvg_py

from nt2vr.evaluation.ready_report import ready_report
from nt2vr.ui.closing import ClosingSlide, code_view, figures_view, is_public
from nt2vr.ui.evaluate.report_view import report_view

ADDRESS = "https://ada-nt2vr.hf.space/"


def read_code(picture: str) -> str:
    """Return what a phone reads in a QR code that is an SVG in a data URL."""
    _, _, svg = picture.partition(",")
    png = resvg_py.svg_to_bytes(svg_string=unquote(svg), width=400)
    pixels = cv2.imdecode(np.frombuffer(bytes(png), np.uint8), cv2.IMREAD_COLOR)
    assert pixels is not None
    text, _, _ = cv2.QRCodeDetector().detectAndDecode(pixels)
    return text


@pytest.mark.parametrize(
    "address",
    [
        ADDRESS,
        "http://192.168.1.7:7860/",
        "https://videos.example/nt2vr/?stage=1",
        "http://[fd00::7]/",
    ],
)
def test_a_phone_reads_the_address_in_the_code(address: str) -> None:
    view = code_view(address)
    assert view["address"] == address
    assert read_code(view["code"]) == address


@pytest.mark.parametrize(
    "address",
    [
        *("http://127.0.0.1:7860/", "http://localhost:7860/", "http://[::1]:7860/"),
        *("", "javascript:alert(1)", "file:///etc/hostname", "https:///nt2vr", "http://[::1"),
        f"https://videos.example/{'a' * 300}",
    ],
)
def test_an_address_that_others_cannot_open_has_no_code(address: str) -> None:
    assert not is_public(address)
    assert code_view(address) == {}


@pytest.mark.parametrize(
    ("public_address", "opened", "expected"),
    [
        ("", ADDRESS, ADDRESS),
        (
            "https://videos.example/nt2vr/",
            "http://127.0.0.1:7860/nt2vr/",
            "https://videos.example/nt2vr/",
        ),
        ("https://videos.example/nt2vr/", ADDRESS, ADDRESS),
        ("", "http://127.0.0.1:7860/", None),
    ],
)
def test_the_address_is_the_one_opened_or_set(
    public_address: str, opened: str, expected: str | None
) -> None:
    view = ClosingSlide(public_address).on_show({"score": "4 of 5"}, event_with(address=opened))
    assert (view.get("address"), view["score"]) == (expected, "4 of 5")


def event_with(**values: Any) -> gr.EventData:
    return gr.EventData(None, values)


def test_the_figures_are_those_of_the_shipped_report() -> None:
    report = ready_report()
    view = figures_view(report)
    chart = {}
    for panel in report_view(report, "ready", [])["chart"]:
        for bar in panel["rows"]:
            chart[bar["system"], panel["title"]] = bar["text"]
    assert [row["system"] for row in view["rows"]] == ["CLIP", "CLIP drop", "CLIP-bnl", "CLIP-neg"]
    for row in view["rows"]:
        # In the last column, no figure is clearly best.
        has_best = [True, True, False] if row["system"] == "CLIP-neg" else [False] * 3
        assert [cell["best"] for cell in row["cells"]] == has_best
        for measure, cell in zip(view["measures"], row["cells"], strict=True):
            assert cell["text"] == chart.get((row["system"], measure["title"]), "–")
