"""“More models” on the Search tab: downloads open_clip's pretrained models and imports checkpoints."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import gradio as gr

from nt2vr.errors import ConfigError
from nt2vr.models.foreign import ACTIVATIONS, import_checkpoint
from nt2vr.models.foreign_file import SUFFIXES
from nt2vr.search.searcher import Searcher
from nt2vr.search.systems import check_model_name
from nt2vr.ui.errors import user_errors
from nt2vr.ui.gate import Gate
from nt2vr.ui.theme import fold
from nt2vr.ui.uploads import is_upload

PRETRAINED = (
    "ViT-B-32 / openai",
    "ViT-B-16 / openai",
    "ViT-L-14 / openai",
    "ViT-B-32 / laion2b_s34b_b79k",
    "ViT-B-16 / datacomp_xl_s13b_b90k",
)
WHERE = "Models are stored in the data folder. Files are never executed: only their tensors are read."


# Add the model to whatever is chosen by now; clear the boxes unless the person has typed something new since.
ADD = """({{ model, file, name }}, systems, fileNow, nameNow) => [
  [...new Set([...(systems ?? []).slice(0, {others}), model])],
  fileNow === file ? "" : fileNow,
  nameNow === name ? "" : nameNow,
]"""


@dataclass
class MoreModels:
    """Panel for adding models.

    Attributes:
        searcher: gets the models.
        max_columns: most systems to compare; where all are taken, a new model replaces the last.
        gate: says who may download and import models, and name files of this machine.
    """

    searcher: Searcher
    max_columns: int
    gate: Gate
    _systems: gr.Dropdown = field(init=False)
    _note: gr.Markdown = field(init=False)
    _added: gr.JSON = field(init=False)  # for the browser: the model, and what the boxes held

    def build(self, systems: gr.Dropdown, page: gr.Blocks) -> Sequence[Any]:
        """Lay the panel out; return the events after which a model has joined the chosen `systems`."""
        self._systems = systems
        with fold("More models", elem_id="more-models"):
            with gr.Row():
                pretrained = gr.Dropdown(
                    list(PRETRAINED), value=PRETRAINED[0], allow_custom_value=True, elem_id="pretrained", scale=4,
                    label="Any pretrained model of open_clip, as architecture / weights",
                )  # fmt: skip
                download = gr.Button("Download and add", elem_id="download", scale=1, min_width=170)
            with gr.Row():
                file = gr.Textbox(
                    label=f"Or a CLIP checkpoint of your own: a file on this computer ({', '.join(SUFFIXES)})",
                    placeholder="~/checkpoints/con-clip.pt", elem_id="import-file", max_lines=1, scale=4,
                )  # fmt: skip
                upload = gr.UploadButton(
                    "Upload it", file_types=list(SUFFIXES), elem_id="import-upload", scale=1, min_width=170
                )
            name, options, start = self._lay_out_import()
            self._note = gr.Markdown(WHERE, min_height=40, elem_id="more-models-note")
            self._added = gr.JSON(visible="hidden")
        private: dict[str, Any] = {"api_visibility": "private", "show_progress_on": self._note}
        upload.upload(self.on_upload, upload, file, **private)
        page.load(
            self.on_visit, None, [download, upload, start, self._note], show_progress="hidden",
            api_visibility="private",
        )  # fmt: skip
        answered = [systems, self._note, self._added]
        downloaded = download.click(self.on_download, [pretrained, systems], answered, **private)
        imported = start.click(self.on_import, [file, name, *options, systems], answered, **private)
        return [
            event.success(
                None, [self._added, systems, file, name], [systems, file, name],
                js=ADD.format(others=self.max_columns - 1), api_visibility="private",
            )
            for event in (downloaded, imported)
        ]  # fmt: skip

    def _lay_out_import(self) -> tuple[gr.Textbox, list[gr.components.Component], gr.Button]:
        with gr.Row():
            name = gr.Textbox(
                label="Name", placeholder="default: the file's", elem_id="import-name", max_lines=1, scale=2,
                min_width=120,
            )  # fmt: skip
            architecture = gr.Textbox(
                label="Architecture", placeholder="default: detected; or ViT-B-32, or the name of a model here",
                elem_id="import-architecture", max_lines=1, scale=4, min_width=200,
            )  # fmt: skip
            activation = gr.Dropdown(
                [("automatic", ""), *((each, each) for each in ACTIVATIONS)], value="", label="Activation",
                elem_id="import-activation", scale=1, min_width=150,
            )  # fmt: skip
            frames = gr.Number(
                8, label="Frames", precision=0, minimum=1, elem_id="import-frames", scale=1, min_width=120
            )
            start = gr.Button("Import and add", elem_id="import", scale=1, min_width=170)
        return name, [architecture, activation, frames], start

    @user_errors
    def on_visit(self, request: gr.Request) -> list[Any]:
        """Disable what this visitor may not do, and say why."""
        may_import, may_download = (self.gate.may(action, request) for action in ("import", "download"))
        note = self.gate.refusal(request, "download", "import") or WHERE
        buttons = (may_download, may_import, may_import)
        return [*(gr.Button(interactive=allowed) for allowed in buttons), note]

    @user_errors
    def on_upload(self, path: str | None, request: gr.Request) -> str:
        """Name the uploaded file in the box, as the file to import."""
        self.gate.check("import", request)
        if path is None or not is_upload(path):
            raise ConfigError("There is no such file among the uploaded ones. Upload it again.")
        return path

    @user_errors
    def on_download(
        self,
        name: str,
        chosen: list[str] | None,
        request: gr.Request,
        progress: gr.Progress = gr.Progress(),  # noqa: B008  Gradio's idiom
    ) -> dict[Any, Any]:
        """Fetch a pretrained model and add it to the columns."""
        self.gate.check("download", request)
        progress(0, desc=f"asking for {name}")
        added = self.searcher.models.download(
            name, lambda done, total, doing: progress((done, total or None), desc=doing, unit="bytes")
        )
        return self._result(added, "", chosen)

    @user_errors
    def on_import(
        self, file: str, name: str, architecture: str, activation: str, frames: float, chosen: list[str] | None,
        request: gr.Request, progress: gr.Progress = gr.Progress(),  # noqa: B008  Gradio's idiom
    ) -> dict[Any, Any]:  # fmt: skip
        """Import a file of this machine and add it to the columns."""
        self.gate.check("import", request)
        if not (file or "").strip():
            raise ConfigError("Name a checkpoint file on this computer, or upload one.")
        path, models = Path(file.strip()).expanduser(), self.searcher.models
        if not is_upload(path):
            self.gate.check("paths", request)
        check_model_name(name or path.stem)
        imported = import_checkpoint(
            path, models, name or "", architecture or "", int(frames or 0), activation or "",
            lambda done, total, doing: progress((done, total), desc=doing),
        )  # fmt: skip
        return self._result(imported.name, imported.remark, chosen, file=file, name=name)

    def _result(self, model: str, remark: str, chosen: Sequence[str] | None, **boxes: str) -> dict[Any, Any]:
        return {
            self._systems: gr.Dropdown(self.searcher.system_names(chosen or ())),
            self._note: f"Added {model}. {remark}",
            self._added: {"model": model, **boxes},
        }
