"""Concepts and terms: what a statement is found by.

Concepts are its nouns, names, dates and entities. A bare quantity ("four", "391,000", "a lot of")
is none; a year, an id and the number of a name ("Boeing 747") are. Concepts have places in textual
order. An entity of several words holds one place, and its parts are mentioned with it. Concepts
whose places are near each other are neighbours. ``RecallConfig``'s ``concepts`` says which of them
count.

Terms are the stems of its content words, and its exact tokens.

"of", "IT", "mmm", "🍕" and "..." are no content words, and a question of nothing else would find
nothing. Such words become exact tokens, terms of their own kind, where nothing else stands for what
was said:

* an emoji, an interjection that is no stop word, an acronym that is spelt like a function word
  ("IT", "WHO"), and the beginning of a word that is too long for a term, wherever they stand;
* all words of a part together (a statement's parts end at colons), if the part has no stem and none
  of these: "yes it is" is one token. A part without words is known by its punctuation.

An id ("E-1042", "v2.1.3", "ann@example.com") is a content word whatever its tag. It has one stem,
however its capitals stand, and exact tokens for what else it is called: "e1042", "ann",
"example.com". "E 1042" has the exact token "e1042", too.

Exact tokens do not count in the length of a statement. A question asks for those of its ids,
emojis, acronyms and interjections, and for all of them where it has no content word
(``Question.tokens``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from spacy.symbols import INTJ, NOUN, NUM, PROPN, VERB, X

from recallm.english.names import Entity
from recallm.english.pipeline import TaggedText, tag_set
from recallm.english.sentences import Span
from recallm.english.word_lists import ENGLISH, word_set
from recallm.english.words import LONGEST_WORD, Word, stem
from recallm.ground.config import ConceptChoice
from recallm.model import ConceptKind, ConceptMention, Mark, Neighbours, exact_token

_KINDS: dict[int, ConceptKind] = {NOUN: "noun", PROPN: "name", NUM: "number"}
_CODE = re.compile(r"([a-z]{1,8})[-_]?(\d+)")
_QUANTITIES = word_set(ENGLISH["quantities"]["nouns"])
_LOTS = word_set(ENGLISH["quantities"]["alone"])


class ConceptPlace(NamedTuple):
    """One place in the order of concepts: the concept, and the parts mentioned with it. ``token``
    is its first token in the block, ``end`` the token behind its last."""

    concept: ConceptMention
    parts: tuple[ConceptMention, ...] = ()
    is_name: bool = False
    token: int = 0
    end: int = 0


def _concept_tag(word: Word, tag: int) -> int:
    """NOUN, PROPN or NUM if a token is a concept by its tag, else 0.

    A number or a time in digits is a number whatever its tag. Words of other scripts are nouns,
    since an English pipeline cannot tell. So are words with letters beyond ASCII that it could not
    tag (X).
    """
    if not word.is_word or word.marks & Mark.PRONOUN:
        return 0
    found: int = tag if tag in _KINDS else 0
    if word.marks & (Mark.TIME_NUMBER | Mark.NUMERAL):
        found = NUM
    elif not found and (word.is_non_latin or (tag == X and word.is_foreign)):
        found = NOUN
    return found


def concept_places(
    tagged: TaggedText,
    span: Span,
    entities: Sequence[Entity],
    *,
    all_capitals: bool,
    concepts: ConceptChoice,
) -> Iterator[ConceptPlace]:
    """The concepts of a sentence in textual order, with repetitions.

    ``span`` is the sentence's, ``entities`` are those within it. ``all_capitals``: the text is
    written in capitals. ``concepts``: "nouns" leaves the parts of names out, "names" all but names.
    """
    start, end = span
    with_parts = concepts == "all"
    inside = iter(entities)
    entity = next(inside, None)
    i = start
    while i < end:
        if entity is not None and i >= entity[0]:
            # An entity across a sentence boundary belongs to the sentence in which it begins.
            if entity[0] >= start:
                yield _entity_place(tagged, entity, all_capitals, with_parts=with_parts)
            i = max(i, entity[1])
            entity = next(inside, None)
            continue
        word = tagged.words[i]
        tag = _concept_tag(word, tagged.tags[i])
        if (
            tag
            and (tag == PROPN or concepts != "names")
            and not _is_bare_quantity(tagged, i, tag, end)
        ):
            yield ConceptPlace(_mention(word, tag, all_capitals), (), tag == PROPN, i, i + 1)
        i += 1


def _is_bare_quantity(tagged: TaggedText, i: int, tag: int, end: int) -> bool:
    """Whether a concept by its tag only says how much there is of another: "four", "lots of"."""
    word = tagged.words[i]
    if tag == NUM:
        return not (word.marks & Mark.TIME_NUMBER or word.is_id)
    if tag == PROPN or word.lowered not in _QUANTITIES:
        return False
    of_noun = i > 0 and tagged.tags[i - 1] in (NOUN, PROPN)
    following = tagged.words[i + 1].lowered if i + 1 < end else ""
    return not of_noun and (following == "of" or word.lowered in _LOTS)


def trimmed(places: Sequence[ConceptPlace], max_concepts: int) -> list[ConceptPlace]:
    """The authors' trimming of a sentence with more than ``max_concepts`` distinct concepts.

    The sentence keeps its first name with the concept just before and just after it, or its middle
    three concepts if it holds no name.
    """
    is_name: dict[str, bool] = {}
    for place in places:
        is_name.setdefault(place.concept.name, place.is_name)
    if len(is_name) <= max_concepts:
        return list(places)
    names = list(is_name)
    centre = next((i for i, name in enumerate(names) if is_name[name]), len(names) // 2)
    centre_names = set(names[max(0, centre - 1) : centre + 2])
    return [place for place in places if place.concept.name in centre_names]


def label_words(words: Sequence[Word]) -> list[Word]:
    """The words of a label that make its name, without determiners before and "'s" behind."""
    kept = [word for word in words if word.is_word or word.marks & Mark.EDGE]
    start, end = 0, len(kept)
    while end - start > 1 and kept[start].marks & Mark.EDGE:
        start += 1
    while end - start > 1 and kept[end - 1].marks & Mark.EDGE and not kept[end - 1].is_capitalised:
        end -= 1
    return [word for word in kept[start:end] if word.is_word]


def neighbour_pairs(
    places: Sequence[tuple[str, int]], distance: int, *, speaker: str | None = None
) -> tuple[Neighbours, ...]:
    """The pairs of concepts at most ``distance`` places apart (paper, Knowledge Update).

    ``places`` are the concepts of a passage in textual order, each with the position of its
    statement. ``speaker`` stands before them all. Every statement mentions the speaker, so that a
    pair with the speaker is shown by the other concept's statement alone. A concept is no
    neighbour of itself. Each (a, b, earlier, later) stands once, in textual order.
    """
    found: dict[tuple[str, str, int, int], None] = {}
    for i, (name, position) in enumerate(places):
        if speaker is not None and i < distance and name != speaker:
            a, b = (name, speaker) if name < speaker else (speaker, name)
            found[a, b, position, position] = None
        for earlier_name, earlier in places[max(0, i - distance) : i]:
            if earlier_name != name:
                a, b = (earlier_name, name) if earlier_name < name else (name, earlier_name)
                found[a, b, earlier, position] = None
    return tuple(
        Neighbours(a=a, b=b, earlier=earlier, later=later) for a, b, earlier, later in found
    )


def _mention(word: Word, tag: int, all_capitals: bool) -> ConceptMention:
    return _shared(name_of_word(word, all_capitals=all_capitals), word.text, _KINDS[tag])


def name_of_word(word: Word, *, all_capitals: bool) -> str:
    """The name of a word as a concept. That of a code is its letters and its number apart, however
    the code is written: "POL-358", "POL358", "POL 358" → "pol 358"."""
    name = word.stem if all_capitals else word.acronym
    code = _CODE.fullmatch(name) if name[-1:].isdigit() else None
    return f"{stem(code[1])} {code[2]}" if code else name


@lru_cache(maxsize=20_000)
def _shared(name: str, label: str, kind: ConceptKind) -> ConceptMention:
    """One value for all equal mentions, since most are met again and again."""
    return ConceptMention(name=name, label=label, kind=kind)


def _entity_place(
    tagged: TaggedText, entity: Entity, all_capitals: bool, *, with_parts: bool
) -> ConceptPlace:
    first, last, _ = entity
    words = tagged.words[first:last]
    named = [word for word in words if word.is_word]
    name = " ".join(name_of_word(word, all_capitals=all_capitals) for word in named)
    end = tagged.starts[last - 1] + len(tagged.words[last - 1].text)
    label = " ".join(tagged.text[tagged.starts[first] : end].split())
    concept = _shared(name, label, "entity")
    parts: list[ConceptMention] = []
    if with_parts and len(named) > 1:
        for word, tag in zip(words, tagged.tags[first:last], strict=True):
            if tag := _concept_tag(word, tag):
                parts.append(_mention(word, tag, all_capitals))
    return ConceptPlace(concept, tuple(parts), True, first, last)


# Terms.

# A tagger takes some ids for punctuation ("KB5034441"). What has letters or digits is none.
_CONTENT = tag_set("NOUN PROPN VERB ADJ ADV NUM X PUNCT SYM")
_LIKE_NAMES = tag_set("NOUN PROPN NUM X")
_FUNCTION = tag_set("ADP AUX CCONJ DET PART PRON")
_NUMBER = Mark.DIGITS | Mark.TIME_NUMBER
_PRONOUN = Mark.PRONOUN
_ENDS_PART = ":"
_MOST_CODE_PARTS = 4
_MOST_WORDS = 16
"""How many words of a part without content words make its exact token: the first ones."""


def terms(
    words: Sequence[Word],
    tags: Sequence[int],
    span: Span,
    entities: Sequence[Entity],
    *,
    all_capitals: bool,
) -> tuple[str, ...]:
    """The stems of nouns, names, verbs, adjectives, adverbs and numbers, in textual order, then the
    exact tokens, each once.

    Words without a meaning of their own ("be", "very") are left out unless they are names ("Will").
    The words of the sentence's entities count whatever their tags, except "of", "the" and the like.
    """
    start, end = span
    stems: list[str] = []
    tokens: list[str] = []
    dropped: list[Word] = []
    has_term = False
    named = {i for first, last, _ in entities for i in range(first, last)} if entities else ()
    for i in range(start, end):
        word, tag = words[i], tags[i]
        if (
            word.is_word
            and not (word.is_stop_word and tag != PROPN)
            and not word.marks & _PRONOUN
            and (
                tag in _CONTENT
                or word.is_non_latin
                or word.marks & _NUMBER
                or word.is_id
                or (i in named and tag not in _FUNCTION)
            )
        ):
            has_term = True
            if word.character_pairs is not None:
                stems.extend(word.character_pairs)
            else:
                stems.append(_stem(word, tag, all_capitals))
            if word.id_parts:
                tokens += map(exact_token, word.id_parts)
            if word.is_code_letters and (code := spaced_code(words[i:end])):
                tokens.append(exact_token(code))
        elif word.text == _ENDS_PART:
            tokens += () if has_term else _token_of_part(dropped)
            dropped, has_term = [], False
        elif word.exact and (
            not word.is_word
            or (not word.is_stop_word and (tag == INTJ or (word.is_acronym and not all_capitals)))
        ):
            has_term = True
            tokens.append(exact_token(word.exact))
        else:
            dropped.append(word)
    tokens += () if has_term else _token_of_part(dropped)
    return (*stems, *dict.fromkeys(tokens))


def spaced_code(words: Sequence[Word]) -> str:
    """The name of a code that begins these words, its letters and numbers apart, as if they were
    joined: "POL 358" → "pol358". Empty where no number follows at once; a year is a number
    behind capitals alone ("AB 1234")."""
    parts = [words[0].stem]
    ends = 0 if words[0].is_acronym else Mark.TIME_NUMBER
    for word in words[1:_MOST_CODE_PARTS]:
        if not word.marks & Mark.DIGITS or word.marks & ends or "," in word.text:
            break
        parts.append(word.id_parts[-1] if word.id_parts else word.stem)
    return "".join(parts) if len(parts) > 1 else ""


def _token_of_part(words: Sequence[Word]) -> tuple[str, ...]:
    """The exact token of a part that has no content word; none for an empty part."""
    read = [word.stem for word in words if word.is_word] or [
        word.lowered[:LONGEST_WORD] for word in words if not word.lowered.isspace()
    ]
    return (exact_token(*read[:_MOST_WORDS]),) if read else ()


def _stem(word: Word, tag: int, all_capitals: bool) -> str:
    """The stem of a word by its tag: "saw" is "see" as a verb, "saw" as a noun. An id has one stem
    whatever its tag and its capitals."""
    if word.is_id:
        return word.stem
    if tag == VERB:
        return word.verb_stem
    if tag in _LIKE_NAMES and not all_capitals and word.acronym != word.stem:
        return word.acronym
    return word.noun_stem if tag == NOUN else word.stem
