"""How sure a triplet is: boosted regression trees over features of its construction, fitted on
CaRB by ``training/triplets``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from math import log1p
from typing import Final, NamedTuple

from spacy.symbols import PRON, PROPN, VERB

from recallm.english.syntax.drafts import Draft
from recallm.english.syntax.phrases import Clause
from recallm.english.syntax.tree import QUOTES, SentenceTree
from recallm.model import Mark

Node = float | list["int | float | Node"]
"""A leaf's value, or [place of a feature, threshold, node up to it, node above it]."""


class TreeModel(NamedTuple):
    """Regression trees over ``names`` of features, whose values add up with ``base``."""

    base: float
    names: Sequence[str]
    trees: Sequence[Node]

    def value(self, values: Mapping[str, float]) -> float:
        """The sum of the trees' leaves for the values of features."""
        row = [values.get(name, 0) for name in self.names]
        total = self.base
        for node in self.trees:
            while isinstance(node, list):
                place, threshold, below, above = node
                node = below if row[place] <= threshold else above  # type: ignore[index,operator]
            total += node
        return total


_MODALITIES: Final = frozenset(("", "if", "to", "question", "will", "would", "may", "can", "could"))
_DEEPEST: Final = 5
_LEAST: Final = 0.01


def confidence(tree: SentenceTree, draft: Draft, others: int) -> float:
    """The probability (0 to 1) that a sentence with ``others`` drafts states this one."""
    value = _MODEL.value(features(tree, draft, others))
    return round(min(max(value, _LEAST), 1 - _LEAST), 4)


def features(tree: SentenceTree, draft: Draft, others: int) -> dict[str, float]:
    """The features of a draft by name; absent ones are 0. Lengths are logarithms of tokens."""
    clause = draft.clause
    adjuncts = [i for _, case, text in draft.adjuncts for i in (*case, *text)]
    tokens = [*draft.subject, *draft.object, *draft.predicate, *adjuncts]
    subject = draft.subject_head
    found: dict[str, float] = {
        draft.construction: 1,
        "subject length": log1p(len(draft.subject)),
        "object length": log1p(len(draft.object)),
        "predicate length": log1p(len(draft.predicate)),
        "adjunct length": log1p(len(adjuncts)),
        "length": log1p(len(tokens)),
        "share of sentence": len(tokens) / len(tree),
        "sentence length": log1p(len(tree)),
        "drafts": log1p(others),
        "adjuncts": len(draft.adjuncts),
        "pronoun subject": tree.tags[subject] == PRON,
        "name subject": tree.tags[subject] == PROPN,
        "subject begins": bool(draft.subject) and draft.subject[0] == 0,
        "subject gap": bool(draft.subject)
        and draft.subject[-1] - draft.subject[0] + 1 > len(draft.subject),
    }
    if draft.object_head >= 0:
        tag = tree.tags[draft.object_head]
        found["pronoun object"] = tag == PRON
        found["name object"] = tag == PROPN
    _add_contents(tree, draft, tokens, found)
    if clause is None:
        found[f"length of {draft.construction}"] = found["length"]
        names = f"{found['name subject']:d}{found.get('name object', 0):d}"
        found[f"names {names} of {draft.construction}"] = 1
        found[f"pronoun of {draft.construction}"] = found["pronoun subject"]
    else:
        _add_clause(tree, draft, clause, found)
    return found


def _add_contents(
    tree: SentenceTree, draft: Draft, tokens: Sequence[int], found: dict[str, float]
) -> None:
    """Features of the words inside of the arguments."""
    words = [tree.lowered[i] for i in tokens]
    found["commas"] = words.count(",") / 3
    found["quotes"] = any(word in QUOTES for word in words)
    found["breaks"] = any(word in (":", ";", "--", "-") for word in words)
    found["verb in subject"] = any(tree.tags[i] == VERB for i in draft.subject)
    found["verb in object"] = any(tree.tags[i] == VERB for i in draft.object)
    for kind, _, text in draft.adjuncts:
        found[f"{kind} adjunct"] = 1
        found["longest adjunct"] = max(found.get("longest adjunct", 0), len(text) / 10)


def _add_clause(tree: SentenceTree, draft: Draft, clause: Clause, found: dict[str, float]) -> None:
    """Features of the clause that states a draft."""
    head, subject = clause.head, draft.subject_head
    base = tree.bases[head]
    depth, above = 0, clause.parent
    while above is not None and depth < _DEEPEST:
        depth, above = depth + 1, above.parent
    place = draft.construction.rpartition(" ")[2]
    owner = "own" if clause.own_subject else "other's"
    modality = draft.modality if draft.modality in _MODALITIES else "other"
    found |= {
        f"clause {clause.relation}": 1,
        f"{place} of {base}": 1,
        f"{owner} subject of {base}": 1,
        f"{owner} subject length": found["subject length"],
        f"modality {modality}": 1,
        "negated": draft.negated,
        "governed": len(clause.governors),
        "depth": depth / 3,
        "auxiliaries": bool(clause.auxiliaries),
        "verb tag": tree.tags[head] == VERB,
        "gerund": tree.lowered[head].endswith("ing"),
        "past": bool(tree.words[head].marks & Mark.PAST),
        "subject distance": log1p(abs(head - subject)),
        "subject behind": subject > head,
        "object distance": log1p(abs(draft.object[0] - head)) if draft.object else 0,
        "place in sentence": head / len(tree),
        "antecedent subject": any(phrase.is_antecedent for phrase in clause.subjects),
        "subjects": len(clause.subjects) > 1,
        "objects": len(clause.objects),
        "subordinate": len(clause.subordinate),
    }
    if found["pronoun subject"]:
        found[f"pronoun subject of {base}"] = 1


def read_model(text: str) -> TreeModel:
    """A model of a file in JSON."""
    content = json.loads(text)
    return TreeModel(content["base"], content["features"], content["trees"])


_MODEL: Final = read_model(
    files("recallm.english.syntax").joinpath("data/confidence.json").read_text(encoding="utf-8")
)
