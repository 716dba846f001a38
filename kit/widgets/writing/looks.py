"""How the writing panel looks: its style sheet and its small pieces of HTML.

Colors are JupyterLab's own, so it follows the theme; a page without them gets the fallbacks.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from html import escape

from kit import wire
from kit.widgets import texts
from kit.widgets.cards import ARROW, BAD, BUSY, card, credits, facts, faint, figure
from kit.widgets.pile import PILED
from kit.widgets.twins import again

#: Words in a second of speech, where a service does not say how long its script takes.
PACE = 2.5
#: Scripts that are kept of a panel in a saved notebook, the newest.
MOST = 6

_SHEET = """
.kit-writing{container-type:inline-size;max-width:760px;padding:14px 16px;border-radius:8px;
 border:1px solid var(--jp-border-color2,#9996);background:var(--jp-layout-color1,transparent);
 color:var(--jp-ui-font-color1,inherit);overflow:visible}
.kit-writing .widget-html-content{line-height:1.45;font-size:12px}
.kit-writing>*,.kit-writing .kit-line>*{margin:0;max-width:100%}
.kit-writing>*{width:auto;margin:0 0 8px;overflow:visible}
.kit-writing .widget-label{flex:0 0 104px;width:104px;text-align:left;font-weight:500}
.kit-writing .widget-text,.kit-writing .widget-dropdown,.kit-writing .widget-slider{width:100%}
.kit-writing .noUi-handle{border-color:var(--jp-ui-font-color2,#808080)}
.kit-writing textarea::placeholder{color:var(--jp-ui-font-color2,#808080)}
.kit-writing input,.kit-writing select,.kit-writing textarea{min-width:0;border-radius:4px}
.kit-writing>.widget-vbox:empty,
.kit-writing>.widget-html:not(:has(.widget-html-content>*)){display:none}
.kit-writing .kit-line{flex-wrap:wrap;gap:6px 16px;align-items:center;overflow:visible}
.kit-writing .kit-line .widget-button{width:auto;border-radius:4px}
.kit-writing .kit-line .widget-checkbox{width:auto;flex:0 0 auto}
.kit-writing .kit-line .widget-checkbox .widget-label-basic{display:flex;align-items:center;
 width:auto}
.kit-writing .widget-label-basic>input{flex:none;margin:0 8px 0 0}
.kit-writing .kit-grow{flex:1 1 260px}
.kit-writing .kit-line .widget-toggle-buttons{display:flex;align-items:center;gap:8px;width:auto}
.kit-writing .widget-toggle-buttons>div{display:flex;gap:4px}
.kit-writing .kit-line .widget-toggle-button{width:auto;min-width:38px;margin:0;border-radius:4px;
 box-shadow:none}
.kit-writing .widget-toggle-button.mod-active{background:var(--jp-brand-color1,#1976d2);
 color:var(--jp-ui-inverse-font-color1,#fff)}
.kit-writing .kit-line .widget-toggle-buttons .widget-label{flex:0 0 auto;width:auto}
.kit-writing .widget-radio{width:100%;height:auto}
.kit-writing .widget-radio-box{width:100%;max-width:none;margin:0}
.kit-writing .widget-radio-box label{width:100%;height:auto;white-space:normal;line-height:1.5}
.kit-note{color:var(--jp-ui-font-color2,#808080);overflow-wrap:anywhere}
.kit-scripts{display:grid!important;gap:12px;overflow:visible;
 grid-template-columns:repeat(auto-fit,minmax(min(100%,290px),1fr))}
.kit-script{padding:10px 12px;border-radius:6px;border:1px solid var(--jp-border-color2,#9996);
 overflow:visible}
.kit-script>*{margin:0 0 6px;max-width:100%}
.kit-script .widget-textarea{width:auto;height:auto;flex-direction:column;align-items:stretch}
.kit-script .widget-textarea .widget-label{flex:none;width:auto;font-weight:600}
.kit-script textarea{min-height:184px;resize:vertical;
 font:13px/1.5 var(--jp-ui-font-family,system-ui,sans-serif)}
.kit-script>:last-child{margin:0}
.kit-copy{font:inherit;line-height:28px;height:28px;padding:0 10px;border:0;border-radius:4px;
 cursor:pointer;color:var(--jp-ui-font-color1,inherit);background:var(--jp-layout-color2,#8882)}
.kit-copy:hover{background:var(--jp-layout-color3,#8884)}
.kit-writing button:focus-visible,.kit-writing input:focus-visible,
.kit-writing select:focus-visible,.kit-writing textarea:focus-visible{
 outline:2px solid var(--jp-brand-color1,#1976d2);outline-offset:1px}
"""
SHEET = f"<style>{' '.join(_SHEET.split())} {BAD} {BUSY} {PILED} .kit-writing{{{ARROW}}}</style>"

# Selecting works everywhere; the newer of the two ways to copy is missing on plain HTTP, the older
# one copies what is selected. A page that strips the action leaves a field to select from.
_COPY = (
    "const box=this.closest('.kit-script').querySelector('textarea');box.focus();box.select();"
    "const older=()=>document.execCommand('copy');"
    "if(navigator.clipboard){navigator.clipboard.writeText(box.value).catch(older)}else{older()}"
    "this.textContent='Copied';setTimeout(()=>{this.textContent='Copy'},1500)"
)


def heading() -> str:
    """Return the style sheet and what the panel begins with."""
    words = "Pick a topic, take a title, have a voice-over script written for it."
    title = '<b style="font-size:15px">Titles and scripts</b>'
    return f'{SHEET}{title}<div class="kit-note">{words}</div>'


def topic(name: str) -> str:
    """Return a topic as it is read.

    Examples
    --------
    >>> topic("LIFE_HACKS")
    'Life hacks'
    """
    return name.replace("_", " ").capitalize()


def price(each: Decimal, count: int, balance: Decimal | None) -> str:
    """Return what a click will cost, and whether the balance allows it.

    Examples
    --------
    >>> price(Decimal("0.15"), 1, None)
    '<b>0.15 credits</b>'
    """
    total = each * count
    terms = f" · {count} × {figure(each)}" if count > 1 else ""
    left = "" if balance is None or balance < total else f" · leaves {figure(balance - total)}"
    faint = f' <span class="kit-note">{escape((terms + left).strip(" ·"))}</span>'
    line = f"<b>{escape(credits(total))}</b>{faint if terms or left else ''}"
    if balance is not None and balance < total:
        line += f" {problem(f'not enough: {credits(balance)} there')}"
    return line


def problem(sentence: str) -> str:
    """Return what went wrong, announced to whoever does not see it."""
    return f'<span class="kit-bad" role="alert">{escape(sentence)}</span>'


def note(sentence: str) -> str:
    """Return a quiet sentence, announced when it changes."""
    return f'<span class="kit-note" role="status">{escape(sentence)}</span>'


def copy_button(name: str) -> str:
    """Return a button that copies the text of the script it stands below."""
    return (
        f'<button type="button" class="kit-copy" aria-label="Copy {escape(name)}" '
        f'onclick="{_COPY}">Copy</button>'
    )


def measured(script: wire.Script, text: str) -> str:
    """Return how long a text takes to speak and how many words it has.

    The script's own figures where its text is unchanged, else a pace taken from them.

    Examples
    --------
    >>> facts = wire.Metrics(duration="10", word_count=20)
    >>> measured(wire.Script(id="scr_1", content="One two", metrics=facts), "One two three four")
    'about 2 s to speak · 4 words'
    """
    if text == script.content:
        return texts.spoken(script)
    count = len(text.split())
    words = f"{count} word{'' if count == 1 else 's'}"
    return f"about {count / _pace(script):.0f} s to speak · {words}"


def twin(topic_name: str, title: wire.Title, scripts: Sequence[wire.Script], code: str) -> str:
    """Return the panel as it looks where no widget can be shown: what was written in it."""
    rows = {"topic": topic(topic_name), "title": title.title, "hook angle": title.hook_angle}
    top = card("Titles and scripts", facts(rows))
    older = len(scripts) - MOST
    more = faint(f"and {older} older scripts") if older > 0 else ""
    return "".join([top, *map(texts.script, scripts[:MOST]), more, again(code)])


def _pace(script: wire.Script) -> float:
    """Return the words that a script has in a second."""
    words, length = float(script.metrics.word_count), _seconds(script)
    return words / length if words > 0 and length > 0 else PACE


def _seconds(script: wire.Script) -> float:
    try:
        return max(0.0, float(script.metrics.duration))
    except ValueError:
        return 0.0
