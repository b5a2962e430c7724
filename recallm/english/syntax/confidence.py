"""How sure an open triplet and a fact are: boosted regression trees over features of how a sentence
states them, fitted by ``training/triplets``: the former on CaRB, the latter on marked messages."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from math import exp, log1p
from typing import Final, NamedTuple

from spacy.symbols import NOUN, PRON, PROPN, VERB

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
_CLAUSES: Final = frozenset(("ccomp", "advcl", "acl", "xcomp", "parataxis", "conj"))
_DEEPEST: Final = 5
_LEAST: Final = 0.01


def confidence(tree: SentenceTree, draft: Draft, others: int) -> float:
    """How well an open triplet agrees with what people find (0 to 1) in a sentence with ``others``
    drafts."""
    return _bounded(_OPEN.value(features(tree, draft, others)))


def fact_confidence(tree: SentenceTree, draft: Draft, others: int) -> float:
    """The probability (0 to 1) that a fact of a sentence with ``others`` drafts is right."""
    return _bounded(1 / (1 + exp(-_FACT.value(fact_features(tree, draft, others)))))


def _bounded(value: float) -> float:
    return round(min(max(value, _LEAST), 1 - _LEAST), 4)


_KEPT: Final = ("place in sentence", "sentence length", "share of sentence", "drafts", "gerund")
"""Features of open triplets that facts have, too."""


def fact_features(tree: SentenceTree, draft: Draft, others: int) -> dict[str, float]:
    """The features of a fact by name. Where the tagger and the parser, which have nothing in
    common, read a sentence in two ways, the facts of that sentence are less sure."""
    found = features(tree, draft, others)
    clause, subject, head = draft.clause, draft.subject_head, draft.object_head
    tokens = [*draft.subject, *draft.object, *draft.predicate, subject]
    tokens += [head] * (head >= 0) + ([clause.head] if clause is not None else [])
    below = tree.children[head] if head >= 0 else []
    return {name: found.get(name, 0) for name in _KEPT} | {
        "agreement": _bounded(_OPEN.value(found)),
        "roles agree": sum(tree.agrees) / len(tree),
        "roles differ": tree.agrees[min(tokens) : max(tokens) + 3].count(False),
        "before object's head": sum(i < head for i in draft.object),
        "behind object's head": sum(i > head for i in draft.object),
        "determined": any(tree.bases[i] == "det" or "poss" in tree.relations[i] for i in below),
        "clauses": sum(
            tag == VERB and base in _CLAUSES
            for tag, base in zip(tree.tags, tree.bases, strict=True)
        ),
        "first person": tree.lowered[subject] in ("i", "we"),
        "common subject": tree.tags[subject] == NOUN and not tree.is_relative(subject),
        "own subject": clause is None or clause.own_subject,
        "open clause": clause is not None and tree.bases[clause.head] == "xcomp",
    }


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


def read_model(name: str) -> TreeModel:
    """A model that is shipped.

    Raises:
        OSError: there is no such file.
    """
    path = files("recallm.english.syntax").joinpath("data", f"{name}.json")
    content = json.loads(path.read_text(encoding="utf-8"))
    return TreeModel(content["base"], content["features"], content["trees"])


_OPEN: Final = read_model("confidence")
_FACT: Final = read_model("fact_confidence")
