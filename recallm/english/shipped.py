"""The English pipeline that ships inside the package: its files, how it is loaded, and its network,
run by NumPy.

Each part is one file of ``data/en_recallm``: ``knowledge.bin`` (tags, sentence starts,
roles, entities: what a knowledge update needs) and ``syntax.bin`` (parser and lemmatizer, with a
tok2vec of their own). A file is one msgpack map: spaCy's configuration of the components and
their state, weights in half precision; they are widened to single precision on loading, as
spaCy's kernels want them. No vocabulary is stored: the tokenizer and the lexical attributes
are spaCy's English rules, the hashed embeddings need no table of words.

SpaCy runs five components one after another; for one sentence most of their time is set-up. In
``Network`` a word's vector is computed once, a text runs through the convolutions once, and one
product gives the scores of all labels. The labels are the same as spaCy's; the scores differ by
rounding, at most 0.00001. SpaCy alone runs a user's own pipeline.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from itertools import accumulate, count
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import srsly
from spacy.attrs import NORM, ORTH
from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import load_model_from_config
from spacy.vocab import Vocab
from thinc.api import NumpyOps

from recallm import distribution
from recallm.errors import PipelineError

NAME: Final = "en_recallm"
"""The name of the shipped pipeline."""

KNOWLEDGE: Final = "knowledge"
"""Morphologizer (UPOS), senter, tagger of roles and ner: all that a knowledge update needs."""

SYNTAX: Final = "syntax"
"""Parser and edit-tree lemmatizer."""

ROLES: Final = "roles"
"""The component whose tags (``token.tag_``) are relations of Universal Dependencies."""


def load_shipped(parts: Iterable[str] = (KNOWLEDGE,), *, vocab: Vocab | None = None) -> Language:
    """Load parts of the shipped English pipeline, in the order in which their components run: with
    ``KNOWLEDGE`` first the parser keeps the sentence starts that the senter set. With the English
    ``vocab`` of another pipeline the components run on the documents of that one.

    Raises:
        PipelineError: the installation lacks the files, or has damaged ones.
    """
    return build(shipped_components(*parts), vocab=vocab)


def shipped_components(*parts: str) -> dict[str, Any]:
    """The components of parts, each with spaCy's "config" and "state", weights in half precision.

    Raises:
        PipelineError: as for ``load_shipped``.
    """
    found: dict[str, Any] = {}
    for part in parts:
        file = files("recallm.english").joinpath("data", NAME, f"{part}.bin")
        try:
            found |= unpacked(file.read_bytes())
        except (OSError, ValueError, TypeError, LookupError) as error:
            raise PipelineError(
                f"the English pipeline that ships with recallm cannot be read ({error!r}); "
                f"reinstall it with: {distribution.REINSTALL}",
                model=NAME,
            ) from error
    return found


def unpacked(packed: bytes) -> dict[str, Any]:
    """The components of one file."""
    part: Any = srsly.msgpack_loads(packed)
    components: dict[str, Any] = part["components"]
    return components


def build(components: Mapping[str, Any], *, vocab: Vocab | None = None) -> Language:
    """Make one pipeline of components, with its own vocabulary or an English ``vocab``."""
    nlp: Language = load_model_from_config(
        {
            "nlp": {"lang": "en", "pipeline": list(components)},
            "components": {name: entry["config"] for name, entry in components.items()},
        },
        vocab=True if vocab is None else vocab,
        auto_fill=True,
        validate=False,
    )
    for name, entry in components.items():
        for string in entry.get("strings", ()):
            nlp.vocab.strings.add(string)
        state = entry["state"]
        state["model"] = srsly.msgpack_dumps(with_weights(state["model"], np.float32))
        component: Any = nlp.get_pipe(name)
        component.from_bytes(srsly.msgpack_dumps(state), exclude=["vocab"])
        for role in component.labels if name == ROLES else ():
            nlp.vocab.strings.add(role)
    return nlp


def with_weights(model: dict[str, Any], kind: type[np.floating[Any]]) -> dict[str, Any]:
    """A serialized thinc model with its parameters as ``kind`` of float."""
    params = [
        {k: None if v is None else np.asarray(v, dtype=kind) for k, v in node.items()}
        for node in model["params"]
    ]
    return model | {"params": params}


# The network.

_MOST_WORDS: Final = 16_384
"""Above this number of words the table of their vectors (8 MB) starts anew."""
_FIRST_SEED: Final = 8
"""SpaCy's hashed embeddings count their seeds up from here."""
_TINY: Final = 1e-8
_FEW: Final = 128
"""Among so few windows, to look for equal ones takes longer than to read them all."""
_WINDOW: Final = np.array([-1, 0, 1])
_WINDOW_CODE: Final = np.array([1 << 42, 1 << 21, 1])
"""Makes one number of three places below two million."""

_Floats = npt.NDArray[np.float32]
_Key = tuple[int, int]
"""SpaCy's numbers for the text and the norm of a word."""
_PADDING: Final[_Key] = (0, 0)
"""No word has this key."""
_hash = NumpyOps(use_blis=False).hash


class Labels(NamedTuple):
    """What a pipeline says of the tokens of a text. The tuples run in parallel, one entry a token.
    The garbage collector does not look again at a tuple of plain values, as it would at a list.

    ``tags`` are spaCy's part-of-speech symbols, ``begins`` says whether the pipeline begins a
    sentence at the token. ``entities`` are (first token, last token + 1, label). ``roles`` are the
    tokens' relations of Universal Dependencies as a tagger gives them, empty where the pipeline has
    no such tagger.
    """

    tags: tuple[int, ...]
    begins: tuple[bool, ...]
    entities: tuple[tuple[int, int, str], ...]
    roles: tuple[str, ...] = ()


class Network:
    """The components of ``knowledge.bin``. Not safe for several threads."""

    def __init__(self, components: Mapping[str, Any]) -> None:
        embedding = _parameters(components["tok2vec"])
        self._tables = [each["E"] for each in embedding if "E" in each]
        layers = embedding[len(self._tables) :]
        self._mix, *self._convolutions = map(_Layer, layers[::2], layers[1::2])
        self._entities = _EntityMoves(components["ner"])
        heads = [_parameters(components[name])[0] for name in ("morphologizer", "senter", ROLES)]
        heads.append(self._entities.head)
        self._weights = np.concatenate([head["W"] for head in heads]).T.copy()
        self._bias = np.concatenate([head["b"] for head in heads])
        ends = np.cumsum([len(head["b"]) for head in heads]).tolist()
        self._heads = [slice(*span) for span in zip([0, *ends], ends, strict=False)]
        cfg = json.loads(components["morphologizer"]["state"]["cfg"])
        self._tags = np.array([*cfg["labels_pos"].values()])
        self._roles = np.array(json.loads(components[ROLES]["state"]["cfg"])["labels"], object)
        nothing = np.zeros(self._tables[0].shape[1], np.float32)
        self._known: dict[_Key, _Floats] = {_PADDING: nothing}

    def read(self, docs: Sequence[Doc]) -> list[Labels]:
        """The labels of documents that share a vocabulary."""
        # Each convolution looks one row further: rows of zeros keep the documents apart.
        padding: list[_Key] = [_PADDING] * len(self._convolutions)
        keys = [*padding]
        for doc in docs:
            keys.extend(zip(*doc.to_array([ORTH, NORM]).T.tolist(), strict=True))
            keys.extend(padding)
        x = self._in_context(keys, docs[0].vocab)
        scores = x @ self._weights
        scores += self._bias
        of_tags, of_starts, of_roles, of_entities = (scores[:, head] for head in self._heads)
        tags = tuple(self._tags[of_tags.argmax(axis=1)].tolist())
        begins = of_starts[:, 1] > of_starts[:, 0]
        ends = [*accumulate(map(len, docs))]
        moves = self._entities.read(x, of_entities, begins, ends)
        roles = tuple(self._roles[of_roles.argmax(axis=1)].tolist())
        starts = tuple(begins.tolist())
        return [
            Labels(
                tags=tags[first:end],
                begins=starts[first:end],
                entities=tuple(_entities_of(doc, first, moves)),
                roles=roles[first:end],
            )
            for doc, first, end in zip(docs, [0, *ends], ends, strict=False)
        ]

    def _in_context(self, keys: Sequence[_Key], vocab: Vocab) -> _Floats:
        """The vectors of tokens in their contexts. Equal windows of many (of rows of a table) are
        read once, paddings only as far as tokens look."""
        words = {key: place for place, key in enumerate(dict.fromkeys(keys))}
        x = self._vectors([*words], vocab)
        places = np.array([*map(words.__getitem__, keys)])
        is_token = is_read = places != words[_PADDING]
        reads = [is_read]
        for _ in self._convolutions[1:]:
            is_read = is_read.copy()
            is_read[1:] |= reads[-1][:-1]
            is_read[:-1] |= reads[-1][1:]
            reads.append(is_read)
        for layer, is_read in zip(self._convolutions, reversed(reads), strict=True):
            [read] = is_read.nonzero()
            windows = places[read[:, None] + _WINDOW]
            places[read] = np.arange(len(windows))
            if len(windows) > _FEW:
                codes = windows @ _WINDOW_CODE
                _, chosen, places[read] = np.unique(codes, return_index=True, return_inverse=True)
                windows = windows[chosen]
            in_windows = x.take(windows, axis=0)
            x = layer(in_windows.reshape(len(windows), 3 * x.shape[1]))
            x += in_windows[:, 1]
        of_tokens: _Floats = x.take(places[is_token], axis=0)
        return of_tokens

    def _vectors(self, keys: Sequence[_Key], vocab: Vocab) -> _Floats:
        """The vectors of words, computed once for each; a full table starts anew."""
        if len(self._known) > _MOST_WORDS:
            self._known = {_PADDING: self._known[_PADDING]}
        if new := set(keys).difference(self._known):
            self._known |= zip(new, self._embedded(new, vocab), strict=True)
        return np.array([*map(self._known.__getitem__, keys)])

    def _embedded(self, keys: Collection[_Key], vocab: Vocab) -> _Floats:
        lexemes = [vocab[text] for text, _ in keys]
        attributes = [
            [norm for _, norm in keys],
            [lexeme.prefix for lexeme in lexemes],
            [lexeme.suffix for lexeme in lexemes],
            [lexeme.shape for lexeme in lexemes],
        ]
        parts = [
            table[_hash(np.array(ids, np.uint64), seed) % len(table)].sum(1, np.float32)
            for table, ids, seed in zip(self._tables, attributes, count(_FIRST_SEED), strict=False)
        ]
        return self._mix(np.concatenate(parts, axis=1))


class _Layer:
    """Maxout units, their outputs normalised."""

    def __init__(self, maxout: Mapping[str, _Floats], norm: Mapping[str, _Floats]) -> None:
        self._pieces, self._units = maxout["b"].T.shape
        self._weights = maxout["W"].T.reshape(-1, maxout["b"].size)
        self._bias = maxout["b"].T.ravel()
        self._mean = np.full(self._units, 1 / self._units, np.float32)
        self._scale, self._shift = norm["G"], norm["b"]

    def __call__(self, x: _Floats) -> _Floats:
        y = x @ self._weights
        y += self._bias
        found: _Floats = y.reshape(-1, self._pieces, self._units).max(axis=1)
        found -= (found @ self._mean)[:, None]
        variance = np.einsum("ij,ij->i", found, found) / self._units
        found *= (1 / np.sqrt(variance + _TINY))[:, None]
        found *= self._scale
        found += self._shift
        return found


class _EntityMoves:
    """The entity recogniser. It says of each token whether the token is outside, an entity by
    itself or the first of an entity; and of the tokens behind a first one, which is the last."""

    def __init__(self, component: Mapping[str, Any]) -> None:
        lower, upper, reducing = _parameters(component)
        _, units, pieces, width = lower["W"].shape
        self._pieces, self._units = pieces, units
        weights = lower["W"].swapaxes(1, 2).reshape(3, pieces * units, width)
        alone, *opened = weights @ reducing["W"]
        bias, *bias_opened = weights @ reducing["b"]
        self.head = {"W": alone, "b": bias + lower["b"].T.ravel()}
        """What a token adds to the scores at its own place."""
        self._opened = np.concatenate(opened, axis=1).T, np.sum(bias_opened, axis=0)
        """What the first token of an open entity and the token before add."""
        self._nothing_open = lower["pad"][0, 1:].sum(axis=0).T.ravel()
        system: Any = srsly.msgpack_loads(component["state"]["moves"])
        self._labels = [*json.loads(system["moves"])["1"]]
        # spaCy numbers its moves so: first, inside, last and single by label, blocked, outside.
        first, inside, last, single = np.arange(4 * len(self._labels)).reshape(4, -1)
        outside = [len(upper["b"]) - 1]
        self._begin, self._go_on, self._end = (
            (upper["W"][moves], upper["b"][moves])
            for moves in (np.concatenate((first, single, outside)), inside, last)
        )

    def read(
        self, x: _Floats, alone: _Floats, begins: npt.NDArray[np.bool_], ends: Sequence[int]
    ) -> dict[int, tuple[int, str]]:
        """From each token that may begin an entity to that entity's end and label. ``x`` are the
        vectors of tokens, ``alone`` what ``head`` makes of them, ``ends`` the places behind the
        last tokens of texts."""
        cuts = np.append(begins, True)
        cuts[ends] = True
        closes = cuts[1:]
        opened, bias_opened = self._opened
        weights, bias = self._begin
        scores = self._hidden(alone + self._nothing_open) @ weights.T + bias
        kinds = len(self._labels)
        scores[closes, :kinds] = -np.inf
        moves = scores.argmax(axis=1)
        [starts] = (moves < 2 * kinds).nonzero()
        label = moves[starts] % kinds
        last = starts.copy()
        [growing] = (moves[starts] < kinds).nonzero()
        while growing.size:
            last[growing] += 1
            growing = growing[~closes[last[growing]]]
            at, kind = last[growing], label[growing]
            before = np.concatenate((x[starts[growing]], x[at - 1]), axis=1)
            hidden = self._hidden(alone[at] + before @ opened + bias_opened)
            stay, leave = (
                np.einsum("ij,ij->i", hidden, weights[kind]) + bias[kind]
                for weights, bias in (self._go_on, self._end)
            )
            growing = growing[stay >= leave]
        return {
            first: (end + 1, self._labels[kind])
            for first, end, kind in zip(starts.tolist(), last.tolist(), label.tolist(), strict=True)
        }

    def _hidden(self, x: _Floats) -> _Floats:
        found: _Floats = x.reshape(-1, self._pieces, self._units).max(axis=1)
        return found


def _entities_of(
    doc: Doc, place: int, moves: Mapping[int, tuple[int, str]]
) -> Iterator[tuple[int, int, str]]:
    """The entities of a document, one behind another; none begins with white space."""
    end = 0
    for i in range(len(doc)) if moves else ():
        if i >= end and (found := moves.get(place + i)) and not doc[i].is_space:
            end = found[0] - place
            yield i, end, found[1]


def _parameters(component: Mapping[str, Any]) -> list[dict[str, _Floats]]:
    """The parameters of a component's layers, in their order; hashed tables in half precision."""
    layers = component["state"]["model"]["params"]
    return [
        {
            name: value if name == "E" else np.asarray(value, np.float32)
            for name, value in layer.items()
        }
        for layer in layers
        if layer
    ]
