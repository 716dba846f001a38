"""Phrases: titles and hook angles of any origin, turned into something that can be read aloud."""

from __future__ import annotations

import re
import unicodedata

from kit.engines.text.speech import RATE, seconds

__all__ = ["angled", "clean", "sentence", "within"]

_SPOKEN = str.maketrans(
    {"&": " and ", "+": " plus ", "@": " at ", "’": "'", "‘": "'", "…": ",", "#": " ", "_": " "}
)
_MARKS = ".,;:!?"
_KEPT = frozenset(f"{_MARKS}'-%$€£°")
_WEAK_END = re.compile(
    r"(?i)[\s,;:'-]+(?:of|the|a|an|and|or|but|to|in|on|at|with|for|from|by|that|than|as|is|are|was|"
    r"were|it|its|your|my|our|their|this|these|into|about|when|which|who|what|how|why|if|not|no)$"
)
_DIRECTIVE = re.compile(
    r"(?i)^(?:(?:start|open|begin|lead|focus|center|build|play|draw|hook)\s+"
    r"(?:with|by|on|from|around)\s+(?:asking|showing|saying|revealing|telling|stating)?\s*"
    r"|(?:highlight|emphasize|stress|reveal|explain|mention|tease|explore|describe|present)\s+)"
    r"(?:(?:the\s+)?(?:fact|idea|claim)\s+that\s+|that\s+)?"
)
_VERB = re.compile(
    r"(?i)\b(?:is|are|was|were|am|can|could|will|would|has|have|had|do|does|did|may|might|must|"
    r"should|cannot|never|let|\w+n't|it's|you're|they're|that's|there's|i'm|we're)\b"
)
_PERSON = re.compile(r"(?i)^(?:i|you|we|they|he|she|it|nobody|everybody|everyone|someone)\b")
_ASKING = re.compile(r"(?i)^(?:why|how|what|where|when|who|which)\b")
#: A noun with what belongs to it: the first verb stands in a clause of its own.
_CLAUSE = re.compile(
    r"(?i)^(?:(?!(?:is|are|was|were|has|have|had|can|could|will|would|did|do|does|you|we|it|they|"
    r"i|nobody|everyone|\w+n't)\b)[^\s,]+\s+){1,7}?(?:who|that|which|what|why|how|where)\b(?!.*,)"
)


def clean(text: str) -> str:
    """Return a text without markup, pictures and doubled punctuation, in one line.

    Examples
    --------
    >>> clean("**Wait**...  what?! #space 🚀")
    'Wait, what? space'
    """
    plain = unicodedata.normalize("NFKC", text).translate(_SPOKEN)
    plain = re.sub(r"\.{2,}", ",", plain)
    plain = re.sub(r"\s+[-–—]+(?=\s)|[–—]+|-{2,}", ", ", plain)
    plain = "".join(c if _is_said(c) else " " for c in plain)
    plain = re.sub(r"\s+", " ", plain)
    plain = re.sub(rf"\s+(?=[{_MARKS}])", "", plain)
    plain = re.sub(rf"[{_MARKS}]{{2,}}", lambda marks: _strongest(marks[0]), plain)
    plain = re.sub(r"(?<![^\W_])['-]+(?![^\W_])", "", plain)  # quotes and dashes beside no word
    plain = re.sub(rf"\s+(?=[{_MARKS}])|\s+$", "", re.sub(r"\s+", " ", plain))
    plain = re.sub(rf"[{_MARKS}]{{2,}}", lambda marks: _strongest(marks[0]), plain)
    plain = plain.lstrip(f" {_MARKS}'-%°").rstrip(" ,;:'-")
    return plain if any(c.isalnum() for c in plain) else ""


def sentence(text: str) -> str:
    """Return a clean text as a sentence: capital letter first, closing mark last."""
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?")) else f"{text}."


def within(text: str, limit: float, *, rate: float = RATE) -> str:
    """Cut a text to a spoken length: after a sentence, else after a clause, else after a word.

    Parameters
    ----------
    limit : float
        Seconds; a single word that lasts longer is cut inside.
    """
    for mark in (r"(?<=[.!?])\s+", r"[,;:]\s+"):
        if seconds(text, rate=rate) <= limit:
            return text
        parts = re.split(mark, text)
        text = next((p for p in parts if seconds(p, rate=rate) > limit / 3), parts[0])
    said = text.split()
    while len(said) > 1 and seconds(" ".join(said), rate=rate) > limit:
        said.pop()
    text = " ".join(said)
    while len(text) > 1 and seconds(text, rate=rate) > limit:
        text = text[:-1]
    return _without_weak_end(text) if len(said) > 2 else text


def angled(angle: str) -> str:
    """Return the first sentence that a hook angle asks for.

    An angle may be a sentence, a question, an instruction to the writer or a bare phrase.

    Examples
    --------
    >>> angled("Start with the fact that sharks are older than trees")
    'Sharks are older than trees.'
    >>> angled("how cats always land on their feet")
    'Here is how cats always land on their feet.'
    >>> angled("the loneliest planet")
    'Here is the loneliest planet.'
    """
    core = _DIRECTIVE.sub("", angle)
    core = core if len(core.split()) > 1 else angle
    if core.endswith(("?", ".", "!")):
        return sentence(core)
    if _ASKING.match(core):
        return f"Here is {core[:1].lower()}{core[1:]}."
    if _CLAUSE.match(core) or not (_VERB.search(core) or _PERSON.match(core)):
        article = re.match(r"(?i)(?:a|an|the)\s", core)
        return f"Here is {core[:1].lower()}{core[1:]}." if article else f"Think of {core}."
    return sentence(core)


def _is_said(char: str) -> bool:
    return char in _KEPT or unicodedata.category(char)[0] in "LMN"


def _strongest(marks: str) -> str:
    return next(mark for mark in "?!.,;:" if mark in marks)


def _without_weak_end(text: str) -> str:
    while (shorter := _WEAK_END.sub("", text)) != text:
        text = shorter
    return text.rstrip(" ,;:'-")
