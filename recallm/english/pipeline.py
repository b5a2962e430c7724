"""The spaCy pipeline: which one is loaded, what it must set, and how texts run through it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Final, NamedTuple

import numpy as np
import spacy
from spacy.attrs import DEP, HEAD, IDX, LEMMA, LENGTH, POS, SENT_START
from spacy.lang.en import English
from spacy.language import Language
from spacy.symbols import IDS
from spacy.tokenizer import Tokenizer
from spacy.tokens import Doc
from spacy.util import compile_infix_regex, compile_prefix_regex, compile_suffix_regex
from thinc.api import Model, NumpyOps
from threadpoolctl import ThreadpoolController

from recallm.english.shipped import (
    KNOWLEDGE,
    SYNTAX,
    Labels,
    Network,
    load_shipped,
    shipped_components,
)
from recallm.english.words import Word, word_of
from recallm.errors import PipelineError
from recallm.ground.forking import new_loading_lock, new_lock

_OF_WORDS: Final = [IDS[name] for name in ("IS_SPACE", "NORM", "PREFIX", "SHAPE", "SUFFIX")]
"""What the network and the parser read of a new word; spaCy would look up twenty things more."""
_DELIMITER: Final = (
    r"""(?<=\S)["'”’)\]]{0,2}(?:[;|]{1,3}|,{2,3}|(?<!\d),|,(?!\d))["'“‘(\[]{0,2}(?=[\w$€£#@])"""
)
"""Between two words without a space: a semicolon, a bar, or a comma that stands in no number."""
_ID_OR_FILE: Final = re.compile(
    r"[^\W_][\w.-]*_[\w.-]*[^\W_]|[^\W_][\w-]*\.[A-Z]{3,4}"
    r"|(?:\w+[:=])?[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}"
)
"""One word, however its letters and digits stand: "dbo.Users_2024", "Report.PDF", a UUID."""
_KINDS: Final = {"PERSON": "PER", "GPE": "LOC", "FAC": "LOC", "NORP": "ORG"}
"""Entity labels of spaCy's pipelines that the shipped pipeline calls otherwise."""
_NO_NAMES: Final = frozenset(
    ("DATE", "TIME", "PERCENT", "MONEY", "QUANTITY", "ORDINAL", "CARDINAL", "LANGUAGE")
)
"""Labels of what is no name."""
_TRUE: Final = 1
_PROBE = "Anna lives in Paris. She has two cats."
_MOST_LEXEMES: Final = 50_000
_DOC_TOKENS: Final = 4
"""The cost of a document beside its tokens, in tokens."""
_GROUP_TOKENS: Final = 1_200
"""How many tokens the pipeline runs at once. More need more memory and are hardly faster."""

_pipelines: dict[str | None, Pipeline] = {}
_loading = new_loading_lock()


def tag_set(names: str) -> frozenset[int]:
    """SpaCy's symbols for part-of-speech tags, named with spaces between them."""
    return frozenset(IDS[name] for name in names.split())


class Tree(NamedTuple):
    """The parse of a text. The lists run in parallel, one entry a token.

    ``heads`` are the indexes of the tokens' heads, a root's is its own. ``relations`` are those of
    Universal Dependencies.
    """

    heads: list[int]
    relations: list[str]
    lemmas: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaggedText:
    """A text as the pipeline reads it: its words, their first characters, and their ``Labels``.
    ``tree`` is None unless the caller asked for a parse.
    """

    text: str
    words: tuple[Word, ...]
    starts: tuple[int, ...]
    tags: tuple[int, ...]
    begins: tuple[bool, ...]
    entities: tuple[tuple[int, int, str], ...]
    roles: tuple[str, ...] = ()
    tree: Tree | None = None


class Pipeline:
    """A loaded spaCy pipeline. Threads take turns.

    ``network``: it labels the tokens in the place of the pipeline's components. The shipped
    pipeline has one; a user's own pipeline is run by spaCy.
    """

    def __init__(self, nlp: Language, network: Network | None = None) -> None:
        _multiply_by_numpy(nlp)
        self._nlp = nlp
        self._network = network
        self._syntax: Language | None = None
        # The matrices are small: waking other threads for one costs more than the product itself.
        self._one_thread = ThreadpoolController().select(user_api="blas").limit
        self._lock = new_lock()

    def tag(self, texts: Sequence[str], *, parsed: bool = False) -> Iterator[TaggedText]:
        """Run texts through the pipeline, in order, group by group.

        ``parsed``: the shipped parser runs too, and the texts have a ``tree``.

        Raises:
            PipelineError: ``parsed``, and the pipeline is not English.
        """
        parser = self.load_parser() if parsed else None
        waiting = iter(texts)
        for text in waiting:
            yield from self._group(chain((text,), waiting), parser)

    def words(self, text: str) -> list[Word]:
        """The words of a label: the tokenizer alone."""
        with self._lock, self._zone():
            return [word_of(token.text) for token in self._nlp.make_doc(text)]

    def _zone(self) -> AbstractContextManager[Any]:
        """How long new words stay in the vocabulary: for ever while it is small, since known words
        are tokenized faster; after that only while the texts are read, since texts never run out of
        new tokens."""
        small = len(self._nlp.vocab) < _MOST_LEXEMES
        return nullcontext() if small else self._nlp.memory_zone()

    def load_parser(self) -> Language:
        """The shipped parser and lemmatizer, loaded at first use. They share the vocabulary, so
        that they run on this pipeline's documents.

        Raises:
            PipelineError: the pipeline is not English.
        """
        with self._lock:
            if self._syntax is None:
                _check_english(self._nlp)
                self._syntax = load_shipped([SYNTAX], vocab=self._nlp.vocab)
                _multiply_by_numpy(self._syntax)
            return self._syntax

    def _group(self, texts: Iterator[str], parser: Language | None) -> list[TaggedText]:
        """The next texts, up to ``_GROUP_TOKENS``, read at once."""
        with self._lock, self._zone(), self._one_thread(limits=1):
            docs: list[Doc] = []
            taken: list[str] = []
            size = 0
            for text in texts:
                doc = self._nlp.make_doc(text)
                docs.append(doc)
                taken.append(text)
                size += len(doc) + _DOC_TOKENS
                if size >= _GROUP_TOKENS:
                    break
            if self._network is None:
                docs = _run(self._nlp, docs)
                labels = [*map(_labels, docs)]
            else:
                labels = self._network.read(docs)
            read = [
                read_doc(doc, text, own) for doc, text, own in zip(docs, taken, labels, strict=True)
            ]
            if parser is None:
                return read
            # The parser keeps to the sentences that the network begins.
            for doc, own in zip(docs, labels if self._network else (), strict=False):
                begins: Any = np.where(own.begins, 1, -1).astype(np.uint64)
                doc.from_array([SENT_START], begins)
            # A parse of the user's own pipeline is overwritten: nothing reads it.
            docs = _run(parser, docs)
            return [
                replace(tagged, tree=_tree(doc)) for tagged, doc in zip(read, docs, strict=True)
            ]


def _run(nlp: Language, docs: list[Doc]) -> list[Doc]:
    """Run a pipeline's components on documents."""
    # For a single text, Language.pipe costs more to set up than it saves.
    return list(nlp.pipe(docs, batch_size=len(docs))) if len(docs) > 1 else [*map(nlp, docs)]


def _multiply_by_numpy(nlp: Language) -> None:
    """Let NumPy multiply the matrices of a pipeline that runs on the CPU: its library is two to
    three times as fast as thinc's default, with the same results."""
    numpy_ops = NumpyOps(use_blis=False)
    for _, component in nlp.pipeline:
        model = getattr(component, "model", None)
        for layer in model.walk() if isinstance(model, Model) else ():
            if type(layer.ops) is NumpyOps:
                layer.ops = numpy_ops


def read_doc(doc: Doc, text: str, labels: Labels | None = None) -> TaggedText:
    """Read a document of a text; its labels are spaCy's where none are given."""
    starts, lengths = map(tuple, doc.to_array([IDX, LENGTH]).T.tolist())
    words = tuple(
        [
            word_of(text[start : start + length])
            for start, length in zip(starts, lengths, strict=True)
        ]
    )
    return TaggedText(text=text, words=words, starts=starts, **(labels or _labels(doc))._asdict())


def _labels(doc: Doc) -> Labels:
    """What spaCy's components set on a document; entities by the shipped pipeline's labels."""
    tags, begins = doc.to_array([POS, SENT_START]).T.astype(np.uint64, copy=False).tolist()
    return Labels(
        tags=tuple(tags),
        begins=tuple(begin == _TRUE for begin in begins),
        entities=tuple(
            (entity.start, entity.end, _KINDS.get(entity.label_, entity.label_))
            for entity in doc.ents
            if entity.label_ not in _NO_NAMES
        ),
    )


def _tree(doc: Doc) -> Tree:
    """Read the parse of a spaCy document into plain lists."""
    offsets, relations, lemmas = doc.to_array([HEAD, DEP, LEMMA]).T
    strings = doc.vocab.strings
    return Tree(
        heads=(offsets.astype(np.int64) + np.arange(len(doc))).tolist(),
        # spaCy writes the relation of a root in capitals.
        relations=[strings[relation].lower() for relation in relations.tolist()],
        lemmas=[strings[lemma] for lemma in lemmas.tolist()],
    )


def load_pipeline(model: str | None) -> Pipeline:
    """The shipped pipeline (None), or an installed one by name or path; each is loaded once.

    Raises:
        PipelineError: it is not installed, cannot be loaded, or sets no part-of-speech tags or
            no sentence starts.
    """
    with _loading:
        if model not in _pipelines:
            _pipelines[model] = _shipped() if model is None else _installed(model)
        return _pipelines[model]


def _shipped() -> Pipeline:
    nlp = English(create_tokenizer=_tokenizer)
    vocab: Any = nlp.vocab
    vocab.lex_attr_getters = {each: vocab.lex_attr_getters[each] for each in _OF_WORDS}
    return Pipeline(nlp, Network(shipped_components(KNOWLEDGE)))


def _tokenizer(nlp: Language) -> Tokenizer:
    """SpaCy's tokenizer with rules for tables, ids and file names. A rule that is set later would
    load the 1,300 exceptions of the language anew."""
    rules: Any = nlp.Defaults
    return Tokenizer(
        nlp.vocab,
        rules=rules.tokenizer_exceptions,
        prefix_search=compile_prefix_regex(rules.prefixes).search,
        suffix_search=compile_suffix_regex(rules.suffixes).search,
        infix_finditer=compile_infix_regex([*rules.infixes, _DELIMITER]).finditer,
        url_match=lambda text: rules.url_match(text) or _ID_OR_FILE.fullmatch(text),
    )


def _installed(model: str) -> Pipeline:
    try:
        # Lemmas are not used; leaving them out makes large pipelines a good deal faster.
        nlp = spacy.load(model, exclude=["lemmatizer"])
        doc: Any = nlp(_PROBE)
    except Exception as error:
        raise PipelineError(
            f"the spaCy pipeline {model!r} cannot be loaded: {error} Install it with "
            f"python -m spacy download {model}, or name the folder of a pipeline.",
            model=model,
        ) from error
    if not (doc.has_annotation("POS") and doc.has_annotation("SENT_START")):
        raise PipelineError(
            f"the spaCy pipeline {model!r} sets no part-of-speech tags or no sentence starts; use "
            "a pipeline that sets both (such as en_core_web_sm), or the pipeline that ships "
            "with recallm",
            model=model,
        )
    return Pipeline(nlp)


def _check_english(nlp: Language) -> None:
    if nlp.lang != "en":
        model = str(nlp.meta["name"])
        raise PipelineError(
            f"the parser inside recallm reads English, the spaCy pipeline {model!r} has the "
            f"language {nlp.lang!r}: use an English pipeline, or do without triplets",
            model=model,
        )
