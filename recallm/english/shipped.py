"""The English pipeline that ships inside the package: what its files hold, and how it is loaded.

Each part is one file of ``data/en_recallm``: ``knowledge.bin`` (tags, sentence starts,
roles, entities: what a knowledge update needs) and ``syntax.bin`` (parser and lemmatizer, with a
tok2vec of their own). A file is one msgpack map: spaCy's configuration of the components and
their state, weights in half precision; they are widened to single precision on loading, as
spaCy's kernels want them. No vocabulary is stored: the tokenizer and the lexical attributes
are spaCy's English rules, the hashed embeddings need no table of words.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib.resources import files
from typing import Any, Final

import numpy as np
import srsly
from spacy.language import Language
from spacy.util import load_model_from_config
from spacy.vocab import Vocab

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
        try:
            packed = files("recallm.english").joinpath("data", NAME, f"{part}.bin").read_bytes()
        except OSError as error:
            raise PipelineError(
                f"the English pipeline that ships with recallm cannot be read ({error}); "
                f"reinstall it with: {distribution.REINSTALL}",
                model=NAME,
            ) from error
        found |= unpacked(packed)
    return found


def unpacked(packed: bytes) -> dict[str, Any]:
    """The components of one file.

    Raises:
        PipelineError: the bytes are damaged.
    """
    try:
        part: Any = srsly.msgpack_loads(packed)
        components: dict[str, Any] = part["components"]
    except (ValueError, TypeError, LookupError) as error:
        raise PipelineError(
            f"the shipped pipeline is damaged ({error!r}): reinstall recallm", model=NAME
        ) from error
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
