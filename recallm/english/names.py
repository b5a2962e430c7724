"""Proper names and entities: which tokens are names, and which of them make one entity.

An entity is what the pipeline's entity recogniser marks, or a run of proper nouns; a run that holds
a single marked entity is that entity as a whole. No run reaches over a delimiter of cells:
"Ann,BMW", "Ann | BMW".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from spacy.symbols import NOUN, NUM, PROPN, VERB

from recallm.english.pipeline import TaggedText, tag_set
from recallm.english.sentences import Span
from recallm.english.word_lists import ENGLISH, word_set
from recallm.model import Mark

Entity = tuple[int, int, str]
"""Its first token, the one behind its last, and the recogniser's type ("" for a run of names)."""

_NOT_NAMES = tag_set("ADP AUX CCONJ SCONJ DET INTJ PART PRON PUNCT SPACE SYM")
"""Tags of words that make no name by themselves: "of", "and"."""
_NOT_EDGES = tag_set("DET PART PRON PUNCT SPACE SYM CCONJ")
"""Tags of words that are cut off the edges of an entity."""
_MISTAKEN = tag_set("ADP ADV INTJ SCONJ VERB X")
"""Tags that small pipelines give to names by mistake."""
_MISTAKEN_IN_QUESTIONS = _MISTAKEN | tag_set("ADJ")
_BEFORE_OF = word_set(ENGLISH["names"]["before_of"])
_NEVER_NAMES = Mark.PRONOUN | Mark.EDGE | Mark.ASKS | Mark.AUXILIARY


def with_missed_names(tagged: TaggedText, *, asked: bool) -> TaggedText:
    """The block with the tag of a proper noun where the tagger missed a name.

    Small pipelines take unusual first names for adverbs or verbs, above all in questions ("What is
    Elise doing?"). A word is a name if only its first letter is a capital, it stands behind another
    word in its sentence, and it was tagged an adverb, a verb or the like, or holds a digit
    ("Studio54"). In a question (``asked``) the tag may also be an adjective: a concept too many
    does no harm there. Blocks in which most words have a capital, such as headlines, stay.
    """
    mistaken = _MISTAKEN_IN_QUESTIONS if asked else _MISTAKEN
    words, tags = tagged.words, tagged.tags
    found = [
        i
        for i in range(1, len(words))
        if words[i].is_capitalised
        and (tags[i] in mistaken or any(map(str.isdigit, words[i].text)))
        and not words[i].marks & _NEVER_NAMES
        and not tagged.begins[i]
        and words[i - 1].is_word
        and words[i].text[1:].islower()
    ]
    if not found:
        return tagged
    capitals = sum(word.is_capitalised for word in words)
    if 2 * capitals > sum(word.is_word for word in words) + 1:
        return tagged
    corrected = list(tags)
    for i in found:
        corrected[i] = PROPN
    return replace(tagged, tags=tuple(corrected))


def entities(tagged: TaggedText) -> list[Entity]:
    """The entities of a block, in order and disjoint.

    Runs of one proper noun are left out, since the token is a concept by itself. So are words of
    other scripts, which an English tagger takes for names without exception.
    """
    marked = [edged for entity in tagged.entities if (edged := _without_edges(tagged, entity))]
    found: list[Entity] = []
    taken = 0
    is_name = [
        tag == PROPN and not word.is_non_latin and not word.is_delimiter
        for word, tag in zip(tagged.words, tagged.tags, strict=True)
    ]
    for i in range(1, len(is_name)):
        is_name[i] = is_name[i] or (
            is_name[i - 1] and (_numbers_a_name(tagged, i) or _joins_names(tagged, i))
        )
    marked = _united(marked, is_name)
    for run in _runs(is_name):
        first, last = run
        while taken < len(marked) and marked[taken][1] <= first:
            found.append(marked[taken])
            taken += 1
        following = marked[taken : taken + 2]
        if not following or following[0][0] >= last:
            if last - first > 1 and (edged := _without_edges(tagged, (first, last, ""))):
                found.append(edged)
        elif following[-1][0] >= last or len(following) == 1:
            inner = following[0]
            if first <= inner[0] and inner[1] <= last:
                found.append(_without_edges(tagged, (first, last, inner[2])) or inner)
                taken += 1
    found.extend(marked[taken:])
    return found


def _numbers_a_name(tagged: TaggedText, i: int) -> bool:
    """Whether a number belongs to the name before it: "Boeing 747", "POL 358"; not "Ann 3"."""
    word, before = tagged.words[i], tagged.words[i - 1]
    return (
        bool(word.marks & Mark.NUMERAL)
        and not (word.marks | before.marks) & (Mark.TIME_NUMBER | Mark.TIME | Mark.MAYBE_TIME)
        and tagged.tags[i - 1] == PROPN
        and tagged.tags[i + 1 : i + 2] not in ((PROPN,), (NUM,))
        and not (tagged.tags[i + 1 : i + 2] == (NOUN,) and tagged.words[i + 1].lowered[-1] == "s")
    )


def _joins_names(tagged: TaggedText, i: int) -> bool:
    """Whether "of" stands within one name: "United States of America", "Bank of England"."""
    words = tagged.words
    return (
        words[i].text == "of"
        and words[i - 1].lowered in _BEFORE_OF
        and words[i - 1].is_capitalised
        and tagged.tags[i + 1 : i + 2] == (PROPN,)
    )


def _united(marked: Sequence[Entity], is_name: Sequence[bool]) -> list[Entity]:
    """The marked entities; two on both sides of an "of" that joins names are one."""
    found: list[Entity] = []
    for first, last, kind in marked:
        if found and found[-1][1] == first - 1 and is_name[first - 1] and is_name[first]:
            first, _, kind = found.pop()
        found.append((first, last, kind))
    return found


def entities_within(found: Sequence[Entity], spans: Iterable[Span]) -> Iterator[Sequence[Entity]]:
    """For each sentence the entities that it shares a token with. Both stand in textual order."""
    first = 0
    for start, end in spans:
        while first < len(found) and found[first][1] <= start:
            first += 1
        last = first
        while last < len(found) and found[last][0] < end:
            last += 1
        yield found[first:last]


def _without_edges(tagged: TaggedText, entity: Entity) -> Entity | None:
    """The entity without determiners, possessives and punctuation at its edges; None if no word of
    it can be a name."""
    first, last, kind = entity
    words, tags = tagged.words, tagged.tags

    def is_cut(i: int) -> bool:
        of_several = last - first > 1
        return (
            tags[i] in _NOT_EDGES
            or not words[i].is_word
            or bool(of_several and words[i].marks & Mark.EDGE)
        )

    while first < last and is_cut(first):
        first += 1
    while first < last and is_cut(last - 1):
        last -= 1
    if first == last or all(
        tags[i] in _NOT_NAMES
        or words[i].marks & Mark.PRONOUN
        or (tags[i] == VERB and not words[i].is_capitalised)
        for i in range(first, last)
    ):
        return None
    return first, last, kind


def _runs(flags: Sequence[bool]) -> Iterator[Span]:
    """The longest runs of flags that are set."""
    for is_set, places in groupby(range(len(flags)), key=flags.__getitem__):
        if is_set:
            run = list(places)
            yield run[0], run[-1] + 1
