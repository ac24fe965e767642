"""Tags and entities out of a text, in one pass however broken the markup is.

A tag separates words, as a paragraph does; scripts, styles and comments go with what is in them. A
`<` that opens no tag is text.
"""

import html
import re

# What may follow `<` in markup: a name, the end of one, a comment, a declaration, an instruction.
_OPENING = re.compile(r"<(?=[a-zA-Z/!?])(!--|(?:script|style)(?=[\s/>]))?", re.IGNORECASE)


def strip_tags(text: str) -> str:
    """Return the text without its tags and with its entities decoded."""
    if "<" in text:
        text = " ".join(_between_tags(text))
    return html.unescape(text) if "&" in text else text


def _between_tags(text: str) -> list[str]:
    pieces = []
    at = 0
    while opening := _OPENING.search(text, at):
        pieces.append(text[at : opening.start()])
        at = _end_of_tag(text, opening)
        if at < 0:  # never closed: the rest is markup, as a browser takes it
            return pieces
    pieces.append(text[at:])
    return pieces


def _end_of_tag(text: str, opening: re.Match[str]) -> int:
    """Return where text goes on, or -1 if it does not."""
    name = (opening[1] or "").lower()
    if name == "!--":
        close = text.find("-->", opening.end())
        return close + 3 if close >= 0 else -1
    if name:
        closing = re.compile(rf"</{name}\s*>", re.IGNORECASE).search(text, opening.end())
        return closing.end() if closing else -1
    close = text.find(">", opening.end())
    return close + 1 if close >= 0 else -1
