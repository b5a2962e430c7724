"""From annotated sentences to the passages that the pipeline is trained on.

A passage is one sentence or a few that follow one another. Chat, notes and lists are not
written like newspapers, so passages are varied: lower-cased, without their final punctuation,
broken into lines, with a bullet before or an emoji behind, with other people's and places'
names. All chance comes from the `Random` that the caller seeds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random

from training.pipeline.names import NameSource
from training.pipeline.treebank import Sentence, Word

_FINAL_PUNCTUATION = frozenset({".", "!", "?", "...", "…", ";"})
_EMOJI = tuple("😀😂😊😍😭👍🙏❤🎉🔥😅🤔😎🥰👀✨💪😢🙂😉")
_EMOTICONS = (":)", ":(", ";)", ":D", ":P", "<3", ":-)", "xD")
_BULLETS = ("-", "*", "•", "–", "—", "#", "+", ">", "·")
_ODD_SYMBOLS = ("→", "&", "=", "/", "|", "~", "–", "—", "-", "+", "…", "*", "™", "®", "§", "--")
_STRAIGHT = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"'})
_CURLY_APOSTROPHE = str.maketrans({"'": "’"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Variation:
    """How often each variation is applied to a passage (probabilities)."""

    lower_cased: float = 0.25
    upper_cased: float = 0.02
    emphasised: float = 0.06
    """One word of the passage in capitals ("I LOVE it")."""
    no_final_punctuation: float = 0.25
    line_broken: float = 0.35
    bullet: float = 0.04
    symbol: float = 0.04
    emoji: float = 0.04
    rule: float = 0.015
    """A row of one character ("=====") before or behind the sentence, as mail has it."""
    names_swapped: float = 0.3
    other_quotes: float = 0.15
    longest: int = 5
    """The most sentences of one passage; half of the passages are single sentences."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """Sentences with the white space between them: `separators[i]` follows `sentences[i]`."""

    sentences: tuple[Sentence, ...]
    separators: tuple[str, ...]


def neighbours(
    sentences: Sequence[Sentence], random: Random, longest: int
) -> Iterator[tuple[Sentence, ...]]:
    """Cut `sentences` into runs of one to `longest` that stand in the same document."""
    start = 0
    while start < len(sentences):
        size = 1 if random.random() < 0.5 else random.randint(2, longest)
        end = start + 1
        while (
            end < min(start + size, len(sentences))
            and sentences[end].document == sentences[start].document
        ):
            end += 1
        yield tuple(sentences[start:end])
        start = end


def vary(
    sentences: tuple[Sentence, ...], variation: Variation, random: Random, names: NameSource
) -> Passage:
    """Turn a run of sentences into a passage, with variations by chance."""
    varied: list[Sentence] = []
    separators: list[str] = []
    broken = random.random() < variation.line_broken
    swapped = random.random() < variation.names_swapped
    bare = random.random() < variation.no_final_punctuation
    for index, sentence in enumerate(sentences):
        last = index + 1 == len(sentences)
        starts_paragraph = not last and sentences[index + 1].new_paragraph
        separator = "" if last else " "
        if not last and (broken or starts_paragraph):
            separator = random.choice(("\n", "\n", "\n\n"))
        words = sentence.words
        if swapped:
            words = _with_other_names(words, random, names)
        if bare and (last or "\n" in separator):
            words = _without_final_punctuation(words)
        if random.random() < variation.bullet:
            words = (_mark(random.choice(_BULLETS), "PUNCT"), *words)
        if random.random() < variation.symbol and len(words) > 3:
            place = random.randrange(1, len(words))
            if words[place - 1].space_after and not words[place].entity.startswith("I-"):
                mark = random.choice(_ODD_SYMBOLS)
                kind = "PUNCT" if mark in "–—-…*|--" else "SYM"
                words = (*words[:place], _mark(mark, kind), *words[place:])
        if random.random() < variation.emoji:
            mark = random.choice(_EMOJI if random.random() < 0.6 else _EMOTICONS)
            words = (*words[:-1], _spaced_out(words[-1]), _mark(mark, "SYM"))
        if random.random() < variation.rule:
            row = _mark(random.choice("=-_*~#+.") * random.choice((3, 5, 8, 20, 40)), "PUNCT")
            before = random.random() < 0.5
            words = (row, *words) if before else (*words[:-1], _spaced_out(words[-1]), row)
        varied.append(replace(sentence, words=words))
        separators.append(separator)
    passage = Passage(sentences=tuple(varied), separators=tuple(separators))
    chance = random.random()
    if chance < variation.lower_cased:
        passage = respelled(passage, str.lower)
    elif chance < variation.lower_cased + variation.upper_cased:
        passage = respelled(passage, str.upper)
    elif chance < variation.lower_cased + variation.upper_cased + variation.emphasised:
        passage = _emphasised(passage, random)
    if random.random() < variation.other_quotes:
        table = _STRAIGHT if random.random() < 0.5 else _CURLY_APOSTROPHE
        passage = respelled(passage, lambda form: form.translate(table))
    return passage


def _mark(form: str, upos: str) -> Word:
    return Word(form=form, space_after=True, upos=upos, lemma=form, dep="punct", entity="O")


def _spaced_out(word: Word) -> Word:
    return replace(word, space_after=True)


def respelled(passage: Passage, spell: Callable[[str], str]) -> Passage:
    """The passage with other spellings of its words."""
    sentences = tuple(
        replace(s, words=tuple(replace(w, form=spell(w.form)) for w in s.words))
        for s in passage.sentences
    )
    return replace(passage, sentences=sentences)


def _emphasised(passage: Passage, random: Random) -> Passage:
    """The passage with one word in capitals."""
    index = random.randrange(len(passage.sentences))
    sentence = passage.sentences[index]
    place = random.randrange(len(sentence.words))
    words = tuple(
        replace(word, form=word.form.upper()) if i == place else word
        for i, word in enumerate(sentence.words)
    )
    sentences = list(passage.sentences)
    sentences[index] = replace(sentence, words=words)
    return replace(passage, sentences=tuple(sentences))


def _without_final_punctuation(words: tuple[Word, ...]) -> tuple[Word, ...]:
    if len(words) < 3 or words[-1].form not in _FINAL_PUNCTUATION:
        return words
    return words[:-1]


def _with_other_names(
    words: tuple[Word, ...], random: Random, names: NameSource
) -> tuple[Word, ...]:
    """Swap names of one or two plain words; spaces, tags and relations stay, heads are dropped."""
    result: list[Word] = []
    index = 0
    while index < len(words):
        end = index + 1
        kind = words[index].entity
        while end < len(words) and words[end].entity.startswith("I-"):
            end += 1
        span = words[index:end]
        plain = all(w.form.isalpha() and w.form[:1].isupper() and w.upos == "PROPN" for w in span)
        if kind in {"B-PER", "B-LOC"} and plain and len(span) <= 2 and random.random() < 0.7:
            forms = names.person(len(span)) if kind == "B-PER" else names.place()
            heading = next((w.dep for w in span if w.head not in range(index, end)), "")
            for position, form in enumerate(forms):
                final = position + 1 == len(forms)
                result.append(
                    Word(
                        form=form,
                        space_after=span[-1].space_after if final else True,
                        upos="PROPN",
                        lemma=form,
                        dep=heading if position == 0 else "flat",
                        entity=kind if position == 0 else kind.replace("B-", "I-"),
                    )
                )
        else:
            result.extend(span)
        index = end
    return tuple(result)
