"""Mistakes of a small parser that the words of a sentence give away.

* "Siemens, which makes trains, hired Ann.": a relative pronoun just behind a name and a comma
  begins a relative clause of that name, whatever the parser says.
* "Ada, an engineer, lives in Rome.": a verb that is coordinated with a name, without a conjunction,
  has that name as its subject.
* "Ada works at Cisco and lives in Rome.": a verb is coordinated with a verb, not with a noun, and
  what stands behind it is its own.
"""

from __future__ import annotations

from bisect import insort
from typing import Final

from spacy.symbols import NOUN, PROPN, VERB

from recallm.syntax.tree import SentenceTree

__all__ = ["is_below", "mend", "move"]

_RELATIVES: Final = frozenset(("who", "which", "whose"))
_IN_NAMES: Final = ("flat", "compound")
_COMPLEMENTS: Final = frozenset(("obj", "obl", "advmod", "xcomp", "nmod"))


def mend(tree: SentenceTree) -> None:
    """Correct these mistakes."""
    for i in range(2, len(tree)):
        is_relative = tree.lowered[i] in _RELATIVES and tree.lowered[i - 1] == ","
        if is_relative and tree.tags[i - 2] == PROPN:
            _mend_relative(tree, i)
    for i, head in enumerate(tree.heads):
        if tree.tags[i] == PROPN and head < 0:
            _mend_root(tree, i)
        elif tree.tags[i] == PROPN and tree.bases[i] == "vocative":
            _mend_vocative(tree, i)
    for i in range(len(tree)):
        if tree.bases[i] == "conj" and tree.tags[i] == VERB:
            _mend_coordination(tree, i)


def _mend_relative(tree: SentenceTree, pronoun: int) -> None:
    verb = tree.heads[pronoun]
    if tree.lowered[pronoun] == "whose" and verb >= 0:
        verb = tree.heads[verb]
    name = pronoun - 2
    while tree.bases[name] in _IN_NAMES and 0 <= tree.heads[name] < pronoun:
        name = tree.heads[name]
    if verb < pronoun or tree.relations[verb] == "acl:relcl" or tree.tags[name] != PROPN:
        return
    head = tree.heads[verb]
    if tree.heads[name] == verb:
        move(tree, name, head, tree.relations[verb])
        for i in [i for i in tree.children[verb] if _follows_remark(tree, i)]:
            move(tree, i, name, "conj")
    elif head < 0 or is_below(tree, name, verb):
        return
    move(tree, verb, name, "acl:relcl")


def _mend_root(tree: SentenceTree, name: int) -> None:
    """Make a root that is a name the subject of the verb behind it."""
    children = tree.children[name]
    remarks = [i for i in children if tree.bases[i] in ("acl", "appos")]
    verbs = [i for i in children if remarks and i > remarks[0] and _follows_remark(tree, i)]
    if len(verbs) != 1 or any(tree.relations[i] in ("cop", "nsubj") for i in children):
        return
    [verb] = verbs
    for i in [i for i in children if i > verb]:
        move(tree, i, verb, tree.relations[i])
    tree.tags[verb] = VERB
    move(tree, verb, -1, "root")
    move(tree, name, verb, "nsubj")


def _mend_vocative(tree: SentenceTree, name: int) -> None:
    """Make a name with a remark behind it the subject of a finite verb that has none."""
    verb = tree.heads[name]
    has_remark = any(tree.bases[i] in ("acl", "appos") for i in tree.children[name])
    if has_remark and name < verb and _is_finite(tree, verb) and tree.child(verb, "nsubj") < 0:
        move(tree, name, verb, "nsubj")


def _mend_coordination(tree: SentenceTree, verb: int) -> None:
    noun = tree.heads[verb]
    first = noun
    while first >= 0 and tree.tags[first] in (NOUN, PROPN) and tree.child(first, "cop") < 0:
        first = tree.heads[first]
    if first < 0 or not _is_finite(tree, verb) or tree.child(verb, "cc") < 0:
        return
    behind = [
        i
        for head in {first, noun}
        for i in tree.children[head]
        if i > verb and tree.bases[i] in _COMPLEMENTS
    ]
    if first != noun and (behind or tree.children[verb][-1] > verb):
        move(tree, verb, first, "conj")
    if tree.heads[verb] == first:
        for i in behind:
            move(tree, i, verb, tree.relations[i])


def _is_finite(tree: SentenceTree, verb: int) -> bool:
    """Whether a verb has a form of its own that is no gerund."""
    return tree.tags[verb] == VERB and _has_ending(tree, verb)


def _has_ending(tree: SentenceTree, verb: int) -> bool:
    form = tree.lowered[verb]
    return form != tree.lemmas[verb].lower() and not form.endswith("ing")


def _follows_remark(tree: SentenceTree, verb: int) -> bool:
    """Whether a verb is coordinated without a conjunction and a subject, behind a comma."""
    children = tree.children[verb]
    # A tagger may take "lives" for a noun here.
    is_verb = tree.tags[verb] == VERB or (tree.tags[verb] == NOUN and _has_ending(tree, verb))
    if tree.bases[verb] != "conj" or not is_verb:
        return False
    if any(tree.bases[i] in ("cc", "nsubj") for i in children):
        return False
    words = [i for i in [*children, verb] if tree.words[i].is_word]
    return min(words) > 0 and tree.lowered[min(words) - 1] == ","


def is_below(tree: SentenceTree, token: int, head: int) -> bool:
    """Whether a token is another one, or hangs from it over any number of steps."""
    steps = 0
    while token >= 0 and steps <= len(tree):
        if token == head:
            return True
        token, steps = tree.heads[token], steps + 1
    return False


def move(tree: SentenceTree, token: int, head: int, relation: str) -> None:
    """Hang a token with all below it from another one (-1: from none)."""
    if (before := tree.heads[token]) >= 0:
        tree.children[before].remove(token)
    if head >= 0:
        insort(tree.children[head], token)
    tree.heads[token] = head
    tree.relations[token] = relation
    tree.bases[token] = relation.partition(":")[0]
