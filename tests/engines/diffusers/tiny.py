"""Tiny pipelines with random weights, built and saved here; nothing is downloaded."""

import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("diffusers")
pytest.importorskip("transformers")

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # the libraries warn about each other on import
    import diffusers as d
    import torch
    import transformers as t

_EVEN = {"norm_num_groups": 8}


def _bytes() -> list[str]:
    """Return the 256 characters that stand for bytes in byte-level tokenizers."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    rest = [byte for byte in range(256) if byte not in printable]
    return [chr(code) for code in [*printable, *range(256, 256 + len(rest))]]


def _clip_tokenizer() -> Any:
    letters = _bytes()
    words = [*letters, *(f"{c}</w>" for c in letters), "th", "in", "the</w>"]
    words += ["<|startoftext|>", "<|endoftext|>"]
    merges = [("t", "h"), ("i", "n"), ("th", "e</w>")]
    vocabulary = {word: number for number, word in enumerate(words)}
    return t.CLIPTokenizer(vocab=vocabulary, merges=merges, model_max_length=77)


def _t5_tokenizer() -> Any:
    pieces = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("▁", -2.0)]
    pieces += [(c, -3.0) for c in "abcdefghijklmnopqrstuvwxyz"]
    return t.T5Tokenizer(vocab=pieces, extra_ids=0, model_max_length=64)


def _clip_text(tokenizer: Any, kind: Any = None) -> Any:
    size = len(tokenizer)
    config = t.CLIPTextConfig(
        vocab_size=size,
        hidden_size=32,
        intermediate_size=37,
        num_hidden_layers=2,
        num_attention_heads=4,
        projection_dim=32,
        bos_token_id=size - 2,
        eos_token_id=size - 1,
        pad_token_id=size - 1,
    )
    return (kind or t.CLIPTextModel)(config).eval()


def _t5(tokenizer: Any, kind: Any = None, config: Any = None) -> Any:
    small = {"d_model": 32, "d_kv": 8, "d_ff": 37, "num_layers": 2, "num_heads": 4}
    settings = (config or t.T5Config)(vocab_size=len(tokenizer), **small)
    return (kind or t.T5EncoderModel)(settings).eval()


def _vae(**more: Any) -> Any:
    return d.AutoencoderKL(
        block_out_channels=(8, 16),
        down_block_types=("DownEncoderBlock2D",) * 2,
        up_block_types=("UpDecoderBlock2D",) * 2,
        latent_channels=4,
        sample_size=64,
        **_EVEN,
        **more,
    ).eval()


def _unet(cross: int, **more: Any) -> Any:
    return d.UNet2DConditionModel(
        block_out_channels=(8, 16),
        layers_per_block=1,
        sample_size=32,
        out_channels=4,
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
        up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
        cross_attention_dim=cross,
        **_EVEN,
        **more,
    ).eval()


def sd(kind: str = "StableDiffusionPipeline", channels: int = 4) -> Any:
    tokenizer = _clip_tokenizer()
    return getattr(d, kind)(
        vae=_vae(),
        text_encoder=_clip_text(tokenizer),
        tokenizer=tokenizer,
        unet=_unet(32, in_channels=channels, attention_head_dim=8),
        scheduler=d.DDIMScheduler(clip_sample=False, set_alpha_to_one=False),
        safety_checker=None,
        feature_extractor=None,
        requires_safety_checker=False,
    )


def flux() -> Any:
    tokenizer, long = _clip_tokenizer(), _t5_tokenizer()
    transformer = d.FluxTransformer2DModel(
        patch_size=1,
        in_channels=16,
        num_layers=1,
        num_single_layers=1,
        attention_head_dim=16,
        num_attention_heads=2,
        joint_attention_dim=32,
        pooled_projection_dim=32,
        axes_dims_rope=[4, 4, 8],
        guidance_embeds=True,
    ).eval()
    plain = {"use_quant_conv": False, "use_post_quant_conv": False}
    return d.FluxPipeline(
        scheduler=d.FlowMatchEulerDiscreteScheduler(),
        vae=_vae(shift_factor=0.06, scaling_factor=1.5, **plain),
        text_encoder=_clip_text(tokenizer),
        tokenizer=tokenizer,
        text_encoder_2=_t5(long),
        tokenizer_2=long,
        transformer=transformer,
    )


def wan(*, from_image: bool = False) -> Any:
    tokenizer = _t5_tokenizer()
    more: dict[str, Any] = {"image_dim": 4} if from_image else {}
    parts: dict[str, Any] = {
        "tokenizer": tokenizer,
        "text_encoder": _t5(tokenizer, t.UMT5EncoderModel, t.UMT5Config),
        "vae": d.AutoencoderKLWan(
            base_dim=3,
            z_dim=16,
            dim_mult=[1, 1, 1, 1],
            num_res_blocks=1,
            temperal_downsample=[False, True, True],
        ).eval(),
        "transformer": d.WanTransformer3DModel(
            patch_size=(1, 2, 2),
            num_attention_heads=2,
            attention_head_dim=12,
            in_channels=36 if from_image else 16,
            out_channels=16,
            text_dim=32,
            freq_dim=256,
            ffn_dim=32,
            num_layers=2,
            cross_attn_norm=True,
            qk_norm="rms_norm_across_heads",
            rope_max_seq_len=32,
            **more,
        ).eval(),
        "scheduler": d.UniPCMultistepScheduler(
            prediction_type="flow_prediction", use_flow_sigmas=True, flow_shift=3.0
        ),
    }
    if not from_image:
        return d.WanPipeline(**parts)
    eye = t.CLIPVisionConfig(
        hidden_size=4,
        projection_dim=4,
        num_hidden_layers=2,
        num_attention_heads=2,
        image_size=32,
        intermediate_size=16,
        patch_size=8,
    )
    return d.WanImageToVideoPipeline(
        **parts,
        image_encoder=t.CLIPVisionModelWithProjection(eye).eval(),
        image_processor=t.CLIPImageProcessor(crop_size=32, size=32),
        transformer_2=None,
    )


BUILDERS: dict[str, Callable[[], Any]] = {
    "sd": sd,
    "sd-inpaint": partial(sd, "StableDiffusionInpaintPipeline", 9),
    "flux": flux,
    "wan": wan,
    "wan-i2v": partial(wan, from_image=True),
}


def build(name: str, folder: Path) -> None:
    """Save a tiny pipeline the way published ones are."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.manual_seed(0)
        BUILDERS[name]().save_pretrained(folder)
