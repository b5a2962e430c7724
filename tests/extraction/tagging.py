"""Tagged texts made by hand: what a pipeline would say, without one."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from spacy.tokens import Doc, Span
from spacy.vocab import Vocab

from recallm.english.pipeline import TaggedText, read_doc
from recallm.english.shipped import Labels


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
    return read_doc(doc, doc.text, labels_of(doc))


def labels_of(doc: Doc) -> Labels:
    """What spaCy's components, or a test, set on a document."""
    return Labels(
        tags=tuple(token.pos for token in doc),
        begins=tuple(token.is_sent_start is True for token in doc),
        entities=tuple((entity.start, entity.end, entity.label_) for entity in doc.ents),
        roles=tuple(token.tag_ for token in doc),
    )
