"""The words of the treebanks by how they are used: what made sentences are filled with.

A verb comes with its forms and with the frames in which it stood: its object, a preposition and
what follows it, a verb with "to". A word that is a noun in one sentence and a verb in another
("plans", "lives") is drawn three times as often as others, since it is what a tagger mistakes.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import sqrt
from random import Random
from typing import Generic, NamedTuple, TypeVar

from training.pipeline.treebank import Sentence, Word

PERSON = "PERSON"
PLACE = "PLACE"
"""They stand in a `Frame` for a name instead of a noun."""

_AMBIGUOUS_WEIGHT = 3
_T = TypeVar("_T")


class Draw(Generic[_T]):
    """A weighted choice among items."""

    def __init__(self, weights: dict[_T, float]) -> None:
        self._items = list(weights)
        self._cumulative = list(accumulate(weights.values()))

    def __call__(self, random: Random) -> _T:
        """One of the items."""
        return random.choices(self._items, cum_weights=self._cumulative)[0]


class Noun(NamedTuple):
    """A noun's forms; `bare`: its singular stands without a determiner ("tea")."""

    singular: str
    plural: str
    bare: bool


class Frame(NamedTuple):
    """What stands behind a verb; each part may be missing ("").

    `object` and `complement` are a noun's singular, `PERSON` or `PLACE`; `complement` follows
    `preposition`. `infinitive`: a verb with "to" follows instead.
    """

    object: str = ""
    preposition: str = ""
    complement: str = ""
    infinitive: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Verb:
    """A verb's forms ("" where the treebanks do not show one) and its frames."""

    base: str
    third: str
    past: str
    participle: str
    gerund: str
    frames: Draw[Frame]


@dataclass(frozen=True, slots=True, kw_only=True)
class WordLists:
    """What sentences are filled with, each with how often it is drawn."""

    nouns: Draw[Noun]
    noun_of: dict[str, Noun]
    verbs: Draw[Verb]
    infinitive_verbs: Draw[Verb]
    adjectives: Draw[str]
    predicates: Draw[str]
    adverbs_before: Draw[str]
    adverbs_after: Draw[str]
    organisations: Draw[str]


def word_lists(sentences: Iterable[Sentence]) -> WordLists:
    """Read the word lists out of sentences with tags and trees."""
    forms: defaultdict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
    noun_forms: defaultdict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
    frames: defaultdict[str, Counter[Frame]] = defaultdict(Counter)
    bare: Counter[str] = Counter()
    others: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for sentence in sentences:
        children: defaultdict[int, list[int]] = defaultdict(list)
        for index, word in enumerate(sentence.words):
            if word.head is not None and word.head != index:
                children[word.head].append(index)
        for index, word in enumerate(sentence.words):
            _add_other(others, sentence.words, index)
            if not (word.lemma.isalpha() and word.lemma.islower() and word.lemma.isascii()):
                continue
            if word.upos == "VERB":
                forms[word.lemma][word.xpos, word.form.lower()] += 1
                frames[word.lemma][_frame(sentence.words, children, index)] += 1
            elif word.upos == "NOUN" and word.form.isalpha() and len(word.lemma) > 1:
                noun_forms[word.lemma][word.xpos, word.form.lower()] += 1
                bare[word.lemma] += (
                    word.xpos == "NN" and not children[index] and word.dep in {"obj", "nsubj"}
                )
    nouns = {
        lemma: Noun(lemma, _most_common(found, "NNS") or _with_s(lemma), bare[lemma] > 1)
        for lemma, found in noun_forms.items()
    }
    verbs = {
        lemma: Verb(
            base=lemma,
            third=_with_s(lemma),
            past=_most_common(found, "VBD"),
            participle=_most_common(found, "VBN"),
            gerund=_most_common(found, "VBG"),
            frames=Draw({frame: float(count) for frame, count in frames[lemma].items()}),
        )
        for lemma, found in forms.items()
    }
    spelled_as_noun = {form for noun in nouns.values() for form in (noun.singular, noun.plural)}
    spelled_as_verb = {form for verb in verbs.values() for form in (verb.base, verb.third)}
    verb_weights = {
        verb: sqrt(forms[lemma].total())
        * (_AMBIGUOUS_WEIGHT if spelled_as_noun & {verb.base, verb.third} else 1)
        for lemma, verb in verbs.items()
    }
    return WordLists(
        nouns=Draw(
            {
                noun: sqrt(noun_forms[lemma].total())
                * (_AMBIGUOUS_WEIGHT if spelled_as_verb & {noun.singular, noun.plural} else 1)
                for lemma, noun in nouns.items()
            }
        ),
        noun_of=nouns,
        verbs=Draw(verb_weights),
        infinitive_verbs=Draw(
            {
                verb: weight
                for verb, weight in verb_weights.items()
                if frames[verb.base][Frame(infinitive=True)] > 1
            }
        ),
        **{kind: _draw(others[kind]) for kind in _OTHERS},
    )


_OTHERS = ("adjectives", "predicates", "adverbs_before", "adverbs_after", "organisations")


def _draw(counts: Counter[str]) -> Draw[str]:
    return Draw({word: sqrt(count) for word, count in counts.items() if count > 1})


def _add_other(others: defaultdict[str, Counter[str]], words: Sequence[Word], index: int) -> None:
    """Count an adjective, an adverb or the name of an organisation at `index`."""
    word = words[index]
    if not word.form.isalpha():
        return
    if word.upos == "ADJ" and word.form.islower() and word.xpos == "JJ":
        others["adjectives" if word.dep == "amod" else "predicates"][word.form] += 1
    elif word.upos == "ADV" and word.dep == "advmod" and word.form.islower() and word.head:
        head = words[word.head]
        if head.upos != "VERB" or word.form != word.lemma:
            return
        if word.head == index + 1 and index and words[index - 1].dep == "nsubj":
            others["adverbs_before"][word.form] += 1
        elif word.head < index and (index + 1 == len(words) or words[index + 1].upos == "PUNCT"):
            others["adverbs_after"][word.form] += 1
    elif word.entity == "B-ORG" and word.upos == "PROPN" and word.form[0].isupper():
        others["organisations"][word.form] += 1


def _frame(words: Sequence[Word], children: dict[int, list[int]], index: int) -> Frame:
    """The frame of the verb at `index`: its first object and its first complement."""
    thing = preposition = complement = ""
    for child in children.get(index, ()):
        word = words[child]
        if child < index or not (filler := _filler(word)):
            continue
        if word.dep == "obj" and not thing:
            thing = filler
        elif word.dep == "obl" and not complement:
            cases = [words[i] for i in children.get(child, ()) if words[i].dep == "case"]
            if len(cases) == 1 and cases[0].form.isalpha():
                preposition, complement = cases[0].form.lower(), filler
        elif word.dep == "xcomp" and word.upos == "VERB" and word.xpos == "VB":
            marks = [words[i].form.lower() for i in children.get(child, ()) if i < child]
            if marks == ["to"] and not thing:
                return Frame(infinitive=True)
    return Frame(thing, preposition, complement)


def _filler(word: Word) -> str:
    if word.upos == "PROPN":
        return {"B-LOC": PLACE, "B-PER": PERSON}.get(word.entity, "")
    return word.lemma if word.upos in {"NOUN", "VERB"} else ""


def _most_common(forms: Counter[tuple[str, str]], xpos: str) -> str:
    counts = {form: n for (tag, form), n in forms.items() if tag == xpos and form.isalpha()}
    return max(counts, key=lambda form: (counts[form], form), default="")


def _with_s(base: str) -> str:
    """A verb's third person or a noun's plural by rule."""
    if base == "have":
        return "has"
    if base.endswith(("s", "x", "z", "ch", "sh", "o")):
        return base + "es"
    if base.endswith("y") and base[-2:-1] not in {*"aeiou"}:
        return base[:-1] + "ies"
    return base + "s"
