"""What a folder of sentence-transformers or transformers may ask of these libraries."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from nt2vr.errors import CheckpointError
from nt2vr.models.clip_files import MAX_MODULES, check_model_files, limited_layers

ST = "sentence_transformers"
GOOD: dict[str, Any] = {
    "config.json": {
        "text_config": {
            "num_hidden_layers": 36,
            "activation_function": "gelu",
            "layer_norm_eps": 1e-6,
        },
        "vision_config": {"depth": 24, "depths": [2, 2, 18, 2], "attn_implementation": "sdpa"},
        "types": ["an", "unrelated", "list"],
    },
    "modules.json": [
        {"idx": 0, "name": "0", "path": "", "type": f"{ST}.base.modules.transformer.Transformer"},
        {"idx": 1, "name": "1", "path": "1_Pooling", "type": f"{ST}.models.Pooling"},
        {
            "idx": 2,
            "name": "2",
            "path": "2_Normalize",
            "type": f"{ST}.sentence_transformer.modules.Normalize",
        },
    ],
    "2_Dense/config.json": {"activation_function": "torch.nn.modules.activation.Tanh"},
    "3_Router/router_config.json": {"types": {"query_0": f"{ST}.models.Dense"}},
    "tokenizer.json": {"model": {"vocab": {"layers": 100_000, "num_layers": 100_001}}},
}


def write(folder: Path, files: dict[str, Any]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))
    return folder


def module(class_name: Any, path: str = "") -> list[dict[str, Any]]:
    return [{"idx": 0, "name": "0", "path": path, "type": class_name}]


def test_usual_models_are_let_in(tmp_path: Path) -> None:
    check_model_files(write(tmp_path, GOOD), "mine")


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("config.json", {"num_hidden_layers": 1_000_000}),
        ("config.json", {"text_config": {"num_hidden_layers": 501}}),
        ("config.json", {"vision_config": {"depths": [2, 2, 18, 2_000]}}),
        ("config.json", {"n_layer": 1e9}),
        ("config.json", {"towers": [{"inner": {"encoder_layers": 10**30}}]}),
        ("sentence_bert_config.json", {"config_args": {"num_hidden_layers": 100_000}}),
        ("1_Pooling/config.json", {"num_layers": 100_000}),
        ("modules.json", module("modeling.Mine")),
        ("modules.json", module(f"{ST}.base.model.pickle")),
        (
            "modules.json",
            module(f"{ST}.sentence_transformer.modules.word_embeddings.WordEmbeddings"),
        ),
        ("modules.json", module(f"{ST}.models.Transformer.load")),
        ("modules.json", module(None)),
        ("modules.json", module(f"{ST}.models.Pooling", "../../elsewhere")),
        ("modules.json", module(f"{ST}.models.Pooling", "/etc")),
        ("modules.json", {"0": f"{ST}.models.Pooling"}),
        ("modules.json", "no json"),
        ("router_config.json", {"types": {"query": f"{ST}.util.misc.import_from_string"}}),
        ("1_Asym/config.json", {"types": {"query": "os.system"}}),
        ("2_Dense/config.json", {"activation_function": "torch.hub.load"}),
        ("2_Dense/config.json", {"activation_function": f"{ST}.base.model.pickle"}),
        ("config.json", {"attn_implementation": "somebody/kernels"}),
        ("config.json", {"_attn_implementation": "somebody/kernels@main:attention"}),
        ("config.json", {"text_config": {"_attn_implementation_internal": "somebody/kernels"}}),
        ("config.json", {"attn_implementation": {"text_config": "somebody/kernels"}}),
        ("config.json", {"experts_implementation": "somebody/kernels"}),
        ("sentence_bert_config.json", {"model_args": {"attn_implementation": "somebody/kernels"}}),
        ("config.json", "[" * 100_000),
    ],
)
def test_a_folder_names_no_code_and_few_layers(tmp_path: Path, file: str, content: Any) -> None:
    with pytest.raises(CheckpointError, match="mine"):
        check_model_files(write(tmp_path, {**GOOD, file: content}), "mine")


@pytest.mark.slow
def test_layers_under_any_name_are_counted_while_they_are_built() -> None:
    with pytest.raises(CheckpointError, match=r"mine .*50,000"), limited_layers("mine"):
        torch.nn.ModuleList(torch.nn.Identity() for _ in range(MAX_MODULES + 1))
    with limited_layers("mine"):
        torch.nn.ModuleList(torch.nn.Identity() for _ in range(1_000))
    assert (
        len(torch.nn.ModuleList(torch.nn.Identity() for _ in range(MAX_MODULES + 1))) > MAX_MODULES
    )
