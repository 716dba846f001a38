"""How the panel looks: its style sheet and its small pieces of HTML.

Colors are JupyterLab's own, so it follows the theme; a page without them gets the fallbacks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from kit import wire
from kit.widgets import rates
from kit.widgets.cards import ARROW, BAD, BUSY, card, credits, faint, figure, table
from kit.widgets.twins import again

#: Models that are kept of a panel in a saved notebook.
MOST = 12

_SHEET = """
.kit-panel{container-type:inline-size;max-width:1000px;overflow:visible;
 color:var(--jp-ui-font-color1,inherit)}
.kit-panel>*{margin:0;max-width:100%}
.kit-panel .kit-top{align-items:center;gap:8px;margin:0 0 8px;overflow:visible}
.kit-panel .kit-top>*{margin:0}.kit-panel .kit-top>.widget-html{flex:1 1 auto}
.kit-panel .kit-top .widget-html-content{line-height:1.45;font-size:13px}
.kit-panel .kit-top .widget-button,.kit-models .widget-button{width:auto;border-radius:4px}
.kit-panel .widget-tab>.lm-TabBar .lm-TabBar-tab,.kit-panel .widget-tab>.p-TabBar .p-TabBar-tab{
 flex:0 1 auto;min-width:0;padding:0 14px;color:var(--jp-ui-font-color1,inherit)}
.kit-panel .widget-tab>.widget-tab-contents{padding:14px;overflow:auto;
 background:var(--jp-layout-color1,transparent);border-color:var(--jp-border-color2,#9996)}
.kit-page{overflow:visible}.kit-page>*{margin:0;max-width:100%}
.kit-page .kit-form,.kit-page .kit-writing{border:0;padding:0;max-width:none;
 background:transparent}
.kit-panel .kit-filter{flex-wrap:wrap;gap:8px;align-items:center;margin:0 0 6px}
.kit-panel .kit-filter>*{margin:0}
.kit-panel .kit-filter .widget-toggle-buttons,
.kit-panel .kit-filter .widget-toggle-button{width:auto;border-radius:4px}
.kit-panel .kit-filter .widget-toggle-buttons>div{display:flex;gap:4px}
.kit-panel .kit-filter .widget-toggle-button{min-width:64px;margin:0;box-shadow:none}
.kit-panel .kit-filter .mod-active{background:var(--jp-brand-color1,#1976d2);
 color:var(--jp-ui-inverse-font-color1,#fff)}
.kit-panel .kit-filter .widget-text{flex:1 1 200px;width:auto}
.kit-panel .kit-filter .widget-label{position:absolute;width:1px;height:1px;overflow:hidden;
 clip:rect(0 0 0 0);white-space:nowrap}
.kit-models{overflow:visible}.kit-models>*{margin:0;padding:10px 0;gap:12px;align-items:center;
 border-top:1px solid var(--jp-border-color2,#9996);overflow:visible}
.kit-models>*>.widget-html{flex:1 1 0;min-width:0;margin:0}
.kit-models .widget-html-content{line-height:1.45;font-size:12.5px}
.kit-panel .kit-pick{margin:0 0 12px;width:auto;max-width:560px}
.kit-panel .kit-pick select,.kit-filter input{border-radius:4px}
.kit-panel .kit-pick .widget-label{flex:0 0 132px;width:132px;text-align:left;font-weight:500}
.kit-note{color:var(--jp-ui-font-color2,#808080);overflow-wrap:anywhere}
.kit-panel button:focus-visible,.kit-panel input:focus-visible,.kit-panel select:focus-visible,
.kit-panel .lm-TabBar-tab:focus-visible{outline:2px solid var(--jp-brand-color1,#1976d2);
 outline-offset:1px}
.kit-panel>.widget-html:not(:has(.kit-banner)){display:none}
.kit-banner{margin:0 0 8px;padding:7px 12px;border-radius:4px;font-size:13px;line-height:1.5;
 border-left:4px solid var(--jp-warn-color1,#f57c00);background:var(--jp-layout-color2,#8881);
 color:var(--jp-ui-font-color1,inherit)}
.kit-banner code{display:block;overflow-wrap:anywhere;user-select:all;background:none;color:inherit}
.kit-sheet{overflow-x:auto;margin:0 0 16px}
.kit-sheet h3{font-size:14px;font-weight:600;margin:0 0 6px;padding:0}
@container(max-width:560px){
 .kit-panel .widget-tab>.lm-TabBar .lm-TabBar-tab{padding:0 8px}}
"""
SHEET = f"<style>{' '.join(_SHEET.split())} {BAD} {BUSY} .kit-panel{{{ARROW}}}</style>"


def note(sentence: str) -> str:
    """Return a quiet sentence, announced when it appears."""
    return f'<span class="kit-note" role="status">{escape(sentence)}</span>'


def problem(sentence: str) -> str:
    """Return what went wrong, announced to whoever does not see it."""
    return f'<span class="kit-bad" role="alert">{escape(sentence)}</span>'


def heading(place: str, account: wire.Account) -> str:
    """Return the line above the tabs: where, who, and what is left."""
    words = [place, account.name or ""]
    left = "" if account.credits is None else f"<b>{escape(credits(account.credits))}</b>"
    quiet = f'<span class="kit-note">{escape(" · ".join(filter(None, words)))}</span>'
    return " ".join(filter(None, (left, quiet)))


def model(item: wire.Model) -> str:
    """Return a model in a list: what it is called, makes and costs, and what it is."""
    facts = [item.id, item.asset_type, item.category, _price(item)]
    title = f'<b style="font-size:13.5px">{escape(item.title or item.id)}</b>'
    quiet = f'<span class="kit-note">{escape(" · ".join(filter(None, facts)))}</span>'
    text = f"<div>{escape(item.description)}</div>" if item.description else ""
    return f"{title} {quiet}{text}"


def sheet(title: str, html: str) -> str:
    """Return a table or a picture under its title; the HTML is trusted."""
    return f'<section class="kit-sheet"><h3>{escape(title)}</h3>{html}</section>'


def banner(remark: str, code: str) -> str:
    """Return what stands above the tabs while the panel is at another account."""
    shown = f"<code>{escape(code)}</code>" if code else ""
    return f'<div class="kit-banner" role="status">{escape(remark)}{shown}</div>'


def twin(place: str, models: Sequence[wire.Model], code: str) -> str:
    """Return the panel as it looks where no widget can be shown: where it was, and the models."""
    lines = [
        (escape(one.title or one.id), faint(" · ".join((one.id, one.asset_type))))
        for one in models[:MOST]
    ]
    more = len(models) - len(lines)
    end = f"<div>{faint(f'and {more} more models')}</div>" if more > 0 else ""
    return card(f"Creative studio · {place}", (table((), lines) if lines else "") + end) + again(
        code
    )


def _price(item: wire.Model) -> str:
    usual = figure(item.estimated_credits) or rates.usual(item)
    if usual:
        return f"usually {usual} credits"
    return "" if item.credits_from is None else f"from {figure(item.credits_from)} credits"


def matches(item: wire.Model, words: Iterable[str]) -> bool:
    """Return whether all words occur in what a model is called or does."""
    parts = (item.id, item.title or "", item.category or "", item.description or "")
    text = " ".join(parts).lower()
    return all(word in text for word in words)
