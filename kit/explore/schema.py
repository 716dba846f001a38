"""The columns of every frame: name, dtype, unit and meaning, in the order in which one decides.

A frame has these columns and dtypes whether it has no rows or a million, under pandas 2 and 3.
Credits are exact on the wire and in the ledger; in a frame they are float64, for arithmetic: round
sums to three decimals to compare them with the ledger.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

#: Instants in every frame.
TIME = "datetime64[us, UTC]"


class ColumnInfo(NamedTuple):
    """One column of a frame.

    Parameters
    ----------
    dtype : str
        As pandas names it; texts are ``string``, whole numbers that may be missing ``Int64``.
    unit : str
        Empty where there is none.
    """

    dtype: str
    unit: str
    meaning: str


Table = Mapping[str, ColumnInfo]

#: One row a model, indexed by id.
MODELS: Table = {
    "title": ColumnInfo("string", "", "display name"),
    "asset_type": ColumnInfo("string", "", "image or video"),
    "category": ColumnInfo("string", "", "category of the catalog"),
    "credits_from": ColumnInfo("float64", "credits", "the least that a valid request costs"),
    "credits_at_defaults": ColumnInfo("float64", "credits", "a request with every default"),
    "estimated_credits": ColumnInfo("float64", "credits", "the mean of recent charges"),
    "prompt": ColumnInfo("string", "", "required, optional or no"),
    "media": ColumnInfo("string", "", "names of media parameters, required ones with a star"),
    "settings": ColumnInfo("string", "", "names of settings, required ones with a star"),
    "description": ColumnInfo("string", "", "what it can and cannot do"),
}

#: One row a parameter, media first; numbered.
PARAMETERS: Table = {
    "model_id": ColumnInfo("string", "", "model that takes it"),
    "name": ColumnInfo("string", "", "keyword in a request"),
    "type": ColumnInfo("string", "", "type of its value"),
    "required": ColumnInfo("bool", "", "whether a request must have it"),
    "default": ColumnInfo("object", "", "value when left out"),
    "choices": ColumnInfo("string", "", "allowed values, joined by commas"),
    "minimum": ColumnInfo("float64", "", "lower bound"),
    "maximum": ColumnInfo("float64", "", "upper bound"),
    "max_items": ColumnInfo("Int64", "items", "longest list; missing where it is no list"),
    "media": ColumnInfo("bool", "", "whether it takes a file"),
    "description": ColumnInfo("string", "", "what it does, with its unit"),
}

#: One row a generation, indexed by id. On request followed by ``parameters.NAME``, each with the
#: dtype of its values, and ``media.NAME``, the number of files (Int64); ``tag.KEY``
#: is a column that is asked for by its name.
GENERATIONS: Table = {
    "status": ColumnInfo("string", "", "processing, completed, failed or canceled"),
    "model_id": ColumnInfo("string", "", "model that made it"),
    "asset_type": ColumnInfo("string", "", "image or video"),
    "generation_type": ColumnInfo("string", "", "text-to-image, image-to-video, ..."),
    "prompt": ColumnInfo("string", "", "what was asked for"),
    "credits": ColumnInfo("float64", "credits", "charged at the start"),
    "credits_refunded": ColumnInfo(
        "float64", "credits", "refunded; NaN where the service does not say"
    ),
    "net": ColumnInfo("float64", "credits", "charged less refunded"),
    "credits_source": ColumnInfo("string", "", "service, receipt, estimate or none"),
    "seconds": ColumnInfo("float64", "s", "from the order to its end"),
    "render_seconds": ColumnInfo("float64", "s", "from its start by a worker to its end"),
    "width": ColumnInfo("Int64", "pixels", "of the output"),
    "height": ColumnInfo("Int64", "pixels", "of the output"),
    "duration_seconds": ColumnInfo("float64", "s", "length of an output video"),
    "size_bytes": ColumnInfo("Int64", "bytes", "of the output file"),
    "content_type": ColumnInfo("string", "", "of the output file"),
    "parameters": ColumnInfo("string", "", "settings as a JSON object"),
    "media": ColumnInfo("string", "", "JSON object: media parameter -> number of files"),
    "tags": ColumnInfo("string", "", "what it is filed under, as a JSON object"),
    "error": ColumnInfo("string", "", "why it failed"),
    "error_code": ColumnInfo("string", "", "why it failed, in one word"),
    "created_at": ColumnInfo(TIME, "UTC", "when it was ordered"),
    "completed_at": ColumnInfo(TIME, "UTC", "when it ended; missing while it runs"),
}

#: One row an entry of the ledger, indexed by id. The credits add up to the balance.
LEDGER: Table = {
    "created_at": ColumnInfo(TIME, "UTC", "when it was written"),
    "kind": ColumnInfo("string", "", "grant, generation, title, script or refund"),
    "credits": ColumnInfo("float64", "credits", "what was added; charges are negative"),
    "balance_after": ColumnInfo("float64", "credits", "what could be spent then"),
    "model_id": ColumnInfo("string", "", "model of the generation"),
    "generation_id": ColumnInfo("string", "", "generation that was paid or refunded"),
    "key_prefix": ColumnInfo("string", "", "beginning of the key that paid"),
    "tags": ColumnInfo("string", "", "what the generation is filed under, as a JSON object"),
    "note": ColumnInfo("string", "", "reason of a refund, note of a grant"),
}

#: Columns of a table of generations that hold a JSON object -> what the names of theirs begin with.
OBJECTS = {"parameters": "parameters.", "media": "media.", "tags": "tag."}


def split_key(name: str) -> tuple[str, str]:
    """Return the column of JSON objects that a name is about, and the key; empty for another.

    Examples
    --------
    >>> split_key("tag.campaign"), split_key("status")
    (('tags', 'campaign'), ('', ''))
    """
    for column, prefix in OBJECTS.items():
        if name.startswith(prefix) and name != prefix:
            return column, name.removeprefix(prefix)
    return "", ""


def pointer(key: str) -> str:
    """Return where a JSON object has a key, as a database is asked for it."""
    return f"/{key.replace('~', '~0').replace('/', '~1')}"


def dtypes(table: Table) -> dict[str, str]:
    """Return the dtypes of a frame by column.

    Examples
    --------
    >>> dtypes(LEDGER)["credits"]
    'float64'
    """
    return {name: column.dtype for name, column in table.items()}
