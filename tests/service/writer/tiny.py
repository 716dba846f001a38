"""A language model of one megabyte that writes one text, as a GGUF file for llama.cpp.

Its single layer does nothing: the next token depends only on the last one. Each part of the text is
one token, and a quotation mark leads to the first of them.

Source: the GGUF specification (version 3) and llama.cpp's names of tensors of ``llama`` models.
"""

import itertools
import struct
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

_UINT, _INT, _FLOAT, _TEXT, _LIST = 4, 5, 6, 8, 9
_ALIGNMENT = 32
_END = "</s>"
#: How much more likely the next token is than any other.
_CERTAIN = 60.0


def write_model(path: Path, parts: Sequence[str], *, seed: int | None = None) -> Path:
    """Write a model that writes some parts one after the other, or noise from a seed."""
    tokens = [*_alphabet(), *(_spell(part) for part in parts), "<s>", _END]
    facts = [
        _fact("general.architecture", _TEXT, _text("llama")),
        *(_fact(f"llama.{name}", _UINT, struct.pack("<I", n)) for name, n in _sizes(tokens)),
        _fact("llama.attention.layer_norm_rms_epsilon", _FLOAT, struct.pack("<f", 1e-5)),
        _fact("tokenizer.ggml.model", _TEXT, _text("gpt2")),
        _fact("tokenizer.ggml.pre", _TEXT, _text("default")),
        _fact("tokenizer.ggml.tokens", _LIST, _list(_TEXT, map(_text, tokens))),
        _fact("tokenizer.ggml.token_type", _LIST, _list(_INT, map(_kind, tokens))),
        _fact("tokenizer.ggml.merges", _LIST, _list(_TEXT, [_text("a b")])),
        _fact("tokenizer.ggml.eos_token_id", _UINT, struct.pack("<I", len(tokens) - 1)),
        _fact("tokenizer.chat_template", _TEXT, _text("{{ messages[-1]['content'] }}")),
    ]
    tensors = _tensors(tokens, parts, seed)
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(facts)) + b"".join(facts)
    body = b""
    for name, values in tensors.items():
        sides = b"".join(struct.pack("<Q", side) for side in reversed(values.shape))
        head += _text(name) + struct.pack("<I", values.ndim) + sides
        head += struct.pack("<IQ", 0, len(body))  # 0: float32
        body += _pad(values.astype("<f4").tobytes())
    path.write_bytes(_pad(head) + body)
    return path


def _sizes(tokens: Sequence[str]) -> list[tuple[str, int]]:
    width = _width(tokens)
    return [
        ("context_length", 16_384),
        ("embedding_length", width),
        ("block_count", 1),
        ("feed_forward_length", width),
        ("attention.head_count", 1),
        ("rope.dimension_count", width),
        ("vocab_size", len(tokens)),
    ]


def _tensors(
    tokens: Sequence[str], parts: Sequence[str], seed: int | None
) -> dict[str, np.ndarray]:
    width = _width(tokens)
    nothing, one = np.zeros((width, width)), np.ones(width)
    names = ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down")
    likely = _scores(tokens, parts)
    if seed is not None:
        likely = np.random.default_rng(seed).normal(0, 2, likely.shape)
    return {
        "token_embd.weight": np.eye(len(tokens), width),
        **{f"blk.0.{name}.weight": nothing for name in names},
        "blk.0.attn_norm.weight": one,
        "blk.0.ffn_norm.weight": one,
        "output_norm.weight": one / np.sqrt(width),  # undoes what the norm does to one in a row
        "output.weight": np.pad(likely, ((0, 0), (0, width - likely.shape[1]))),
    }


def _scores(tokens: Sequence[str], parts: Sequence[str]) -> np.ndarray:
    """Return the score of each token (row) after each token (column)."""
    scores = np.zeros((len(tokens), len(tokens)))
    order = ['"', *(_spell(part) for part in parts), '"']
    for last, following in [*itertools.pairwise(order), ("}", _END)]:
        scores[tokens.index(following), tokens.index(last)] = _CERTAIN
    # If a grammar forbids that, the model continues with the JSON syntax.
    for last, following in ('":', '"}', '",', '{"', ':"', ',"'):
        scores[tokens.index(following), tokens.index(last)] = _CERTAIN / 2
    return scores


def _width(tokens: Sequence[str]) -> int:
    return -(-len(tokens) // _ALIGNMENT) * _ALIGNMENT


def _alphabet() -> list[str]:
    """Return the characters that stand for the 256 bytes in byte-level vocabularies."""
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = iter(range(256, 512))
    return [chr(byte if byte in shown else next(hidden)) for byte in range(256)]


def _spell(part: str) -> str:
    signs = _alphabet()
    return "".join(signs[byte] for byte in part.encode())


def _kind(token: str) -> bytes:
    return struct.pack("<i", 3 if token in ("<s>", _END) else 1)


def _fact(name: str, kind: int, value: bytes) -> bytes:
    return _text(name) + struct.pack("<I", kind) + value


def _text(text: str) -> bytes:
    return struct.pack("<Q", len(text.encode())) + text.encode()


def _list(kind: int, items: Iterable[bytes]) -> bytes:
    items = [*items]
    return struct.pack("<IQ", kind, len(items)) + b"".join(items)


def _pad(raw: bytes) -> bytes:
    return raw + b"\0" * (-len(raw) % _ALIGNMENT)
