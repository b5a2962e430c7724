"""The corpora that the pipeline is trained on, chosen on and measured on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.language import Language

from training.pipeline.treebank import (
    Sentence,
    Word,
    attach_entities,
    read_column_entities,
    read_conllu,
    read_iob2,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpora:
    """Annotated sentences by their use.

    `train` and `other` have tags and trees (`train` is of the kind that is scored: EWT; `other`
    are GUM and PUD); `entities_only` has entity labels and nothing else. `dev` is what choices
    are made on; `test` is scored once, at the end.
    """

    train: tuple[Sentence, ...]
    other: tuple[Sentence, ...]
    entities_only: tuple[Sentence, ...]
    dev: tuple[Sentence, ...]
    test: tuple[Sentence, ...]


def read_corpora(folder: Path) -> Corpora:
    """Read the folders ``ewt``, ``uner``, ``pud``, ``gum`` and ``ner_extra`` of `folder`.

    Raises FileNotFoundError if one of them lacks a file that is needed.
    """

    def ewt(split: str) -> tuple[Sentence, ...]:
        entities = sorted((folder / "uner").glob(f"en_ewt-ud-{split}*.iob2"))
        if not entities:
            raise FileNotFoundError(f"no en_ewt-ud-{split}*.iob2 in {folder / 'uner'}")
        trees = read_conllu(folder / "ewt" / f"en_ewt-ud-{split}.conllu")
        return tuple(attach_entities(trees, read_iob2(entities[0])))

    pud = attach_entities(
        read_conllu(folder / "pud" / "en_pud-ud-test.conllu"),
        read_iob2(folder / "pud" / "en_pud-ud-test.iob2"),
    )
    gum = [s for path in sorted((folder / "gum").glob("*.conllu")) for s in read_conllu(path)]
    columns = sorted(
        path
        for pattern in ("*.conll", "*.annotated", "*.conll.txt")
        for path in (folder / "ner_extra").glob(pattern)
    )
    if not gum or not columns:
        raise FileNotFoundError(f"no GUM or no named-entity files in {folder}")
    return Corpora(
        train=ewt("train"),
        other=(*pud, *gum),
        entities_only=tuple(s for path in columns for s in read_column_entities(path)),
        dev=ewt("dev"),
        test=ewt("test"),
    )


_CONFIDENT = 0.7
"""A silver tag less probable than this is left out: an unknown tag teaches nothing wrong."""

_NAME_TAGS = frozenset({"PROPN", "ADP", "DET", "PUNCT", "SYM", "NUM", "PART", "CCONJ"})


def with_silver_tags(nlp: Language, sentences: Sequence[Sentence]) -> list[Sentence]:
    """Give sentences without tags those that `nlp` predicts, and cut them where it does.

    A word takes the tag of the token that it starts in; the words of persons' names, and places
    and organisations of one word, are proper nouns whatever `nlp` thinks. Silver tags let the
    sentences train all components: without them the senter would learn that nothing starts
    there.
    """
    result: list[Sentence] = []
    morphologizer: Any = nlp.get_pipe("morphologizer")
    docs = list(nlp.pipe(sentence.text for sentence in sentences))
    for sentence, doc, scores in zip(
        sentences, docs, morphologizer.model.predict(docs), strict=True
    ):
        probabilities = _highest_probabilities(scores)
        tag_at: dict[int, str] = {}
        starts: set[int] = set()
        for token, probability in zip(doc, probabilities, strict=True):
            tag = token.pos_ if probability >= _CONFIDENT else ""
            tag_at.update(dict.fromkeys(range(token.idx, token.idx + len(token)), tag))
            if token.is_sent_start:
                starts.add(token.idx)
        result.extend(_cut_at(_tagged(sentence, tag_at), starts))
    return result


def _tagged(sentence: Sentence, tag_at: dict[int, str]) -> Sentence:
    words: list[Word] = []
    start = 0
    for word, following in zip_longest(sentence.words, sentence.words[1:]):
        tag = tag_at.get(start, "")
        alone = following is None or not following.entity.startswith("I-")
        person = word.entity in {"B-PER", "I-PER"}
        if person or (word.entity in {"B-LOC", "B-ORG"} and alone):
            tag = tag if tag in _NAME_TAGS else "PROPN"
        words.append(replace(word, upos=tag))
        start += len(word.form) + word.space_after
    return replace(sentence, words=tuple(words))


def _cut_at(sentence: Sentence, starts: set[int]) -> Iterator[Sentence]:
    """Cut a sentence before the words at the offsets `starts`, but never inside an entity."""
    first = start = 0
    for index, word in enumerate(sentence.words):
        if start in starts and index > first and not word.entity.startswith("I-"):
            yield replace(sentence, words=sentence.words[first:index])
            first = index
        start += len(word.form) + word.space_after
    yield replace(sentence, words=sentence.words[first:])


def _highest_probabilities(scores: NDArray[np.float32]) -> NDArray[np.float32]:
    """The softmax of each row of `scores` at its highest value."""
    highest = scores.max(axis=1, keepdims=True) if scores.size else scores
    return np.asarray(1.0 / np.exp(scores - highest).sum(axis=1), dtype=np.float32)
