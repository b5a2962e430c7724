"""Terms: what a statement is found by: the stems of its content words, and its exact tokens.

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

from collections.abc import Sequence

from spacy.symbols import INTJ, NOUN, PROPN, VERB

from recallm.english.names import Entity
from recallm.english.pipeline import tag_set
from recallm.english.sentences import Span
from recallm.english.words import LONGEST_WORD, Word
from recallm.model import Mark, exact_token

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
) -> list[str]:
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
    return stems + list(dict.fromkeys(tokens)) if tokens else stems


def spaced_code(words: Sequence[Word]) -> str:
    """The name of a code that begins these words, its letters and numbers apart, as if they were
    joined: "POL 358" → "pol358". Empty where no number follows at once."""
    parts = [words[0].stem]
    for word in words[1:_MOST_CODE_PARTS]:
        if not word.marks & Mark.DIGITS or word.marks & Mark.TIME_NUMBER or "," in word.text:
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
