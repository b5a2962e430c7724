"""The English pipeline that ships inside the package: how it is packed and how it is loaded.

Each part is one file of ``data/en_recallm``: ``knowledge.bin`` (tags, sentence starts,
roles, entities: what a knowledge update needs) and ``syntax.bin`` (parser and lemmatizer, with a
tok2vec of their own). A file is one msgpack map: spaCy's configuration of the components and
their state, weights in half precision; they are widened to single precision on loading, as
spaCy's kernels want them. No vocabulary is stored: the tokenizer and the lexical attributes
are spaCy's English rules, the hashed embeddings need no table of words.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib.resources import files
from typing import Any, Final

import numpy as np
import srsly
from spacy.language import Language
from spacy.util import load_model_from_config
from spacy.vocab import Vocab

from recallm.errors import InvalidInputError, PipelineError

__all__ = ["KNOWLEDGE", "NAME", "ROLES", "SYNTAX", "load_shipped", "pack", "unpack"]

NAME: Final = "en_recallm"
"""The name of the shipped pipeline."""

KNOWLEDGE: Final = "knowledge"
"""Morphologizer (UPOS), senter, tagger of roles and ner: all that a knowledge update needs."""

SYNTAX: Final = "syntax"
"""Parser and edit-tree lemmatizer."""

ROLES: Final = "roles"
"""The component whose tags (``token.tag_``) are relations of Universal Dependencies."""

_FORMAT: Final = 1


def load_shipped(parts: Iterable[str] = (KNOWLEDGE,), *, vocab: Vocab | None = None) -> Language:
    """Load the shipped English pipeline.

    `parts` names what is loaded, `KNOWLEDGE` and `SYNTAX`, in the order in which the
    components run; one part does not read the other's file. Where both are loaded, keep
    `KNOWLEDGE` first: the parser then keeps the sentence starts that the senter set. With the
    English `vocab` of another pipeline the components run on the documents of that one.

    Raises InvalidInputError for an unknown part, PipelineError where the installation lacks
    the files or has those of another version.
    """
    folder = files("recallm.extraction").joinpath("data", NAME)
    packed: list[bytes] = []
    for part in parts:
        if part not in (KNOWLEDGE, SYNTAX):
            raise InvalidInputError(
                f"no part {part!r}: choose of {KNOWLEDGE!r} and {SYNTAX!r}", argument="parts"
            )
        try:
            packed.append(folder.joinpath(f"{part}.bin").read_bytes())
        except OSError as error:
            raise PipelineError(
                f"the shipped pipeline cannot be read ({error}): reinstall recallm", model=NAME
            ) from error
    return unpack(packed, vocab=vocab)


def pack(nlp: Language) -> bytes:
    """Pack the components of `nlp` into one file's bytes, weights in half precision."""
    components: dict[str, Any] = {}
    for name in nlp.pipe_names:
        component: Any = nlp.get_pipe(name)
        state: Any = srsly.msgpack_loads(component.to_bytes(exclude=["vocab"]))
        state["model"] = srsly.msgpack_loads(state["model"])
        state["model"] = _with_weights(state["model"], np.float16)
        entry = {"config": dict(nlp.get_pipe_config(name)), "state": state}
        if "trees" in state:
            state["trees"] = _labelled_trees(state["trees"], component.cfg["labels"])
            entry["strings"] = _strings_of(state["trees"], nlp)
        components[name] = entry
    packed: bytes = srsly.msgpack_dumps({"format": _FORMAT, "components": components})
    return packed


def unpack(packed: Iterable[bytes], *, vocab: Vocab | None = None) -> Language:
    """Build one pipeline of what `pack` made, in the order given, with its own vocabulary or an
    English `vocab`.

    Raises PipelineError if the bytes are damaged or of another format version.
    """
    components: dict[str, Any] = {}
    for content in packed:
        components |= _components(content)
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
        state["model"] = srsly.msgpack_dumps(_with_weights(state["model"], np.float32))
        component: Any = nlp.get_pipe(name)
        component.from_bytes(srsly.msgpack_dumps(state), exclude=["vocab"])
        for role in component.labels if name == ROLES else ():
            nlp.vocab.strings.add(role)
    return nlp


def _components(content: bytes) -> dict[str, Any]:
    try:
        part: Any = srsly.msgpack_loads(content)
        version = part["format"]
        components: dict[str, Any] = part["components"]
    except (ValueError, TypeError, LookupError) as error:
        raise PipelineError(
            f"the shipped pipeline is damaged ({error!r}): reinstall recallm", model=NAME
        ) from error
    if version != _FORMAT:
        raise PipelineError(
            f"the shipped pipeline has format {version!r}, this version of recallm reads "
            f"{_FORMAT}: reinstall recallm",
            model=NAME,
        )
    return components


def _with_weights(model: dict[str, Any], kind: type[np.floating[Any]]) -> dict[str, Any]:
    """A serialized thinc model with its parameters as `kind` of float."""
    params = [
        {k: None if v is None else np.asarray(v, dtype=kind) for k, v in node.items()}
        for node in model["params"]
    ]
    return model | {"params": params}


def _labelled_trees(trees: bytes, labels: list[int]) -> bytes:
    """The edit trees that labels stand on: they come first, those met in training after."""
    stored: Any = srsly.msgpack_loads(trees)
    kept = stored["trees"][: max(labels) + 1]
    packed: bytes = srsly.msgpack_dumps({"trees": kept})
    return packed


def _strings_of(trees: bytes, nlp: Language) -> list[str]:
    """The strings that the edit trees replace and insert; the trees hold their hashes."""
    stored: Any = srsly.msgpack_loads(trees)
    hashes = {tree[key] for tree in stored["trees"] for key in ("orig", "subst") if key in tree}
    return sorted(str(nlp.vocab.strings[value]) for value in hashes)
