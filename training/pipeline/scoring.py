"""Scores a pipeline on raw text, against the words as the annotators cut them.

Each sentence is one input. Predicted and gold tokens are matched by their character offsets:
a token counts as right only if it begins and ends where the gold word does, and a token that
the tokenizer cuts otherwise is an error of precision and of recall. The figures called
"aligned" are over the words that the tokenizer cuts as the gold does.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass, field

from spacy.language import Language
from spacy.tokens import Doc

from training.pipeline.examples import role
from training.pipeline.passages import known_entities
from training.pipeline.treebank import Sentence, Word

CONCEPT_TAGS = ("NOUN", "PROPN", "NUM")


@dataclass(slots=True)
class Tally:
    """Counts of what was found, what is there, and what of it is right."""

    found: int = 0
    there: int = 0
    right: int = 0

    def add(self, predicted: Set[object], gold: Set[object]) -> None:
        """Count one input."""
        self.found += len(predicted)
        self.there += len(gold)
        self.right += len(predicted & gold)

    @property
    def f1(self) -> float:
        """F1 in per cent."""
        return 200 * self.right / max(1, self.found + self.there)


@dataclass(slots=True)
class _Share:
    right: int = 0
    total: int = 0

    def add(self, right: bool) -> None:
        self.total += 1
        self.right += right

    @property
    def percent(self) -> float:
        return 100 * self.right / max(1, self.total)


@dataclass(slots=True)
class _Knowledge:
    tags: dict[str, Tally] = field(default_factory=dict)
    upos: _Share = field(default_factory=_Share)
    roles: _Share = field(default_factory=_Share)

    def tally(self, name: str) -> Tally:
        return self.tags.setdefault(name, Tally())


def _offsets(words: Sequence[Word]) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    start = 0
    for word in words:
        spans.append((start, start + len(word.form)))
        start += len(word.form) + word.space_after
    return spans


def score_knowledge(
    nlp: Language,
    sentences: Sequence[Sentence],
    respell: Callable[[str], str] = lambda text: text,
) -> dict[str, float]:
    """Scores of tags, roles, sentence starts and entities, each of `sentences` one input.

    Roles are scored without punctuation, over the words that the tokenizer cuts as the gold does.
    `respell` changes the text but not its length (lower-cased text, say).
    """
    counts = _Knowledge()
    docs = nlp.pipe(respell(sentence.text) for sentence in sentences)
    for doc, sentence in zip(docs, sentences, strict=True):
        spans = _offsets(sentence.words)
        gold = {(s, e, w.upos) for (s, e), w in zip(spans, sentence.words, strict=True)}
        found = {(t.idx, t.idx + len(t), t.pos_) for t in doc if not t.is_space}
        tag_at = {(s, e): tag for s, e, tag in found}
        for s, e, tag in gold:
            if (s, e) in tag_at:
                counts.upos.add(tag_at[s, e] == tag)
        role_at = {(t.idx, t.idx + len(t)): t.tag_ for t in doc}
        for span, word in zip(spans, sentence.words, strict=True):
            if span in role_at and role(word.dep) not in {"", "punct"}:
                counts.roles.add(role_at[span] == role(word.dep))
        for tag in CONCEPT_TAGS:
            counts.tally(tag).add(
                {item for item in found if item[2] == tag},
                {item for item in gold if item[2] == tag},
            )
        noun_found = {item for item in found if item[2] in CONCEPT_TAGS}
        noun_gold = {item for item in gold if item[2] in CONCEPT_TAGS}
        counts.tally("concept words, and which of the three").add(noun_found, noun_gold)
        counts.tally("concept words").add(
            {item[:2] for item in noun_found}, {item[:2] for item in noun_gold}
        )
        both_cut = {item[:2] for item in gold} & tag_at.keys()
        for name, tag_set in (("concept words", CONCEPT_TAGS), ("PROPN", ("PROPN",))):
            counts.tally(f"{name}, aligned").add(
                {item[:2] for item in found if item[2] in tag_set and item[:2] in both_cut},
                {item[:2] for item in gold if item[2] in tag_set and item[:2] in both_cut},
            )
        counts.tally("sentences").add(
            {(s.start_char, s.end_char) for s in doc.sents}, {(0, len(doc.text))}
        )
        if known_entities(sentence):
            entities = {(e.start_char, e.end_char, e.label_) for e in doc.ents}
            gold_entities = set(_entities(sentence.words, spans))
            counts.tally("entity spans and types").add(entities, gold_entities)
            counts.tally("entity spans").add(
                {item[:2] for item in entities}, {item[:2] for item in gold_entities}
            )
            for kind in ("PER", "ORG", "LOC"):
                counts.tally(kind).add(
                    {item for item in entities if item[2] == kind},
                    {item for item in gold_entities if item[2] == kind},
                )
    shares = {"UPOS, aligned": counts.upos.percent, "roles, aligned": counts.roles.percent}
    return shares | {k: v.f1 for k, v in counts.tags.items()}


def _entities(
    words: Sequence[Word], spans: Sequence[tuple[int, int]]
) -> Iterable[tuple[int, int, str]]:
    index = 0
    while index < len(words):
        end = index + 1
        if words[index].entity.startswith("B-"):
            while end < len(words) and words[end].entity.startswith("I-"):
                end += 1
            yield spans[index][0], spans[end - 1][1], words[index].entity[2:]
        index = end


def score_syntax(nlp: Language, sentences: Sequence[Sentence]) -> dict[str, float]:
    """UAS, LAS and lemma accuracy over the words that the tokenizer cuts as the gold does.

    Punctuation is left out of UAS and LAS, as in spaCy's Scorer; a head that the tokenizer
    cuts otherwise counts as wrong.
    """
    unlabelled, labelled, lemmas, noun_lemmas = _Share(), _Share(), _Share(), _Share()
    docs: Iterable[Doc] = nlp.pipe(sentence.text for sentence in sentences)
    for doc, sentence in zip(docs, sentences, strict=True):
        spans = _offsets(sentence.words)
        token_at = {(t.idx, t.idx + len(t)): t for t in doc}
        for span, word in zip(spans, sentence.words, strict=True):
            token = token_at.get(span)
            if token is None:
                continue
            lemmas.add(token.lemma_ == word.lemma)
            if word.upos == "NOUN":
                noun_lemmas.add(token.lemma_.lower() == word.lemma.lower())
            if word.dep in {"p", "punct"} or word.head is None:
                continue
            head = (token.head.idx, token.head.idx + len(token.head))
            unlabelled.add(head == spans[word.head])
            labelled.add(head == spans[word.head] and token.dep_ == word.dep)
    return {
        "UAS": unlabelled.percent,
        "LAS": labelled.percent,
        "lemmas": lemmas.percent,
        "noun lemmas": noun_lemmas.percent,
    }


def words_per_second(nlp: Language, sentences: Sequence[Sentence], repeats: int = 5) -> float:
    """Tokens from raw text in batches for each second of one core, the best of `repeats` runs.

    Processor time is counted, so that a busy machine does not make the pipeline look slow.
    """
    texts = [sentence.text for sentence in sentences]
    best = 0.0
    for _ in range(repeats):
        started = time.process_time()
        tokens = sum(len(doc) for doc in nlp.pipe(texts, batch_size=256))
        best = max(best, tokens / (time.process_time() - started))
    return best
