"""Names of transformers' CLIPs, and those of open_clip."""

import re
from typing import TYPE_CHECKING

from nt2vr.models.weights import SCALARS

if TYPE_CHECKING:
    from torch import Tensor

    Weights = dict[str, Tensor]


# Names of transformers' models in open_clip's; each rule is applied to all names, one after the
# other.
PROBE = "vision_model.head.probe"  # marks SigLIP
TEXT_RULES = (
    (r"^text_model\.embeddings\.token_embedding", "token_embedding"),
    (r"^text_model\.embeddings\.position_embedding\.weight", "positional_embedding"),
    (r"^text_model\.final_layer_norm", "ln_final"),
    (r"^text_model\.head", "text_projection"),
    (r"^text_model\.encoder\.layers", "transformer.resblocks"),
)
BLOCK_RULES = (  # of open_clip's transformer
    (r"self_attn\.in_proj\.", "attn.in_proj_"),
    (r"self_attn\.out_proj", "attn.out_proj"),
    (r"layer_norm([12])", r"ln_\1"),
    (r"(resblocks.*)mlp\.fc1", r"\1mlp.c_fc"),
    (r"(resblocks.*)mlp\.fc2", r"\1mlp.c_proj"),
)
CLIP_RULES = (
    (r"^vision_model\.embeddings\.class_embedding", "visual.class_embedding"),
    (r"^vision_model\.embeddings\.patch_embedding", "visual.conv1"),
    (r"^vision_model\.embeddings\.position_embedding\.weight", "visual.positional_embedding"),
    (r"^vision_model\.pre_layrnorm", "visual.ln_pre"),  # their spelling
    (r"^vision_model\.post_layernorm", "visual.ln_post"),
    (r"^vision_model\.encoder\.layers", "visual.transformer.resblocks"),
    (r"^visual_projection\.weight", "visual.proj"),
    (r"^text_projection\.weight", "text_projection"),
    *BLOCK_RULES,
)
SIGLIP_RULES = (
    (r"^vision_model\.embeddings\.patch_embedding", "visual.trunk.patch_embed.proj"),
    (r"^vision_model\.embeddings\.position_embedding\.weight", "visual.trunk.pos_embed"),
    (r"^vision_model\.post_layernorm", "visual.trunk.norm"),
    (r"^vision_model\.encoder\.layers", "visual.trunk.blocks"),
    (r"(trunk\.blocks.*)self_attn\.in_proj", r"\1attn.qkv"),  # timm's names of a block
    (r"(trunk\.blocks.*)self_attn\.out_proj", r"\1attn.proj"),
    (r"(trunk\.blocks.*)layer_norm", r"\1norm"),
    (r"^vision_model\.head\.probe", "visual.trunk.attn_pool.latent"),
    (r"^vision_model\.head\.attention\.out_proj", "visual.trunk.attn_pool.proj"),
    (r"^vision_model\.head\.attention", "visual.trunk.attn_pool"),
    (r"^vision_model\.head\.layernorm", "visual.trunk.attn_pool.norm"),
    (r"^vision_model\.head", "visual.trunk.attn_pool"),
    *BLOCK_RULES,
)


def of_transformers(weights: "Weights") -> "Weights":
    """Rename the tensors of transformers' CLIPModel or SiglipModel; position ids, which are counters, are left out."""
    import torch  # noqa: PLC0415  the page is up before torch is

    siglip = PROBE in weights
    renamed: Weights = {}
    for name, tensor in weights.items():
        if ".q_proj." in name:
            tensor = torch.cat(
                [weights[name.replace(".q_proj.", f".{part}_proj.")] for part in "qkv"]
            )
        elif name.endswith("position_ids") or ".k_proj." in name or ".v_proj." in name:
            continue
        name = name.replace(".q_proj.", ".in_proj.")
        for old, new in (*TEXT_RULES, *(SIGLIP_RULES if siglip else CLIP_RULES)):
            name = re.sub(old, new, name)
        renamed[name] = tensor
    if not siglip:  # projections are linear layers there, and matrices here
        projections = {"visual.proj", "text_projection"} & renamed.keys()
        return renamed | {name: renamed[name].T.contiguous() for name in projections}
    for kind in ("weight", "bias"):  # timm has the query of the pooling's attention apart
        q, k, v = renamed.pop(f"visual.trunk.attn_pool.in_proj_{kind}").chunk(3)
        renamed[f"visual.trunk.attn_pool.q.{kind}"] = q
        renamed[f"visual.trunk.attn_pool.kv.{kind}"] = torch.cat([k, v])
    renamed["visual.trunk.pos_embed"] = renamed["visual.trunk.pos_embed"][None]
    return renamed | {name: renamed[name].reshape(()) for name in SCALARS if name in renamed}


THEIR_TABLE = "text_model.embeddings.token_embedding.weight"  # one of every CLIP
