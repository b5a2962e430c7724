"""From passages to spaCy's training examples: raw text, and what the annotators said of it."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, replace
from itertools import pairwise

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from training.pipeline.passages import Passage
from training.pipeline.treebank import MISSING

_ROLE_SUBTYPES = frozenset(
    {"acl:relcl", "aux:pass", "compound:prt", "nmod:poss", "nsubj:pass", "obl:agent"}
)
_RARE_RELATIONS = frozenset({"dep", "dislocated", "goeswith", "orphan", "reparandum"})


def role(relation: str) -> str:
    """A relation of a treebank as the tagger of roles learns it: few subtypes, "root" for the
    root; "" (unknown) for relations that are too rare to learn."""
    if relation in _ROLE_SUBTYPES:
        return relation
    general = relation.partition(":")[0].lower()
    return "" if general in _RARE_RELATIONS else general


def example_of(nlp: Language, passage: Passage, *, trees: bool) -> Example:
    """The example of a passage: its text as the tokenizer cuts it, against the gold words.

    Where the tokenizer cuts a gold word into pieces ("e-mail"), the gold word is cut as well:
    spaCy would give each piece the word's tag and its sentence start, and so teach that
    hyphens are nouns and that a row of "=" is as many sentences. Where it joins gold words,
    spaCy learns from what they have in common. With `trees` the gold words stay whole, since
    the parser aligns trees by itself; a passage with a word that has no head, or whose head
    was taken away, has no tree.
    """
    gold = _gold(passage)
    has_tree = trees and all(piece.head is not None for piece in gold)
    text = "".join(piece.form + " " * piece.space_after for piece in gold)
    predicted = nlp.make_doc(text)
    if not trees:
        gold = _cut(gold, {token.idx for token in predicted})
    reference = Doc(
        nlp.vocab,
        words=[piece.form for piece in gold],
        spaces=[piece.space_after for piece in gold],
        pos=[piece.upos for piece in gold],
        tags=[role(piece.dep) for piece in gold],
        lemmas=[piece.lemma for piece in gold] if has_tree else None,
        heads=[piece.head or 0 for piece in gold] if has_tree else None,
        deps=[piece.dep for piece in gold] if has_tree else None,
        ents=[piece.entity for piece in gold],
        sent_starts=None if has_tree else [piece.starts for piece in gold],
    )
    return Example(predicted, reference)


@dataclass(slots=True, kw_only=True)
class _Piece:
    """A gold word, or a piece of one, in its passage; `head` counts from the passage's start."""

    form: str
    space_after: bool
    upos: str
    lemma: str
    head: int | None
    dep: str
    entity: str
    starts: bool


def _gold(passage: Passage) -> list[_Piece]:
    gold: list[_Piece] = []
    for sentence, separator in zip(passage.sentences, passage.separators, strict=True):
        offset = len(gold)
        gold.extend(
            _Piece(
                form=word.form,
                space_after=word.space_after,
                upos=word.upos,
                lemma=word.lemma,
                head=offset + word.head
                if word.head is not None and word.head < len(sentence.words)
                else None,
                dep=word.dep,
                entity=word.entity,
                starts=index == 0,
            )
            for index, word in enumerate(sentence.words)
        )
        gold[-1].space_after = separator == " "
        if separator.strip(" "):
            entity = "O" if gold[-1].entity != MISSING else MISSING
            gold.append(
                _Piece(
                    form=separator,
                    space_after=False,
                    upos="SPACE",
                    lemma=separator,
                    head=len(gold) - 1,
                    dep="dep",
                    entity=entity,
                    starts=False,
                )
            )
    return gold


def _cut(gold: list[_Piece], boundaries: Set[int]) -> list[_Piece]:
    """Cut each gold word where a token begins inside it."""
    pieces: list[_Piece] = []
    start = 0
    for word in gold:
        end = start + len(word.form)
        inner = [i for i in range(start + 1, end) if i in boundaries]
        cuts = [start, *inner, end]
        for first, last in pairwise(cuts):
            form = word.form[first - start : last - start]
            upos = _tag_of_piece(form, word) if inner else word.upos
            pieces.append(
                replace(
                    word,
                    form=form,
                    space_after=word.space_after and last == end,
                    upos=upos,
                    dep="punct" if upos == "PUNCT" and word.dep else word.dep,
                    entity=word.entity if first == start else word.entity.replace("B-", "I-"),
                    starts=word.starts and first == start,
                )
            )
        start = end + word.space_after
    return pieces


def _tag_of_piece(form: str, word: _Piece) -> str:
    """The word's own tag, but for marks between its letters and digits."""
    if not word.upos or any(c.isalnum() for c in form) or not any(c.isalnum() for c in word.form):
        return word.upos
    return "SYM" if any(c in "$€£%+=<>~^|@&#" for c in form) else "PUNCT"
