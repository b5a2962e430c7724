"""Packs a trained pipeline into the files that the package ships (`recallm.english.shipped`)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import srsly
from spacy.language import Language

from recallm.english.shipped import build, unpacked, with_weights


def pack(nlp: Language) -> bytes:
    """Pack the components of `nlp` into one file's bytes, weights in half precision."""
    components: dict[str, Any] = {}
    for name in nlp.pipe_names:
        component: Any = nlp.get_pipe(name)
        state: Any = srsly.msgpack_loads(component.to_bytes(exclude=["vocab"]))
        state["model"] = srsly.msgpack_loads(state["model"])
        state["model"] = with_weights(state["model"], np.float16)
        entry = {"config": dict(nlp.get_pipe_config(name)), "state": state}
        if "trees" in state:
            state["trees"] = _labelled_trees(state["trees"], component.cfg["labels"])
            entry["strings"] = _strings_of(state["trees"], nlp)
        components[name] = entry
    packed: bytes = srsly.msgpack_dumps({"components": components})
    return packed


def unpack(packed: Iterable[bytes]) -> Language:
    """One pipeline of packed parts, in the order given."""
    return build({name: each for part in packed for name, each in unpacked(part).items()})


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
