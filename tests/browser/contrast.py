"""Finds text on a page whose color has too little contrast with its background."""

from playwright.sync_api import Locator

#: Minimal contrast of text and background. Source: WCAG 2.2, 1.4.3 (AA).
ENOUGH = 4.5

# The background is mixed from the backgrounds of all enclosing elements. Disabled elements and
# pictures need no contrast; the numbers of cells belong to JupyterLab.
_FAINT = """(part, enough) => {
    const parsed = document.createElement('canvas').getContext('2d');
    const rgba = color => {
        parsed.clearRect(0, 0, 1, 1);
        parsed.fillStyle = color;
        parsed.fillRect(0, 0, 1, 1);
        const [red, green, blue, alpha] = parsed.getImageData(0, 0, 1, 1).data;
        return [red, green, blue, alpha / 255];
    };
    const over = (front, back) => {
        const [mix, alpha] = [front[3], front[3] + back[3] * (1 - front[3])];
        const channel = i => (front[i] * mix + back[i] * back[3] * (1 - mix)) / (alpha || 1);
        return [channel(0), channel(1), channel(2), alpha];
    };
    const luminance = color => {
        const [red, green, blue] = color.slice(0, 3).map(value => value / 255)
            .map(value => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    const behind = element => {
        let color = [0, 0, 0, 0];
        for (let at = element; at && color[3] < 1; at = at.parentElement)
            color = over(color, rgba(getComputedStyle(at).backgroundColor));
        return over(color, [255, 255, 255, 1]);
    };
    const opacity = element => {
        let product = 1;
        for (let at = element; at; at = at.parentElement)
            product *= Number(getComputedStyle(at).opacity);
        return product;
    };
    const words = element => element.matches('input, textarea, select')
        ? element.value || element.placeholder || ''
        : [...element.childNodes].filter(node => node.nodeType === Node.TEXT_NODE)
            .map(node => node.data).join('');
    const faint = [];
    for (const element of [part, ...part.querySelectorAll('*')]) {
        const text = words(element).trim();
        const seen = text && element.checkVisibility({ visibilityProperty: true })
            && !element.closest('svg, style, script, :disabled, option, video, .jp-OutputPrompt');
        if (!seen) continue;
        const back = behind(element);
        const part = element.placeholder && !element.value ? '::placeholder' : undefined;
        const color = rgba(getComputedStyle(element, part).color);
        const front = over([...color.slice(0, 3), color[3] * opacity(element)], back);
        const [light, dark] = [luminance(front), luminance(back)].sort((a, b) => b - a);
        const ratio = (light + 0.05) / (dark + 0.05);
        if (ratio < enough)
            faint.push(`${ratio.toFixed(2)} ${element.tagName}.${element.className}: `
                + text.slice(0, 40));
    }
    return [...new Set(faint)];
}"""


def find_faint_text(part: Locator, enough: float = ENOUGH) -> list[str]:
    """Return the text with too little contrast in a part of a page, each with its contrast."""
    found: list[str] = part.evaluate(_FAINT, enough)
    return found
