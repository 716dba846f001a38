from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

from kit import wire
from kit.widgets import preview
from tests.conftest import NO_HISTORY

EVIL = "<script>alert('x')</script>\"'&"

ACCOUNT = wire.Account(id="acc_1", name=EVIL, email=EVIL, credits=Decimal("9.5"))
PARAMETER = wire.Parameter(name=EVIL, type=EVIL, default=EVIL, enum=[EVIL], description=EVIL)
MODEL = wire.Model(
    id=EVIL,
    title=EVIL,
    asset_type=EVIL,
    category=EVIL,
    description=EVIL,
    setting_parameters=[PARAMETER],
    credits_from=Decimal("0.1"),
)
TERM = wire.Term(kind="unit", parameter=EVIL, value=EVIL, credits=Decimal("0.1"))
QUOTE = wire.Quote(total=Decimal("0.1"), terms=[TERM], source=EVIL)
GENERATION = wire.Generation(
    id="gen_1",
    status="failed",
    model_id=EVIL,
    prompt=EVIL,
    error=EVIL,
    output_url="https://a.test/x?signature=1",
)
ENTRY = wire.Entry(
    id="led_1",
    created_at="2026-01-02T03:04:05Z",  # type: ignore[arg-type]
    kind=EVIL,
    credits=Decimal("-0.1"),
    balance_after=Decimal(9),
    model_id=EVIL,
)
RECEIPT = wire.Receipt(
    id="gen_1", status=EVIL, model_id=EVIL, status_url="https://a.test/?signature=1"
)
OUTPUT = wire.Output(content_type=EVIL, thumbnail_url="https://a.test/?signature=1")
TITLE = wire.Title(title=EVIL, hook_angle=EVIL)
SCRIPT = wire.Script(id="scr_1", title=EVIL, content=EVIL, metrics={"duration": EVIL})  # type: ignore[arg-type]

PREVIEWS: list[tuple[Callable[[Any], str], Any]] = [
    (preview.account, ACCOUNT),
    (preview.model, MODEL),
    (preview.quote, QUOTE),
    (lambda g: preview.generation(g, None, note=EVIL), GENERATION),
    (preview.title, TITLE),
    (preview.script, SCRIPT),
    (lambda m: preview.models([m]), MODEL),
    (lambda e: preview.entries([e]), ENTRY),
    (preview.receipt, RECEIPT),
    (preview.output, OUTPUT),
    (preview.DRAWINGS[wire.Parameter][1], PARAMETER),
]


@pytest.mark.parametrize(("draw", "item"), PREVIEWS)
def test_a_preview_is_escaped_well_formed_and_in_theme_colors(
    draw: Callable[[Any], str], item: Any
) -> None:
    html = draw(item)

    assert "&lt;script&gt;alert(&#x27;x&#x27;)&lt;/script&gt;&quot;&#x27;&amp;" in html
    assert "signature" not in html
    # untrusted notebooks remove these
    assert not re.search(r"<(script|style|link|iframe|source)\b|\son\w+=|class=", html)
    assert "var(--jp-ui-font-color1,inherit)" in html
    for tag in ("div", "table", "tr", "td", "th", "span", "b"):
        assert len(re.findall(rf"<{tag}[ >]", html)) == html.count(f"</{tag}>")


@pytest.mark.parametrize(
    ("item", "text"),
    [
        (wire.Account(id="acc_1", name="Ada"), "<Account Ada>"),
        (
            wire.Account(id="acc_1", name="Ada", email="ada@example.org", credits=Decimal(1)),
            "<Account Ada · ada@example.org · 1 credit>",
        ),
        (wire.Model(id="m", credits_from=Decimal("0.10")), "<Model m · image · from 0.1 credits>"),
        (wire.Model(id="m"), "<Model m · image>"),
        (wire.Quote(total=Decimal("0.2")), "<Quote 0.2 credits · rule>"),
        (wire.Title(title="Why?"), "<Title 'Why?'>"),
        (ENTRY.model_copy(update={"kind": "refund", "model_id": "m"}), "<Entry refund · -0.1 · m>"),
        (
            wire.Parameter(name="size", type="integer", required=True, minimum=1, maximum=8),
            "<Parameter size* · integer · 1 to 8>",
        ),
        (wire.Receipt(id="g", credits_charged=Decimal(1)), "<Receipt processing · 1 credit>"),
        (wire.Output(content_type="image/png", width=4, height=3), "<Output image/png · 4×3>"),
        (
            wire.Script(title="T", content="", metrics=wire.Metrics(duration="30", word_count=70)),
            "<Script 'T' · 30 s · 70 words>",
        ),
        (
            wire.Script(
                title="T", content="", metrics=wire.Metrics(duration="0:30", word_count=70)
            ),
            "<Script 'T' · 0:30 · 70 words>",
        ),
        (
            wire.Generation(id="gen_1", status="completed", asset_type="image", model_id="m"),
            "<Generation m · image · completed>",
        ),
    ],
)
def test_the_text_has_no_id_time_or_url(item: Any, text: str) -> None:
    preview.register()

    assert str(item) == text


def test_notebooks_show_html_of_registered_types() -> None:
    shell = InteractiveShell(config=NO_HISTORY)
    preview.register()

    for item in (ACCOUNT, MODEL, QUOTE, GENERATION, ENTRY, RECEIPT, OUTPUT, SCRIPT, PARAMETER):
        assert set(shell.display_formatter.format(item)[0]) == {"text/plain", "text/html"}
    data, _ = shell.display_formatter.format(wire.Title(title="Why?", hook_angle="because"))

    assert ENTRY._repr_html_() == preview.entries([ENTRY])  # for notebooks without IPython
    assert data["text/plain"] == "<Title 'Why?'>"
    assert "because" in data["text/html"]


def test_a_low_balance_is_shown_with_a_quote() -> None:
    quote = wire.Quote(total=Decimal(2), affordable=False, balance=Decimal("1.50"))

    assert "the balance is too low: 1.5 credits" in preview.quote(quote)


def test_the_terms_of_a_quote_name_their_parameters() -> None:
    terms = [
        wire.Term(kind="base", credits=Decimal("0.1")),
        wire.Term(kind="unit", parameter="seconds", value=5, credits=Decimal("0.25")),
        wire.Term(
            kind="multiplier",
            parameter="size",
            value="1080p",
            factor=Decimal(2),
            credits=Decimal("-0.35"),
        ),
    ]

    html = preview.quote(wire.Quote(total=Decimal(0), terms=terms))

    for part in (">base<", ">+0.1<", ">seconds 5<", ">size 1080p × 2<", ">-0.35<"):
        assert part in html


def test_a_caption_has_model_prompt_size_and_price() -> None:
    done = wire.Generation(
        id="g",
        status="completed",
        model_id="clip",
        prompt="a lake",
        output=wire.Output(width=640, height=360, duration_seconds=2.5),
    )

    html = preview.generation(done, Decimal("0.40"), media="<img>")

    assert "clip · 640×360 · 2.5 s · 0.4 credits" in html
    assert "<img><div>a lake</div>" in html


@pytest.mark.parametrize(
    ("facts", "text"),
    [
        ({"enum": ["a", "b"]}, "a, b"),
        ({"minimum": 1, "maximum": 2.5}, "1 to 2.5"),
        ({"minimum": 0, "maximum": 2**32 - 1}, "0 to 4294967295"),
        ({"minimum": 1}, "at least 1"),
        ({"maximum": 8}, "at most 8"),
        ({"max_items": 3}, "up to 3"),
    ],
)
def test_the_limits_of_a_parameter_are_described_in_words(facts: dict[str, Any], text: str) -> None:
    model = wire.Model(id="m", setting_parameters=[wire.Parameter(name="p", **facts)])

    assert f">{text}</td>" in preview.parameters(model.parameters)


def test_a_running_generation_shows_its_progress() -> None:
    html = preview.generation(wire.Generation(id="g", progress=0.25), None)

    assert "width:25%" in html
    assert ">processing</b>" in html


def test_unused_words_of_the_prompt_are_shown() -> None:
    words = {"used": ["beach"], "unused": ["cat", "<astronaut>"]}
    done = wire.Generation(id="g", status="completed", metadata={"words": words})
    older = wire.Generation(id="g", status="completed", output=wire.Output(metadata=done.metadata))

    for item in (done, older):
        assert "not painted: cat, &lt;astronaut&gt;" in preview.generation(item, None)
    assert "not painted" not in preview.generation(wire.Generation(id="g"), None)


def test_a_note_in_the_output_metadata_is_shown() -> None:
    rough, other = ({"metadata": {"note": note}} for note in ("a <rough> outline", 7))
    done, without_note = (
        wire.Generation(id="g", status="completed", output=wire.Output(**metadata))
        for metadata in (rough, other)
    )

    assert "a &lt;rough&gt; outline" in preview.generation(done, None)
    assert preview.generation(without_note, None) == preview.generation(
        wire.Generation(id="g", status="completed", output=wire.Output()), None
    )


@pytest.mark.parametrize(
    "metadata", [{"words": 7}, {"words": {"unused": "cat"}}, {"words": {}}, {}]
)
def test_malformed_words_in_the_metadata_are_ignored(metadata: dict[str, Any]) -> None:
    assert "not painted" not in preview.generation(wire.Generation(id="g", metadata=metadata), None)


def test_a_refund_is_shown() -> None:
    failed = wire.Generation(id="g", status="failed", credits_refunded=Decimal("0.40"))

    assert "0.4 credits · 0.4 refunded" in preview.generation(failed, Decimal("0.4"))
    assert "failed · 0.4 credits · 0.4 refunded>" in preview.generation_text(failed, Decimal("0.4"))


def test_a_ledger_has_signed_amounts_and_times() -> None:
    grant = ENTRY.model_copy(update={"kind": "grant", "credits": Decimal(10), "model_id": None})

    html = preview.entries([grant, ENTRY])

    assert "<b>+10</b>" in html
    assert "<b>-0.1</b>" in html
    assert "2026-01-02 03:04" in html
    assert "no entries" in preview.entries([])


def test_a_model_shows_whether_it_takes_a_prompt() -> None:
    silent = wire.Model(id="m", supports_prompt=False)

    assert ">none</td>" in preview.model(silent)
    assert ">required</td>" in preview.model(wire.Model(id="m", prompt_required=True))


def test_a_long_list_is_shortened() -> None:
    html = preview.models([wire.Model(id=f"model-{n}") for n in range(20_000)])

    assert "model-0<" in html
    assert "and 19,500 more" in html
    assert len(html) < 500_000


def test_an_account_of_a_service_without_balances_says_so() -> None:
    assert "not reported" in preview.account(wire.Account(id="acc_1", name="Ada"))
    assert "not reported" not in preview.account(ACCOUNT)
