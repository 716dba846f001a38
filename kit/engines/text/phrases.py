"""Phrases: titles and hook angles of any origin, converted to text that can be read aloud."""

from __future__ import annotations

import re
from unicodedata import category, normalize

from kit.engines.text.speech import RATE, seconds

_SPOKEN_SIGNS = str.maketrans(
    {"&": " and ", "+": " plus ", "@": " at ", "’": "'", "‘": "'", "…": ",", "#": " ", "_": " "}
)
_MARKS = ".,;:!?"
_KEPT_MARKS = frozenset(f"{_MARKS}'-%$€£°")
_WEAK_END = re.compile(
    r"(?i)[\s,;:'-]+(?:of|the|a|an|and|or|but|to|in|on|at|with|for|from|by|that|than|as|is|are|was|"
    r"were|it|its|your|my|our|their|this|these|into|about|when|which|who|what|how|why|if|not|no)$"
)
#: Minimum seconds of a meaningful clause, and words that connect it to the previous one.
_CLAUSE_SECONDS = 1.2
_LINK_WORD = re.compile(r"(?i)^(?:and|but|so|or|then)\s+")
#: Words before which a phrase can end, and those that start a clause of their own.
_OPENERS = frozenset("when which who that where if why how what because".split())  # noqa: SIM905
_JOINT_WORDS = (
    "and but or while because although before after until so when which who that where if as of "
    "to in on at with for from by about into than without under over"
)
_JOINTS = frozenset(_JOINT_WORDS.split())
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
_QUESTION_WORD = re.compile(r"(?i)^(?:why|how|what|where|when|who|which)\b")
#: A noun phrase: its first verb is in a subordinate clause.
_CLAUSE = re.compile(
    r"(?i)^(?:(?!(?:is|are|was|were|has|have|had|can|could|will|would|did|do|does|you|we|it|they|"
    r"i|nobody|everyone|\w+n't)\b)[^\s,]+\s+){1,7}?(?:who|that|which|what|why|how|where)\b(?!.*,)"
)


def clean(text: str) -> str:
    """Return a text in one line, without markup, pictures and repeated punctuation."""
    plain = normalize("NFKC", text).translate(_SPOKEN_SIGNS)
    plain = re.sub(r"\.{2,}", ",", plain)
    plain = re.sub(r"\s+[-–—]+(?=\s)|[–—]+|-{2,}", ", ", plain)
    plain = "".join(c if c in _KEPT_MARKS or category(c)[0] in "LMN" else " " for c in plain)
    plain = re.sub(r"\s+", " ", plain)
    plain = re.sub(rf"\s+(?=[{_MARKS}])", "", plain)
    plain = re.sub(rf"[{_MARKS}]{{2,}}", _strongest, plain)
    plain = re.sub(r"(?<![^\W_])['-]+(?![^\W_])", "", plain)  # quotes and dashes beside no word
    plain = re.sub(rf"\s+(?=[{_MARKS}])|\s+$", "", re.sub(r"\s+", " ", plain))
    plain = re.sub(rf"[{_MARKS}]{{2,}}", _strongest, plain)
    plain = plain.lstrip(f" {_MARKS}'-%°").rstrip(" ,;:'-")
    return plain if any(c.isalnum() for c in plain) else ""


def sentence(text: str) -> str:
    """Return a clean text as a sentence: initial capital, final punctuation mark."""
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?")) else f"{text}."


def shorten(text: str, limit: float, *, rate: float = RATE) -> str:
    """Shorten a text to spoken seconds: after a sentence, a clause, a phrase, else after a word."""
    for mark in (r"(?<=[.!?])\s+", r"[,;:]\s+"):
        if seconds(text, rate=rate) <= limit:
            return text
        parts = re.split(mark, text)
        enough = min(limit / 3, _CLAUSE_SECONDS)
        text = next((p for p in parts if seconds(p, rate=rate) > enough), parts[0])
        text = _LINK_WORD.sub("", text) if text != parts[0] else text
    if seconds(text, rate=rate) > limit:
        # The longest beginning within the limit that does not split a clause.
        words, low = text.split(), text.lower().split()
        ends = [n for n in range(2, len(words)) if low[n] in _JOINTS and not _OPENERS & {*low[1:n]}]
        phrases = (" ".join(words[:n]) for n in reversed(ends))
        text = next((p for p in phrases if seconds(p, rate=rate) <= limit), text)
    words = text.split()
    while len(words) > 1 and seconds(" ".join(words), rate=rate) > limit:
        words.pop()
    text = " ".join(words)
    while len(text) > 1 and seconds(text, rate=rate) > limit:  # a single word is cut
        text = text[:-1]
    while len(words) > 2 and (shorter := _WEAK_END.sub("", text)) != text:
        text = shorter
    return text.rstrip(" ,;:'-") if len(words) > 2 else text


def strip_directive(angle: str) -> str:
    """Return the content of a hook angle, without the instruction to the writer around it."""
    core = _DIRECTIVE.sub("", angle)
    return core if len(core.split()) > 1 else angle


def hook_sentence(angle: str) -> str:
    """Return the first sentence for an angle: a sentence, an instruction or a phrase.

    Examples
    --------
    >>> hook_sentence("Start with the fact that sharks are older than trees")
    'Sharks are older than trees.'
    >>> hook_sentence("the loneliest planet")
    'Here is the loneliest planet.'
    """
    core = strip_directive(angle)
    if core.endswith(("?", ".", "!")):
        return sentence(core)
    if _QUESTION_WORD.match(core):
        return f"Here is {core[:1].lower()}{core[1:]}."
    if _CLAUSE.match(core) or not (_VERB.search(core) or _PERSON.match(core)):
        article = re.match(r"(?i)(?:a|an|the)\s", core)
        return f"Here is {core[:1].lower()}{core[1:]}." if article else f"Think of {core}."
    return sentence(core)


def _strongest(marks: re.Match[str]) -> str:
    return next(mark for mark in "?!.,;:" if mark in marks[0])
