"""The form that adds a model from any source."""

from typing import Any

import gradio as gr

from nt2vr.models.acquire import FILE_SUFFIXES
from nt2vr.models.download import RECOMMENDED
from nt2vr.models.options import ACTIVATIONS
from nt2vr.ui.theme import fold, menu
from nt2vr.ui.web.errors import problem_place
from nt2vr.ui.web.inputs import Components

SOURCE = "Model to add: one of the above, or type to search all of open_clip's"
OTHER_SOURCES = (
    "Or a file or folder on this computer (~/checkpoints/best.pt, ~/models/mine), a repository on the Hugging "
    "Face Hub (hf:OWNER/NAME), a model of sentence-transformers (st:OWNER/NAME), or embeddings (mine.npz)."
)
WHERE = (
    "Models are stored in the data folder. Files are never executed: only their tensors are read."
)


class AddModelForm:
    """The source of a model to add, the settings of the addition, and what came of it.

    Attributes:
        added: tells the browser which model was added, and what the boxes held.
    """

    def __init__(self) -> None:
        self.source = gr.Textbox(
            RECOMMENDED[0].name,
            label=SOURCE,
            info=OTHER_SOURCES,
            max_lines=1,
            elem_id="model-source",
        )
        with gr.Row(elem_id="model-buttons"):
            self.add = _button("model-add", "Add", variant="primary")
            self.upload = gr.UploadButton(
                "Upload a file",
                file_types=list(FILE_SUFFIXES),
                elem_id="model-upload",
                scale=0,
                min_width=120,
            )
            self.cancel = _button("model-cancel", "Cancel")
        self.problem = problem_place("model-problem")
        with fold("Name and settings", elem_id="model-options"):
            self._build_options()
        self.note = gr.Markdown(WHERE, min_height=40, elem_id="more-models-note")
        self.added = gr.JSON(visible="hidden")

    def _build_options(self) -> None:
        with gr.Row():
            self.name = _box("model-name", "Name", "default: the source's", scale=2, min_width=150)
            self.architecture = _box(
                "model-architecture",
                "Architecture",
                "automatic; or ViT-B-32, or a model here",
                scale=3,
                min_width=200,
            )
        with gr.Row():
            self.activation = menu(
                "model-activation",
                "Activation",
                [("automatic", ""), *((name, name) for name in ACTIVATIONS)],
                value="",
                scale=1,
                min_width=130,
            )
            # An empty box would become 0 in the browser anyway.
            self.frames = gr.Number(
                0,
                label="Frames, 0: automatic",
                elem_id="model-frames",
                precision=0,
                minimum=0,
                scale=1,
                min_width=160,
            )
            self.key = _box(
                "model-key", "Key, of several models", "state_dict_ema", scale=1, min_width=160
            )

    @property
    def inputs(self) -> Components:
        """What an addition depends on."""
        return [self.source, self.name, self.architecture, self.activation, self.frames, self.key]


def _button(elem_id: str, text: str, **options: Any) -> gr.Button:
    return gr.Button(text, elem_id=elem_id, scale=0, min_width=76, **options)


def _box(elem_id: str, label: str, placeholder: str, scale: int, min_width: int) -> gr.Textbox:
    return gr.Textbox(
        label=label,
        placeholder=placeholder,
        max_lines=1,
        elem_id=elem_id,
        scale=scale,
        min_width=min_width,
    )
