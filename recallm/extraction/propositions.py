"""Propositions: what the statements of a passage say if they are not its sentences.

They are the clauses of its sentences (``recallm.syntax``), or what a language model makes of the
passage. A proposition has a span in the passage, and a text of its own where it differs from the
span. Its terms, concepts and traits are those of its own text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Literal, NamedTuple, TypeAlias

from recallm.extraction.concepts import ConceptPlace
from recallm.extraction.reading import ReadSentence, ReadText, TextReader
from recallm.extraction.references import FoundReference, places_with_references
from recallm.extraction.words import Mark
from recallm.model import content_terms
from recallm.syntax import SentenceTree, propositions

__all__ = ["Propositions", "Stated", "by_model", "clauses", "sentences_of"]

Propositions: TypeAlias = Literal["clauses"] | Callable[[str], str]
"""How passages become propositions: "clauses", or a language model (prompt → text)."""

_CLEAR_SHARE = 0.5
"""A proposition stems from a sentence if at least this share of its terms stands there."""

_THINGS = ("it", "its")
_PERSONS = ("PER", "PERSON")


class Stated(NamedTuple):
    """What one statement says: its span in the passage, its own text (None: the span's), that text
    or the passage as it was read, and its sentences there, each with its concepts in textual
    order."""

    start: int
    end: int
    text: str | None
    read: ReadText
    sentences: Sequence[tuple[ReadSentence, Sequence[ConceptPlace]]]

    @property
    def places(self) -> Iterator[ConceptPlace]:
        """The concepts in textual order."""
        return chain.from_iterable(places for _, places in self.sentences)


class _Draft(NamedTuple):
    """A proposition before its text is read.

    ``references`` have their spans in the proposition's text. ``named`` are those whose pronoun
    gave way to the name.
    """

    start: int
    end: int
    text: str
    references: tuple[FoundReference, ...]
    named: tuple[FoundReference, ...] = ()


def sentences_of(read: ReadText, references: Iterable[FoundReference]) -> Iterator[Stated]:
    """The sentences of a passage, each as a statement."""
    for sentence, places in zip(
        read.sentences, places_with_references(read, references), strict=True
    ):
        yield Stated(sentence.start, sentence.end, None, read, [(sentence, places)])


def clauses(
    reader: TextReader,
    passages: Sequence[tuple[ReadText, Sequence[FoundReference]]],
    *,
    parsed: bool,
) -> Iterator[list[Stated]]:
    """The propositions of each passage by its parse; a sentence that is not split is one. With
    ``parsed`` they are parsed too.

    Only names that the passage itself spells take the place of pronouns: what another passage
    spells must be forgotten with it.
    """
    drafts = [
        [
            _clauses_of_sentence(stated, inside)
            for stated, inside in zip(
                sentences_of(read, references), _by_sentence(read, references), strict=True
            )
        ]
        for read, references in passages
    ]
    texts = [
        draft.text
        for sentences in drafts
        for found in sentences
        for draft in found
        if isinstance(draft, _Draft)
    ]
    reads = iter(reader.read(texts, parsed=parsed))
    for sentences in drafts:
        yield [
            _stated(draft, next(reads)) if isinstance(draft, _Draft) else draft
            for draft in chain.from_iterable(sentences)
        ]


def _by_sentence(
    read: ReadText, references: Iterable[FoundReference]
) -> list[list[FoundReference]]:
    """For each sentence the references that begin in it."""
    starts = [sentence.start for sentence in read.sentences]
    found: list[list[FoundReference]] = [[] for _ in starts]
    for reference in references:
        i = bisect_right(starts, reference.start) - 1
        if i >= 0 and reference.start < read.sentences[i].end:
            found[i].append(reference)
    return found


def _clauses_of_sentence(
    stated: Stated, inside: Sequence[FoundReference]
) -> Sequence[_Draft | Stated]:
    """The clauses of a sentence, or the sentence; ``inside`` are its references."""
    read, [(sentence, _)] = stated.read, stated.sentences
    block = read.blocks[sentence.block]
    tagged = block.tagged
    if tagged.tree is None:
        return [stated]
    first, last = sentence.tokens
    starts = [block.start + start for start in tagged.starts[first:last]]
    pronouns: dict[int, list[FoundReference]] = {}
    for reference in inside:
        token = bisect_right(starts, reference.start) - 1
        if tagged.words[first + token].marks & Mark.PRONOUN:
            pronouns.setdefault(token, []).append(reference)
    names = {
        token: " and ".join(reference.concepts[0].label for reference in found)
        for token, found in pronouns.items()
        if all(reference.antecedent is None for reference in found)
        and not (tagged.words[first + token].lowered in _THINGS and _is_person(read, found[0]))
    }
    tree = SentenceTree(tagged, tagged.tree, sentence.tokens)
    found = propositions(tree, read.text, starts, names)
    if not found:
        return [stated]
    return [
        _Draft(
            max(each.start, sentence.start),
            min(each.end, sentence.end),
            each.text,
            tuple(_moved(inside, each.runs)),
            tuple(it for token in each.renamed for it in pronouns[token]),
        )
        for each in found
    ]


def _is_person(read: ReadText, reference: FoundReference) -> bool:
    """Whether a passage names the antecedent as a person somewhere."""
    label = reference.concepts[0].label
    return any(
        kind in _PERSONS and block.tagged.text.startswith(label, block.tagged.starts[first])
        for block in read.blocks
        for first, _, kind in block.tagged.entities
    )


def _moved(
    references: Iterable[FoundReference], runs: Sequence[tuple[int, int, int]]
) -> Iterator[FoundReference]:
    """The references that a proposition spells, with their spans in its text.

    ``runs`` are (first character in the text, first in the passage, length).
    """
    offsets = {start: offset for offset, start, _ in runs}
    for reference in references:
        if (offset := offsets.get(reference.start)) is not None:
            length = reference.end - reference.start
            yield reference._replace(start=offset, end=offset + length)


def _stated(draft: _Draft, own: ReadText) -> Stated:
    in_order = places_with_references(own, draft.references, origin=0)
    sentences = list(zip(own.sentences, in_order, strict=True))
    known = {place.concept.name for _, places in sentences for place in places}
    names = [
        ConceptPlace(concept, tuple(parts), True)
        for concept, *parts in (reference.concepts for reference in draft.named)
        if concept.name not in known
    ]
    if names and sentences:
        first, places = sentences[0]
        sentences[0] = first, [*names, *places]
    return Stated(draft.start, draft.end, draft.text, own, sentences)


def by_model(
    reader: TextReader,
    passages: Sequence[tuple[ReadText, Sequence[FoundReference]]],
    answers: Iterable[Sequence[str]],
    *,
    parsed: bool,
) -> Iterator[list[Stated]]:
    """The propositions of each passage as a language model listed them; with ``parsed`` they are
    parsed.

    The span of a proposition is the sentence that holds most of its terms, the whole passage where
    none holds half of them. A proposition without a term of the passage is none. A sentence that is
    no proposition's span is a statement itself, so that nothing is lost.
    """
    listed = [list(dict.fromkeys(lines)) for lines in answers]
    reads = iter(reader.read([line for lines in listed for line in lines], parsed=parsed))
    for (read, references), lines in zip(passages, listed, strict=True):
        yield _attributed(read, references, lines, list(islice(reads, len(lines))))


def _attributed(
    read: ReadText,
    references: Sequence[FoundReference],
    lines: Sequence[str],
    reads: Sequence[ReadText],
) -> list[Stated]:
    plain = list(sentences_of(read, references))
    inside = _by_sentence(read, references)
    terms = [frozenset(content_terms(tuple(sentence.terms))) for sentence in read.sentences]
    every_term = frozenset(chain.from_iterable(terms))
    whole = (read.sentences[0].start, read.sentences[-1].end) if read.sentences else (0, 0)
    found: dict[int, list[Stated]] = {}
    for line, own in zip(lines, reads, strict=True):
        asked = frozenset(
            term for sentence in own.sentences for term in content_terms(tuple(sentence.terms))
        )
        if not asked & every_term:
            continue
        # Of equally good sentences the last: names in place of pronouns come from those before.
        best = max(range(len(terms)), key=lambda i: (len(asked & terms[i]), i))
        if len(asked & terms[best]) < _CLEAR_SHARE * len(asked):
            found.setdefault(-1, []).append(
                _stated(_Draft(*whole, line, tuple(_spelled(references, read, line))), own)
            )
            continue
        sentence = plain[best]
        if line == read.text[sentence.start : sentence.end]:
            found.setdefault(best, []).append(sentence)
            continue
        spelled = tuple(_spelled(inside[best], read, line))
        draft = _Draft(sentence.start, sentence.end, line, spelled)
        found.setdefault(best, []).append(_stated(draft, own))
    for i, sentence in enumerate(plain):
        found.setdefault(i, [sentence])
    return [each for i in sorted(found, key=lambda i: (i < 0, i)) for each in found[i]]


def _spelled(
    references: Iterable[FoundReference], read: ReadText, line: str
) -> Iterator[FoundReference]:
    """The references whose word stands in a line as well, with its span there."""
    for reference in references:
        word = read.text[reference.start : reference.end]
        if match := re.search(rf"\b{re.escape(word)}\b", line, re.IGNORECASE):
            yield reference._replace(start=match.start(), end=match.end())
