"""Text as a reader sees it: what looks alike folds to one spelling.

For tests alone, as of whether a text imitates a speaker: what is stored, and what is shown, is
never folded. Width, case and accents go; so do characters that take no place or that cannot be
seen (zero-width, bidirectional, combining, control characters); every line break is a newline.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

__all__ = ["folded", "folded_character"]

_SAME = {
    ":": "\u02d0\u02f8\u0589\u05c3\u0703\u0704\u0903\u0a83\u1365\u16ec\u17d6\u1803\u1804\u1809"
    "\u205a\u205d\u205e\u2236\u2237\u22ee\u2982\ua4fd\ua789\ufe19\ufe30",
    "<": "\u02c2\u1438\u16b2\u2329\u276c\u276e\u2770\u27e8\u3008",
    ">": "\u02c3\u1433\u232a\u276d\u276f\u2771\u27e9\u3009",
    "[": "\u2045\u2772\u27e6\u3010\u3014\u3016\u3018\u301a",
    "]": "\u2046\u2773\u27e7\u3011\u3015\u3017\u3019\u301b",
    '"': "\u00ab\u00bb\u201c\u201d\u201e\u201f\u2033\u2036\u275d\u275e\u301d\u301e\u301f",
    "|": "\u01c0",
    "-": "\u30fc",
    "_": "\u02cd\u203f",
    " ": "\u2120\u2122",
    # Letters of other scripts that look like the Latin ones in the names of roles.
    "a": "\u0391\u03b1\u0410\u0430",
    "b": "\u0392\u0412",
    "c": "\u03f9\u03f2\u0421\u0441",
    "d": "\u0501",
    "e": "\u0395\u0415\u0435",
    "h": "\u0397\u041d\u04bb",
    "i": "\u0399\u03b9\u0406\u0456\u04c0\u0131",
    "l": "\u04cf",
    "m": "\u039c\u041c",
    "n": "\u039d",
    "o": "\u039f\u03bf\u041e\u043e",
    "p": "\u03a1\u03c1\u0420\u0440",
    "s": "\u0405\u0455",
    "t": "\u03a4\u0422",
    "u": "\u03c5",
    "v": "\u03bd\u0475",
    "y": "\u03a5\u0423\u0443\u04ae",
}
_LOOKS_LIKE = {ord(other): plain for plain, others in _SAME.items() for other in others}

_UNSEEN = {"Cc", "Cf", "Cs", "Me", "Mn"}
_FILLERS = "\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"
"""Letters and symbols that show nothing."""

_OTHERS = re.compile("[^ -~]")

_FEW = 8
"""Different characters that are replaced one after the other: much faster than at once."""


def folded(text: str) -> str:
    """``text`` as a reader sees it, in small letters without accents."""
    if not (text.isascii() and text.isprintable()):
        others = set(_OTHERS.findall(text))
        if len(others) > _FEW:
            text = text.translate({ord(it): folded_character(it) for it in others})
        else:
            for it in others:
                text = text.replace(it, folded_character(it))
    return text.lower()


@lru_cache(maxsize=4096)
def folded_character(character: str) -> str:
    """What one character folds to: '' where it cannot be seen."""
    if len((character + ".").splitlines()) > 1:
        return "\n"
    if character.isspace():
        return " "
    if character in _FILLERS:
        return ""
    plain = _LOOKS_LIKE.get(ord(character))
    if plain is not None:
        return plain
    parts = unicodedata.normalize("NFKD", character)
    seen = "".join(
        _LOOKS_LIKE.get(ord(part), part)
        for part in parts
        if unicodedata.category(part) not in _UNSEEN
    )
    return seen.casefold()
