"""How a form looks: its style sheet and its small pieces of HTML.

The style sheet travels with each form and touches nothing outside of it. Colors are JupyterLab's
own, so a form follows the theme.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from kit.widgets import rules
from kit.widgets.cards import ARROW, BAD, BUSY
from kit.widgets.pile import PILED
from kit.wire import Model, Parameter

_SHEET = """
.kit-form{container-type:inline-size;max-width:760px;padding:14px 16px;border-radius:8px;gap:10px;
 border:1px solid var(--jp-border-color2,#9996);background:var(--jp-layout-color1,transparent);
 color:var(--jp-ui-font-color1,inherit);overflow:visible}
.widget-hbox>.kit-form{flex:1 1 0;min-width:min(100%,300px)}
.widget-hbox>.kit-form+.kit-form{margin-left:10px}
.kit-form>*,.kit-fields>*{margin:0;max-width:100%}
.kit-form .widget-html-content{line-height:1.45;font-size:12px}
.kit-fields{display:grid!important;grid-template-columns:minmax(0,11fr) minmax(0,7fr);
 gap:10px 16px;align-items:center;overflow:visible}
.kit-fields .widget-label{flex:0 0 132px;width:132px;text-align:left;font-weight:500;
 overflow:hidden;text-overflow:ellipsis}
.kit-fields .widget-inline-hbox,.kit-row{width:100%;min-width:0;overflow:visible;
 flex-wrap:nowrap}
.kit-fields input,.kit-fields select,.kit-fields textarea{min-width:0;border-radius:4px}
.kit-fields .widget-readout{min-width:52px;flex:none;border-radius:4px;text-align:center;
 border:1px solid var(--jp-border-color1,#9996);background:var(--jp-input-background,transparent)}
.kit-form .noUi-handle{border-color:var(--jp-ui-font-color2,#808080)}
.kit-form textarea::placeholder{color:var(--jp-ui-font-color2,#808080)}
.kit-fields .widget-checkbox{align-items:center}
.kit-fields .widget-checkbox .widget-label-basic{display:flex;flex-direction:row-reverse;
 justify-content:flex-end;align-items:center;width:100%}
.kit-fields .widget-checkbox span{flex:0 0 140px;font-weight:500;line-height:1.4}
.kit-fields .widget-checkbox input{flex:none;margin:0;width:16px;height:16px}
.kit-form .widget-toggle-buttons{display:flex;align-items:center;gap:8px}
.kit-form .widget-toggle-buttons>div{flex:1;display:flex;gap:4px;flex-wrap:wrap}
.kit-form .widget-toggle-button{width:auto;min-width:44px;margin:0;padding:0 12px;
 border-radius:4px;box-shadow:none}
.kit-form .widget-toggle-button.mod-active{background:var(--jp-brand-color1,#1976d2);
 color:var(--jp-ui-inverse-font-color1,#fff);box-shadow:none}
.kit-row>*{margin:0}.kit-row>*+*{margin-left:6px}.kit-row>:first-child{flex:1;min-width:0}.kit-row>.widget-dropdown{width:150px;flex:none}
.kit-row>.jupyter-button{width:auto;flex:none;border-radius:4px}
.kit-wide{grid-column:1/-1}.kit-wide+.widget-html{grid-column:1/-1;width:auto;margin:-6px 0 0 140px}
.kit-wide+.widget-html:not(:has(span)){display:none}
.kit-wide textarea{resize:vertical}.kit-row textarea{white-space:pre}
.kit-access:empty{display:none}.kit-bar>.kit-access{flex:1 0 100%;font-weight:600;line-height:1.5}
.kit-form button:disabled{cursor:default}
.kit-gone.jupyter-widgets-disconnected:before,.kit-gone .jupyter-widgets-disconnected:before{
 content:none}
.kit-told{overflow-wrap:anywhere;font-weight:600}
.kit-note{color:var(--jp-ui-font-color2,#808080);overflow-wrap:anywhere}
.kit-wrong input,.kit-wrong textarea,.kit-wrong select{
 border-color:var(--jp-error-color1,#d32f2f)!important}
.kit-form .kit-picker{padding-left:140px;gap:4px}
.kit-form .kit-picker select{border-color:var(--jp-border-color1,#9996)!important}
.kit-file{display:inline-flex;align-items:center;gap:8px;margin:6px 14px 0 140px}
.kit-bar{flex-wrap:wrap;gap:6px 8px;align-items:center;overflow:visible}
.kit-bar>*{margin:0;width:auto;border-radius:4px}
.kit-bar>.widget-html{flex:1 1 220px}
.kit-bar>.widget-text{flex:1 1 160px}
.kit-form button:focus-visible,.kit-form input:focus-visible,.kit-form select:focus-visible,
.kit-form textarea:focus-visible{outline:2px solid var(--jp-brand-color1,#1976d2);
 outline-offset:1px}
.kit-form .kit-code{white-space:pre-wrap;margin:0;padding:8px 10px;border-radius:4px;
 font:12px/1.5 var(--jp-code-font-family,monospace);background:var(--jp-layout-color2,#8881);
 color:inherit}
@container(max-width:560px){.kit-fields{grid-template-columns:minmax(0,1fr);gap:4px}
 .kit-fields>.widget-html{margin:0 0 8px!important}}
"""
SHEET = f"<style>{' '.join(_SHEET.split())} {BAD} {BUSY} {PILED} .kit-form{{{ARROW}}}</style>"


def heading(model: Model) -> str:
    """Return the style sheet, and what a form begins with: the model in two lines."""
    facts = " · ".join(filter(None, (model.asset_type, model.category)))
    text = f'<div class="kit-note">{escape(model.description)}</div>' if model.description else ""
    title = f'<b style="font-size:15px">{escape(model.title or model.id)}</b>'
    return f'{SHEET}{title} <span class="kit-note">{escape(facts)}</span>{text}'


def label(parameter: Parameter) -> str:
    """Return what stands before a control; a star marks what has to be there."""
    return f"{parameter.name.replace('_', ' ')}{' *' if parameter.required else ''}"


def help_text(parameter: Parameter) -> str:
    """Return what a parameter is for, and the limits that its control does not show."""
    words = " · ".join(filter(None, (parameter.description, rules.limits(parameter))))
    return f'<span class="kit-note">{escape(words)}</span>' if words else ""


def problem(sentence: str) -> str:
    """Return what is wrong, announced to whoever does not see it."""
    return f'<span class="kit-bad" role="alert">{escape(sentence)}</span>'


def notice(sentence: str) -> str:
    """Return what one should know but need not mend, announced as well."""
    return f'<span class="kit-told" role="status">{escape(sentence)}</span>'


def missing(problems: Mapping[str, str]) -> str:
    """Return which fields need attention, by name; nothing where none does."""
    if not problems:
        return ""
    names = [path.rpartition(".")[2].replace("_", " ") for path in problems]
    return f'<div class="kit-note">missing or wrong: {escape(", ".join(names))}</div>'


def code(text: str) -> str:
    """Return Python as it stands in a cell."""
    return f'<pre class="kit-code">{escape(text)}</pre>'
