"""Propositions: a sentence split into clauses that can stand alone.

"Ada, who works at Cisco, moved to Porto and bought a boat." → "Ada moved to Porto." "Ada bought a
boat." "Ada works at Cisco." Coordinated verb phrases get their subject, relative clauses,
appositions and participles of a named thing become sentences, and pronouns give way to the names
that they stand for. Every word of the sentence but relative pronouns and conjunctions stands in at
least one proposition.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from recallm.syntax.splitting import (
    MARKS_OF_PARTS,
    POSSESSIVES,
    QUOTES,
    StandaloneClause,
    standalone_clauses,
)
from recallm.syntax.tree import SentenceTree

__all__ = ["Proposition", "propositions"]

_ENDS: Final = frozenset((".", "!", "…", "..."))


class Proposition(NamedTuple):
    """A clause that stands alone.

    ``start`` and ``end`` are its span in the passage. ``runs`` are the words of ``text`` that the
    passage spells: (first character in ``text``, first in the passage, length). ``renamed`` are
    the pronouns (tokens) that gave way to a name.
    """

    text: str
    start: int
    end: int
    runs: tuple[tuple[int, int, int], ...]
    renamed: tuple[int, ...] = ()


def propositions(
    tree: SentenceTree, source: str, starts: Sequence[int], names: Mapping[int, str]
) -> list[Proposition]:
    """The propositions of a sentence, in order; none where it stands as it is.

    ``source`` is the passage, ``starts`` are the first characters of the sentence's tokens there.
    ``names`` are the names that pronouns stand for, by token.
    """
    if QUOTES & set(tree.lowered):
        return []
    writer = _Writer(tree, source, starts, names)
    clauses = standalone_clauses(tree, names)
    if len(clauses) > 1:
        return [writer.written(clause) for clause in clauses]
    renamed = writer.renamed() if names else None
    return [] if renamed is None else [renamed]


class _Writer:
    """Writes the clauses of one sentence as text."""

    def __init__(
        self, tree: SentenceTree, source: str, starts: Sequence[int], names: Mapping[int, str]
    ) -> None:
        self._tree = tree
        self._source = source
        self._starts = starts
        self._names = names

    def written(self, clause: StandaloneClause) -> Proposition:
        """A clause as a sentence of its own."""
        tree = self._tree
        tokens = self._without_loose_marks(clause.tokens)
        borrowed = self._without_loose_marks([i for i in clause.before if isinstance(i, int)])
        before = [i for i in clause.before if isinstance(i, str) or i in borrowed]
        found = self._joined([*before, *tokens])
        last = tokens[-1]
        # The clause at the end of the sentence has its full stop.
        if not any(word.is_word for word in tree.words[last + 1 :]):
            last = len(tree) - 1
        text = found.text
        if text[-1] not in _ENDS:
            text += tree.lowered[-1] if tree.lowered[-1] in _ENDS else "."
        return found._replace(text=text, start=self._starts[tokens[0]], end=self._end(last))

    def renamed(self) -> Proposition | None:
        """The sentence with names in place of its pronouns; None where it spells them already."""
        found = self._joined(range(len(self._tree)))
        return found if found.renamed else None

    def _end(self, token: int) -> int:
        return self._starts[token] + len(self._tree.words[token].text)

    def _without_loose_marks(self, tokens: Sequence[int]) -> list[int]:
        """The tokens of a clause without the commas around what was taken out, and at its ends."""
        kept = set(tokens)
        lowered = self._tree.lowered
        found = [
            i
            for i in tokens
            if lowered[i] not in MARKS_OF_PARTS or (i - 1 in kept and i + 1 in kept)
        ]
        while found and lowered[found[-1]] in (*MARKS_OF_PARTS, *_ENDS):
            found.pop()
        while found and lowered[found[0]] in (*MARKS_OF_PARTS, *_ENDS):
            found.pop(0)
        return found or list(tokens)

    def _joined(self, items: Sequence[int | str]) -> Proposition:
        """Tokens and inserted words as a text, with the span of the whole sentence. A name takes
        the place of a pronoun where it does not stand already."""
        spelled = " ".join(
            item if isinstance(item, str) else self._tree.words[item].text for item in items
        )
        text, before = "", -2
        runs: list[tuple[int, int, int]] = []
        renamed: list[int] = []
        for item in items:
            if isinstance(item, str):
                text += item if item.startswith("'") else f" {item}"
                continue
            begin, end = self._starts[item], self._end(item)
            if text:
                text += self._source[self._end(before) : begin] if item == before + 1 else " "
            before = item
            name = self._names.get(item)
            if name is None or _spells(spelled, name) or _spells(text, name):
                runs.append((len(text), begin, end - begin))
                text += self._source[begin:end]
            else:
                renamed.append(item)
                text += self._inflected(item, name)
        first = text[0].upper()
        text = first + text[1:] if len(first) == 1 else text
        end = self._end(len(self._tree) - 1)
        return Proposition(text, self._starts[0], end, tuple(runs), tuple(renamed))

    def _inflected(self, pronoun: int, name: str) -> str:
        """A name in place of a pronoun: "her brother" → "Ann's brother"."""
        tree = self._tree
        word = tree.lowered[pronoun]
        is_possessive = word in POSSESSIVES or (
            word == "her" and tree.bases[pronoun] in ("nmod", "det")
        )
        return f"{name}'s" if is_possessive else name


def _spells(text: str, name: str) -> bool:
    return re.search(rf"\b{re.escape(name)}\b", text) is not None
