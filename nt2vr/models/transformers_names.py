"""Names of transformers' CLIPs, and those of open_clip."""

import re

from nt2vr.models.weights import StateDict

# A tensor that every CLIP has.
THEIR_TABLE = "text_model.embeddings.token_embedding.weight"
# A tensor that only SigLIP has.
PROBE = "vision_model.head.probe"
# Names of transformers' models, and those of open_clip; each rule is applied to all names, one
# after the other.
TEXT_RULES = (
    (r"^text_model\.embeddings\.token_embedding", "token_embedding"),
    (r"^text_model\.embeddings\.position_embedding\.weight", "positional_embedding"),
    (r"^text_model\.final_layer_norm", "ln_final"),
    (r"^text_model\.head", "text_projection"),
    (r"^text_model\.encoder\.layers", "transformer.resblocks"),
)
# Of open_clip's transformer.
BLOCK_RULES = (
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
    # Their spelling.
    (r"^vision_model\.pre_layrnorm", "visual.ln_pre"),
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
    # timm's names of a block.
    (r"(trunk\.blocks.*)self_attn\.in_proj", r"\1attn.qkv"),
    (r"(trunk\.blocks.*)self_attn\.out_proj", r"\1attn.proj"),
    (r"(trunk\.blocks.*)layer_norm", r"\1norm"),
    (r"^vision_model\.head\.probe", "visual.trunk.attn_pool.latent"),
    (r"^vision_model\.head\.attention\.out_proj", "visual.trunk.attn_pool.proj"),
    (r"^vision_model\.head\.attention", "visual.trunk.attn_pool"),
    (r"^vision_model\.head\.layernorm", "visual.trunk.attn_pool.norm"),
    (r"^vision_model\.head", "visual.trunk.attn_pool"),
    *BLOCK_RULES,
)


def of_transformers(weights: StateDict) -> StateDict:
    """Rename the tensors of transformers' CLIPModel or SiglipModel; position ids, which are counters, are left out."""
    is_siglip = PROBE in weights
    visual_rules = SIGLIP_RULES if is_siglip else CLIP_RULES
    rules = (*TEXT_RULES, *visual_rules)
    renamed = {}
    for name, tensor in _with_joined_attention(weights).items():
        for old, new in rules:
            name = re.sub(old, new, name)
        renamed[name] = tensor
    if is_siglip:
        _split_pooling_attention(renamed)
        renamed["visual.trunk.pos_embed"] = renamed["visual.trunk.pos_embed"][None]
    else:
        # Projections are linear layers there, and matrices here.
        for name in ("visual.proj", "text_projection"):
            if name in renamed:
                renamed[name] = renamed[name].T.contiguous()
    return renamed


def _with_joined_attention(weights: StateDict) -> StateDict:
    """Join the projections of queries, keys and values, and leave position ids out."""
    import torch  # noqa: PLC0415  the page is up before torch is

    joined = {}
    for name, tensor in weights.items():
        if ".q_proj." in name:
            parts = [weights[name.replace(".q_proj.", f".{part}_proj.")] for part in "qkv"]
            joined[name.replace(".q_proj.", ".in_proj.")] = torch.cat(parts)
        elif (
            ".k_proj." not in name and ".v_proj." not in name and not name.endswith("position_ids")
        ):
            joined[name] = tensor
    return joined


def _split_pooling_attention(weights: StateDict) -> None:
    """Part the query of the pooling's attention from keys and values, as timm does."""
    import torch  # noqa: PLC0415  the page is up before torch is

    pooling = "visual.trunk.attn_pool"
    for kind in ("weight", "bias"):
        query, key, value = weights.pop(f"{pooling}.in_proj_{kind}").chunk(3)
        weights[f"{pooling}.q.{kind}"] = query
        weights[f"{pooling}.kv.{kind}"] = torch.cat([key, value])
