"""A sentence's tree: its tokens with their heads, and the phrases that hang from a token.

All indexes are of tokens, counted from the beginning of the sentence. The relations are those of
Universal Dependencies (https://universaldependencies.org/u/dep).
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from spacy.symbols import VERB

from recallm.english.word_lists import read_table, word_set
from recallm.english.words import Word, regular_base, verb_base
from recallm.model import Mark

if TYPE_CHECKING:
    from recallm.english.pipeline import TaggedText, Tree
    from recallm.english.words import Word

TABLE: Final = read_table("syntax/data/english.toml")
WORDS: Final[dict[str, frozenset[str]]] = {
    name: word_set(words) for name, words in TABLE.items() if isinstance(words, str)
}
"""The lists of ``data/english.toml``; ``TABLE`` has its tables too."""

RELATIVES: Final = {who: word_set(words) for who, words in TABLE["kin"].items()}
"""The nouns of relatives that are women, men, or others."""
EVERY_RELATIVE: Final = frozenset().union(*RELATIVES.values())

LONGEST_PHRASE: Final = 100
"""Tokens. A longer phrase is cut, so that the phrases of a sentence cost linear time."""

QUOTES: Final = frozenset(('"', "“", "”", "``", "''"))
_CLOSING: Final = {'"': '"', "``": "''", "“": "”", "‘": "’", "(": ")", "[": "]", "{": "}", "'": "'"}
_OPENING: Final = {closing: opening for opening, closing in _CLOSING.items()}
_EDGE: Final = frozenset((",", ";", ":", ".", "-", "--", "–", "—", "...", "…", "!", "?", "*", "|"))
_NO_RELATIONS: Final[frozenset[str]] = frozenset()


class SentenceTree:
    """The tree of one sentence of a parsed text.

    ``first`` is the sentence's first token in the text, ``span`` is (first, last + 1). A head
    outside of the sentence counts as none: the token is a root.

    ``words``, ``lowered``, ``tags``, ``lemmas`` and ``relations`` run in parallel; ``heads`` are -1
    for roots; ``children`` are ascending. ``bases`` are relations without their subtypes.
    ``quotes`` are the tokens that are quotation marks; ``names`` are the spans of names, once
    ``name_phrases`` has read them.
    """

    def __init__(self, tagged: TaggedText, tree: Tree, span: tuple[int, int]) -> None:
        first, end = span
        self.first = first
        self._text = tagged.text
        self._starts = tagged.starts[first:end]
        self.words: Sequence[Word] = tagged.words[first:end]
        self.lowered = [word.lowered for word in self.words]
        self.quotes = [i for i, word in enumerate(self.lowered) if word in QUOTES]
        self.tags = [*tagged.tags[first:end]]
        self.names: Sequence[tuple[int, int]] = ()
        self.lemmas = tree.lemmas[first:end]
        self.relations = tree.relations[first:end]
        self.heads = [
            head - first if first <= head < end and head - first != i else -1
            for i, head in enumerate(tree.heads[first:end])
        ]
        self.bases = [relation.partition(":")[0] for relation in self.relations]
        self.children: list[list[int]] = [[] for _ in self.heads]
        for i, head in enumerate(self.heads):
            if head >= 0:
                self.children[head].append(i)
        self.entity_labels: dict[int, str] = {
            token - first: label
            for begin, behind, label in tagged.entities
            if first <= begin and behind <= end
            for token in range(begin, behind)
        }

    def move(self, token: int, head: int, relation: str = "") -> None:
        """Hang a token with all below it from another one (-1: from none), by another relation if
        one is given."""
        relation = relation or self.relations[token]
        if (before := self.heads[token]) >= 0:
            self.children[before].remove(token)
        if head >= 0:
            insort(self.children[head], token)
        self.heads[token] = head
        self.relations[token] = relation
        self.bases[token] = relation.partition(":")[0]

    def move_all(self, tokens: Iterable[int], head: int) -> None:
        """Hang tokens from another one by the relations that they have."""
        for token in [*tokens]:
            self.move(token, head)

    def is_below(self, token: int, head: int) -> bool:
        """Whether a token is another one, or hangs from it over any number of steps."""
        steps = 0
        while token >= 0 and steps <= len(self):
            if token == head:
                return True
            token, steps = self.heads[token], steps + 1
        return False

    def __len__(self) -> int:
        return len(self.heads)

    def base_form(self, verb: int) -> str:
        """A verb's base form. The lemmatizer may cut a regular verb wrongly ("plann", "solv"), and
        may take a verb for a noun ("lives": "life")."""
        lemma, form = self.lemmas[verb].lower(), self.lowered[verb]
        is_adjective = lemma == form and self.child(verb, "cop") >= 0  # "is excited"
        if lemma in ("be", "have", "do", "go") or self.tags[verb] != VERB or is_adjective:
            return lemma
        if form.endswith(("ing", "ed")):
            base = verb_base(form)
            return base if base != form else regular_base(form)
        if self.words[verb].marks & Mark.PAST:
            return verb_base(form) if lemma == form else lemma  # "lent"
        return _without_s(form) if form[-1:] == "s" and not form.startswith(lemma) else lemma

    def child(self, head: int, *relations: str) -> int:
        """The first child with one of the relations, -1 if there is none."""
        for i in self.children[head]:
            if self.relations[i] in relations:
                return i
        return -1

    def phrase(
        self,
        head: int,
        *,
        without: frozenset[str] = _NO_RELATIONS,
        without_below: frozenset[str] = _NO_RELATIONS,
        without_tokens: Iterable[int] = (),
    ) -> list[int]:
        """The tokens below ``head``, ascending, at most ``LONGEST_PHRASE``, without the punctuation
        at their ends.

        Left out are the subtrees of children of ``head`` by a relation of ``without``, of any
        token below by one of ``without_below``, and of ``without_tokens``.
        """
        left_out = set(without_tokens)
        relations, children = self.relations, self.children
        found = [head]
        stack = [
            i
            for i in children[head]
            if relations[i] not in without
            and relations[i] not in without_below
            and i not in left_out
        ]
        while stack and len(found) < LONGEST_PHRASE:
            i = stack.pop()
            found.append(i)
            if children[i]:
                stack.extend(
                    j
                    for j in children[i]
                    if relations[j] not in without_below and j not in left_out
                )
        found.sort()
        return self._trimmed(found)

    def _trimmed(self, tokens: list[int]) -> list[int]:
        """Tokens without marks at their ends; quotes and brackets with a partner stay."""
        lowered = self.lowered
        start, end = 0, len(tokens)
        while start < end:
            first, last = lowered[tokens[start]], lowered[tokens[end - 1]]
            if first in _EDGE:
                start += 1
            elif last in _EDGE:
                end -= 1
            elif first in _CLOSING and not self._has(tokens[start + 1 : end], _CLOSING[first]):
                start += 1
            elif last in _OPENING and not self._has(tokens[start : end - 1], _OPENING[last]):
                end -= 1
            else:
                break
        return tokens[start:end]

    def _has(self, tokens: list[int], text: str) -> bool:
        return any(self.lowered[i] == text for i in tokens)

    def text(self, tokens: Sequence[int]) -> str:
        """The tokens as written, with a space for each gap."""
        if not tokens:
            return ""
        runs: list[str] = []
        begin = before = tokens[0]
        for i in tokens[1:]:
            if i != before + 1:
                runs.append(self._written(begin, before))
                begin = i
            before = i
        runs.append(self._written(begin, before))
        return " ".join(runs)

    def _written(self, first: int, last: int) -> str:
        return " ".join(self._text[self._starts[first] : self._ends_at(last)].split())

    def written_together(self, token: int) -> list[int]:
        """The tokens around one without a space between them: "555-0199", "co-founders"."""
        first = last = token
        while first > 0 and self._ends_at(first - 1) == self._starts[first]:
            first -= 1
        while last + 1 < len(self) and self._ends_at(last) == self._starts[last + 1]:
            last += 1
        return self._trimmed([*range(first, last + 1)])

    def _ends_at(self, token: int) -> int:
        return self._starts[token] + len(self.words[token].text)

    def is_relative(self, noun: int) -> bool:
        """Whether a noun tells somebody by somebody else: "son", "neighbours"."""
        return not EVERY_RELATIVE.isdisjoint((self.lowered[noun], self.lemmas[noun].lower()))

    def is_time(self, token: int) -> bool:
        """Whether a token and the words that hang from it name a time: "Monday", "last week"."""
        marks = self.words[token].marks
        if marks & (Mark.TIME | Mark.TIME_NUMBER):
            return True
        if not marks & (Mark.UNIT | Mark.MAYBE_TIME | Mark.NUMERAL):
            return False
        around = Mark.PICKS | Mark.COUNT | Mark.TIME | Mark.TIME_NUMBER
        return any(
            self.words[i].marks & around or self.lowered[i] == "the" for i in self.children[token]
        )


def _without_s(form: str) -> str:
    """The base of a verb's third person: "studies" → "study", "fixes" → "fix", "lives" → "live"."""
    if form.endswith("ies") and len(form) > 4:
        return form[:-3] + "y"
    return form[:-2] if form.endswith(("sses", "xes", "zzes", "ches", "shes", "oes")) else form[:-1]
