"""Concepts: the nouns, names, numbers and entities of a statement, in textual order.

An entity is what the pipeline's entity recogniser marks, or a run of proper nouns; a run that
holds a single marked entity is that entity, whole. Dates, amounts and the like are not entities.
An entity of several words holds one place in the order, and its parts are mentioned with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from spacy.symbols import (
    ADP,
    AUX,
    CCONJ,
    DET,
    INTJ,
    NOUN,
    NUM,
    PART,
    PRON,
    PROPN,
    PUNCT,
    SCONJ,
    SPACE,
    SYM,
    VERB,
    X,
)

from recallm.extraction.blocks import Span
from recallm.extraction.marks import Mark
from recallm.extraction.pipeline import TaggedText
from recallm.extraction.words import Word
from recallm.model import ConceptKind, ConceptMention, Trait

__all__ = [
    "ENTITY_TRAITS",
    "Entities",
    "Place",
    "entities",
    "label_words",
    "noun_tag",
    "places",
    "trimmed",
    "within",
]

ENTITY_TRAITS = {
    "PER": Trait.PERSON,
    "PERSON": Trait.PERSON,
    "LOC": Trait.PLACE,
    "GPE": Trait.PLACE,
    "FAC": Trait.PLACE,
    "ORG": Trait.ORGANISATION,
    "NORP": Trait.ORGANISATION,
}
"""The entity types of spaCy's pipelines that are traits."""

_NOT_ENTITIES = frozenset(
    {"DATE", "TIME", "PERCENT", "MONEY", "QUANTITY", "ORDINAL", "CARDINAL", "LANGUAGE"}
)
_KINDS: dict[int, ConceptKind] = {NOUN: "noun", PROPN: "name", NUM: "number"}
_NOT_PARTS = frozenset({ADP, AUX, CCONJ, SCONJ, DET, INTJ, PART, PRON, PUNCT, SPACE, SYM})
_NOT_EDGES = frozenset({DET, PART, PRON, PUNCT, SPACE, SYM, CCONJ})

Entities = list[tuple[int, int, str]]


class Place(NamedTuple):
    """One place in the order of concepts: the concept, and the parts mentioned with it."""

    concept: ConceptMention
    parts: tuple[ConceptMention, ...] = ()
    is_name: bool = False


def noun_tag(word: Word, tag: int) -> int:
    """NOUN, PROPN or NUM where a token is a concept by its tag, else 0.

    A number or a time in digits is a number whatever its tag. Words of other scripts are nouns,
    since an English pipeline cannot tell; so are words with letters beyond ASCII that it gave up
    on (tagged X).
    """
    if not word.is_word or word.marks & Mark.PRONOUN:
        return 0
    found: int = tag if tag in _KINDS else 0
    if word.marks & (Mark.TIME_NUMBER | Mark.NUMERAL):
        found = NUM
    elif not found and (word.beyond_latin or (tag == X and word.foreign)):
        found = NOUN
    return found


def entities(tagged: TaggedText) -> Entities:
    """The entities of a block, in order and disjoint: (first token, last token + 1, type).

    A run of proper nouns that the recogniser did not mark has the type "". Runs of one proper
    noun are left out: a token is a concept as it is. So are words of other scripts, which an
    English tagger takes for names one and all.
    """
    marked = [
        edged
        for entity in tagged.entities
        if entity[2] not in _NOT_ENTITIES and (edged := _without_edges(tagged, entity))
    ]
    found: Entities = []
    taken = 0
    names = [
        tag == PROPN and not word.beyond_latin
        for word, tag in zip(tagged.words, tagged.tags, strict=True)
    ]
    for run in _runs(names):
        first, last = run
        while taken < len(marked) and marked[taken][1] <= first:
            found.append(marked[taken])
            taken += 1
        following = marked[taken : taken + 2]
        if not following or following[0][0] >= last:
            if last - first > 1 and (edged := _without_edges(tagged, (first, last, ""))):
                found.append(edged)
        elif following[-1][0] >= last or len(following) == 1:
            only = following[0]
            if first <= only[0] and only[1] <= last:
                found.append(_without_edges(tagged, (first, last, only[2])) or only)
                taken += 1
    found.extend(marked[taken:])
    return found


def within(found: Entities, spans: Iterable[Span]) -> Iterator[Entities]:
    """The entities that each of some sentences shares a token with; both stand in order."""
    first = 0
    for start, end in spans:
        while first < len(found) and found[first][1] <= start:
            first += 1
        last = first
        while last < len(found) and found[last][0] < end:
            last += 1
        yield found[first:last]


def places(
    tagged: TaggedText, span: Span, found: Entities, *, shouted: bool, nouns_only: bool
) -> Iterator[Place]:
    """The concepts of one sentence in textual order, repeated as they stand there; ``found`` are
    the entities ``within`` it."""
    start, end = span
    inside = iter([] if nouns_only else found)
    entity = next(inside, None)
    i = start
    while i < end:
        if entity is not None and i >= entity[0]:
            # An entity that a sentence boundary cuts counts in the sentence it begins in.
            if entity[0] >= start and (place := _entity_place(tagged, entity, shouted)):
                yield place
            i = max(i, entity[1])
            entity = next(inside, None)
            continue
        word = tagged.words[i]
        tag = noun_tag(word, tagged.tags[i])
        if tag and not (nouns_only and tag == NUM):
            yield Place(concept=_mention(word, tag, shouted), is_name=tag == PROPN)
        i += 1


def trimmed(found: Sequence[Place], most: int) -> list[Place]:
    """The authors' trimming of a sentence with more than ``most`` distinct concepts: its first
    name with the concepts just before and after, or the middle three where it holds no name."""
    order: dict[str, bool] = {}
    for place in found:
        order.setdefault(place.concept.name, place.is_name)
    if len(order) <= most:
        return list(found)
    names = list(order)
    centre = next((i for i, name in enumerate(names) if order[name]), len(names) // 2)
    kept = set(names[max(0, centre - 1) : centre + 2])
    return [place for place in found if place.concept.name in kept]


def label_words(words: Sequence[Word]) -> list[Word]:
    """The words of a label that make its name: no determiners before, no "'s" behind."""
    kept = [word for word in words if word.is_word or word.marks & Mark.EDGE]
    start, end = 0, len(kept)
    while end - start > 1 and kept[start].marks & Mark.EDGE:
        start += 1
    while end - start > 1 and kept[end - 1].marks & Mark.EDGE and not kept[end - 1].capital:
        end -= 1
    return [word for word in kept[start:end] if word.is_word]


def _mention(word: Word, tag: int, shouted: bool) -> ConceptMention:
    return _shared(word.stem if shouted else word.acronym, word.text, _KINDS[tag])


@lru_cache(maxsize=20_000)
def _shared(name: str, label: str, kind: ConceptKind) -> ConceptMention:
    """One value for all mentions that are alike: most are met again and again."""
    return ConceptMention(name=name, label=label, kind=kind)


def _entity_place(tagged: TaggedText, entity: tuple[int, int, str], shouted: bool) -> Place | None:
    first, last, _ = entity
    words = tagged.words[first:last]
    named = [word for word in words if word.is_word]
    if not named:
        return None
    name = " ".join(word.stem if shouted else word.acronym for word in named)
    end = tagged.starts[last - 1] + len(tagged.words[last - 1].text)
    label = " ".join(tagged.text[tagged.starts[first] : end].split())
    concept = _shared(name, label, "entity")
    parts: list[ConceptMention] = []
    if len(named) > 1:
        for word, tag in zip(words, tagged.tags[first:last], strict=True):
            if tag := noun_tag(word, tag):
                parts.append(_mention(word, tag, shouted))
    return Place(concept=concept, parts=tuple(parts), is_name=True)


def _without_edges(tagged: TaggedText, entity: tuple[int, int, str]) -> tuple[int, int, str] | None:
    """The entity without determiners, possessives and punctuation at its edges; None if nothing
    of it can be a name."""
    first, last, kind = entity
    words, tags = tagged.words, tagged.tags
    while first < last and (
        tags[first] in _NOT_EDGES
        or not words[first].is_word
        or (last - first > 1 and words[first].marks & Mark.EDGE)
    ):
        first += 1
    while first < last and (
        tags[last - 1] in _NOT_EDGES
        or not words[last - 1].is_word
        or (last - first > 1 and words[last - 1].marks & Mark.EDGE)
    ):
        last -= 1
    if first == last or all(
        tags[i] in _NOT_PARTS
        or words[i].marks & Mark.PRONOUN
        or (tags[i] == VERB and not words[i].capital)
        for i in range(first, last)
    ):
        return None
    return first, last, kind


def _runs(wanted: Sequence[bool]) -> Iterator[Span]:
    """The longest runs of what is wanted."""
    start = -1
    for i, is_wanted in enumerate(wanted):
        if is_wanted and start < 0:
            start = i
        elif not is_wanted and start >= 0:
            yield start, i
            start = -1
    if start >= 0:
        yield start, len(wanted)
