"""Tagged texts made by hand: what a pipeline would say, without one."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from spacy.tokens import Doc, Span
from spacy.vocab import Vocab

from recallm.english.pipeline import TaggedText, read_doc


def given(
    tagged: str,
    *,
    entities: Sequence[tuple[int, int, str]] = (),
    begins: Collection[int] = (),
) -> TaggedText:
    """The text of ``"Anna/PROPN loves/VERB tea/NOUN ./PUNCT"``, tokens apart by one space.

    ``entities`` are (first token, last token + 1, label); ``begins`` the tokens that begin a
    sentence, the first one always.
    """
    pairs = [token.rsplit("/", 1) for token in tagged.split()]
    doc = Doc(
        Vocab(),
        words=[word for word, _ in pairs],
        pos=[tag for _, tag in pairs],
        sent_starts=[i == 0 or i in begins for i in range(len(pairs))],
    )
    doc.set_ents([Span(doc, first, last, label=label) for first, last, label in entities])
    return read_doc(doc, doc.text)
