"""The two parts of the pipeline, as spaCy configurations.

``knowledge`` is what a knowledge update needs: tags, sentence starts, entities, and roles: the
relation of each word to its head, without the head. ``syntax`` is the parser and the lemmatizer.
Each part has a tok2vec of its own, so that one is loaded and run without the other.
"""

from __future__ import annotations

from typing import Any

from spacy.lang.en import English
from spacy.language import Language

from recallm.english.shipped import KNOWLEDGE, ROLES, SYNTAX

_WIDTH = 96
_ROWS = {"NORM": 10_000, "PREFIX": 500, "SUFFIX": 5000, "SHAPE": 2000}


def _tok2vec(rows: dict[str, int]) -> dict[str, Any]:
    return {
        "@architectures": "spacy.Tok2Vec.v2",
        "embed": {
            "@architectures": "spacy.MultiHashEmbed.v2",
            "width": _WIDTH,
            "attrs": list(rows),
            "rows": list(rows.values()),
            "include_static_vectors": False,
        },
        "encode": {
            "@architectures": "spacy.MaxoutWindowEncoder.v2",
            "width": _WIDTH,
            "depth": 4,
            "window_size": 1,
            "maxout_pieces": 3,
        },
    }


def _listener(upstream: str) -> dict[str, Any]:
    return {
        "@architectures": "spacy.Tok2VecListener.v1",
        "width": _WIDTH,
        "upstream": upstream,
    }


def _tagger(upstream: str) -> dict[str, Any]:
    return {"@architectures": "spacy.Tagger.v2", "nO": None, "tok2vec": _listener(upstream)}


def _transitions(upstream: str, state_type: str, *, hidden: int, tokens: bool) -> dict[str, Any]:
    return {
        "@architectures": "spacy.TransitionBasedParser.v2",
        "state_type": state_type,
        "extra_state_tokens": tokens,
        "hidden_width": hidden,
        "maxout_pieces": 2,
        "use_upper": True,
        "nO": None,
        "tok2vec": _listener(upstream),
    }


def blank_part(part: str) -> Language:
    """An untrained pipeline with the components of `part` (`KNOWLEDGE` or `SYNTAX`)."""
    nlp = English()
    if part == KNOWLEDGE:
        nlp.add_pipe("tok2vec", config={"model": _tok2vec(_ROWS)})
        nlp.add_pipe("morphologizer", config={"model": _tagger("tok2vec"), "overwrite": True})
        nlp.add_pipe("senter", config={"model": _tagger("tok2vec"), "overwrite": True})
        nlp.add_pipe("tagger", name=ROLES, config={"model": _tagger("tok2vec"), "overwrite": True})
        nlp.add_pipe(
            "ner",
            config={"model": _transitions("tok2vec", "ner", hidden=64, tokens=False)},
        )
        return nlp
    if part == SYNTAX:
        upstream = "syntax_tok2vec"
        nlp.add_pipe("tok2vec", name=upstream, config={"model": _tok2vec(_ROWS)})
        nlp.add_pipe(
            "parser",
            config={"model": _transitions(upstream, "parser", hidden=64, tokens=False)},
        )
        nlp.add_pipe(
            "trainable_lemmatizer",
            name="lemmatizer",
            config={"model": _tagger(upstream), "min_tree_freq": 3, "top_k": 3, "overwrite": True},
        )
        return nlp
    raise ValueError(f"no part {part!r}: {KNOWLEDGE!r} or {SYNTAX!r}")
