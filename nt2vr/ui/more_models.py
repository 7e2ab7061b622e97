"""“More models” on the Search tab: open_clip's pre-trained ones, and checkpoints of a person's own."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gradio as gr

from nt2vr.errors import ConfigError
from nt2vr.models.foreign import ACTIVATIONS, SUFFIXES, import_checkpoint
from nt2vr.search.searcher import Searcher
from nt2vr.search.systems import check_model_name
from nt2vr.ui.errors import user_errors

PRETRAINED = (
    "ViT-B-32 / openai",
    "ViT-B-16 / openai",
    "ViT-L-14 / openai",
    "ViT-B-32 / laion2b_s34b_b79k",
    "ViT-B-16 / datacomp_xl_s13b_b90k",
)
WHERE = (
    "Downloads and imports are kept in the data folder. Nothing that a file holds is ever run: only tensors are read."
)
NOT_HERE = "Models cannot be added here. Run the app on your own machine for that."


@dataclass(frozen=True)
class MoreModels:
    """What adds models.

    Attributes:
        searcher: whose models they join.
        max_columns: so many systems are shown side by side; a new model replaces the last where they are full.
        allowed: whether people may add models, and have files of this machine read for it.
    """

    searcher: Searcher
    max_columns: int
    allowed: bool

    def build(self, systems: gr.Dropdown) -> Sequence[Any]:
        """Lay the panel out, and return the events after which the systems are others."""
        with gr.Accordion("More models", open=False, elem_id="more-models", visible=self.allowed):
            with gr.Row():
                pretrained = gr.Dropdown(
                    list(PRETRAINED), value=PRETRAINED[0], allow_custom_value=True, elem_id="pretrained", scale=4,
                    label="Any of open_clip's pre-trained models, as architecture / weights",
                )  # fmt: skip
                download = gr.Button("Download and add", elem_id="download", scale=1, min_width=170)
            with gr.Row():
                file = gr.Textbox(
                    label=f"Or a CLIP that you trained: a file on this computer ({', '.join(SUFFIXES)})",
                    placeholder="~/checkpoints/con-clip.pt", elem_id="import-file", max_lines=1, scale=4,
                )  # fmt: skip
                upload = gr.UploadButton(
                    "Upload it", file_types=list(SUFFIXES), elem_id="import-upload", scale=1, min_width=170
                )
            with gr.Row():
                name = gr.Textbox(
                    label="Name", placeholder="as the file", elem_id="import-name", max_lines=1, scale=2, min_width=120
                )
                architecture = gr.Textbox(
                    label="Architecture", placeholder="as its tensors say; or ViT-B-32, or a model that is here",
                    elem_id="import-architecture", max_lines=1, scale=4, min_width=200,
                )  # fmt: skip
                activation = gr.Dropdown(
                    [("automatic", ""), *((each, each) for each in ACTIVATIONS)], value="", label="Activation",
                    elem_id="import-activation", scale=1, min_width=150,
                )  # fmt: skip
                frames = gr.Number(
                    8,
                    label="Frames",
                    precision=0,
                    minimum=1,
                    elem_id="import-frames",
                    scale=1,
                    min_width=120,
                )
                start = gr.Button("Import and add", elem_id="import", scale=1, min_width=170)
            note = gr.Markdown(WHERE, min_height=40, elem_id="more-models-note")
        private: dict[str, Any] = {"api_visibility": "private", "show_progress_on": note}
        upload.upload(lambda path: path, upload, file, **private)
        asked = [file, name, architecture, activation, frames, systems]
        return (
            download.click(self.on_download, [pretrained, systems], [systems, note], **private),
            start.click(self.on_import, asked, [systems, note, file, name], **private),
        )

    @user_errors
    def on_download(self, name: str, systems: list[str], progress: gr.Progress = gr.Progress()) -> tuple[Any, ...]:  # noqa: B008  Gradio's way to ask for it
        """Fetch a pre-trained model and add it to the columns."""
        self._check_allowed()
        progress(0, desc=f"asking for {name}")
        added = self.searcher.models.download(
            name, lambda done, total, doing: progress((done, total or None), desc=doing, unit="bytes")
        )
        return self._with(added, systems), f"Added {added}."

    @user_errors
    def on_import(
        self, file: str, name: str, architecture: str, activation: str, frames: float, systems: list[str],
        progress: gr.Progress = gr.Progress(),  # noqa: B008  Gradio's way to ask for it
    ) -> tuple[Any, ...]:  # fmt: skip
        """Import a file of this machine and add it to the columns."""
        self._check_allowed()
        if not (file or "").strip():
            raise ConfigError("Name a checkpoint file on this computer, or upload one.")
        path, models = Path(file.strip()).expanduser(), self.searcher.models
        check_model_name(name or path.stem)
        imported = import_checkpoint(
            path, models, name or "", architecture or "", int(frames or 0), activation or "",
            lambda done, total, doing: progress((done, total), desc=doing),
        )  # fmt: skip
        return self._with(imported.name, systems), f"Added {imported.name}. {imported.remark}", "", ""

    def _check_allowed(self) -> None:
        if not self.allowed:  # a hidden panel can be called all the same
            raise ConfigError(NOT_HERE)

    def _with(self, name: str, systems: list[str]) -> gr.Dropdown:
        chosen = dict.fromkeys([*(systems or [])[: self.max_columns - 1], name])
        return gr.Dropdown(self.searcher.system_names(), value=list(chosen))
