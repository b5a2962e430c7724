"""The facts of a sentence: what the sentence states, as ⟨subject, predicate, object⟩.

``clauses`` reads the clauses of a sentence's tree, ``drafts`` what they and the noun phrases state,
as tokens; ``facts_of_triplets`` makes facts of these. Here drafts are written, and get their
confidence; the ends of facts get what they are called: whole names, whole noun phrases, and
relatives by their owner. "Ada was promoted to head of sales" is about "head of sales", "my son" of
a user is "son of user", each time the same entity. A pronoun, and a noun phrase that refers to
somebody named before, stand for the concept that they refer to.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Final

from spacy.symbols import ADP, ADV, AUX, DET, NOUN, NUM, PRON, PROPN

from recallm.english.syntax.clauses import read_clauses
from recallm.english.syntax.confidence import confidence
from recallm.english.syntax.drafts import Draft, of_clause, of_noun
from recallm.english.syntax.facts_of_triplets import fact_drafts
from recallm.english.syntax.modality import REPORTING
from recallm.english.syntax.name_phrases import mend_names, name_around
from recallm.english.syntax.phrases import noun_phrase, preposition
from recallm.english.syntax.tree import WORDS, SentenceTree
from recallm.english.syntax.trust import trusted
from recallm.model import Adjunct, ConceptMention, Mark, OpenTriplet

if TYPE_CHECKING:
    from recallm.english.pipeline import TaggedText

ConceptAt = Callable[[int], ConceptMention | None]
"""The concept that a token of a text stands for, pronouns resolved; None if it stands for none."""

_MOST_COMBINED: Final = 60
"""Triplets of one clause whose subject and object are coordinations."""

_CLOSED: Final = frozenset((ADP, AUX, DET, PRON))
_NAME_PARTS: Final = frozenset(("flat", "compound", "nmod", "amod"))
_LONGEST: Final = 80
"""Characters of an end that is no single concept."""

_LONGEST_TITLE: Final = 12
"""Tokens before and behind the head."""

_MODIFIERS: Final = frozenset(("amod", "compound", "nummod", "nmod:desc"))
_INSIDE: Final = frozenset(("of", "for"))
_INSIDE_OBJECTS: Final = _INSIDE | {"about", "on", "to", "in", "with", "by", "between", "behind"}
"""Prepositions of phrases that belong to an end: "head of sales", "a trip to Oslo"."""


_WITH_SOME: Final = {"to": "ways", "in": "fields"}
"""Those that do so behind some nouns alone: "a trip to Oslo", "a degree in law"."""


def facts_in(
    tagged: TaggedText,
    span: tuple[int, int],
    *,
    position: int = 0,
    in_long_message: bool = False,
    concept_at: ConceptAt = lambda _: None,
) -> list[OpenTriplet]:
    """The facts of a sentence: triplets in the form in which the graph keeps them.

    ``tagged`` is a text with a parse, ``span`` the sentence's (first token, last + 1), ``position``
    that of its statement. ``in_long_message``: the sentence stands in a long or pasted message of
    a chat. ``concept_at`` takes a token's place in the text. A verb without an object gives a
    triplet whose object is empty. Nothing is read out of a text without a parse.
    """
    if tagged.tree is None or span[0] >= span[1]:
        return []
    tree = SentenceTree(tagged, tagged.tree, span)
    if _is_foreign(tree):
        return []
    read = drafts(tree)
    return [
        replace(
            fact,
            confidence=trusted(tree, draft, fact.confidence, in_long_message=in_long_message),
            position=position,
            subject_concept=_end(tree, draft.subject_head, concept_at),
            object_concept=_end(tree, draft.object_head, concept_at, _INSIDE_OBJECTS),
        )
        for draft in fact_drafts(tree, read)
        if draft.subject  # the parser may take punctuation for a subject
        for fact in (written(tree, draft, len(read)),)
    ]


def _is_foreign(tree: SentenceTree) -> bool:
    """Whether a sentence is of another language, whose words the tagger takes for names."""
    names = sum(
        tag == PROPN and not word.is_capitalised
        for tag, word in zip(tree.tags, tree.words, strict=True)
    )
    return bool(names > 2 * max(1, sum(tag in _CLOSED for tag in tree.tags)))


def drafts(tree: SentenceTree) -> list[Draft]:
    """The triplets of a sentence, as tokens. Mistakes of the parser are mended in ``tree``."""
    mend_names(tree)
    _mend_objects(tree)
    found: list[Draft] = []
    for clause in read_clauses(tree):
        found += islice(of_clause(tree, clause), _MOST_COMBINED)
    for i in range(len(tree)):
        if tree.children[i]:
            found += of_noun(tree, i)
    return found


def _mend_objects(tree: SentenceTree) -> None:
    """Give a bare object the phrase behind the object that says which one, if the parser hangs the
    phrase from the verb: "a course on algebra", "a gift for my sister"."""
    for noun, tag in enumerate(tree.tags[:-2]):
        if tag != NOUN or tree.bases[noun] not in ("obj", "obl"):
            continue
        modifiers = [tree.lowered[i] for i in tree.children[noun] if tree.bases[i] != "case"]
        within, which = noun + 1, tree.heads[noun + 1]
        is_behind = tree.bases[within] == "case" and which > within
        if not is_behind or modifiers not in (["a"], ["an"], ["the"]):
            continue
        is_sibling = tree.relations[which] == "obl" and tree.heads[which] == tree.heads[noun]
        is_time = tree.is_time(which) or tree.words[which].marks & Mark.DIGITS
        if is_sibling and not is_time and _says_which(tree, noun, which):
            tree.move(which, noun, "nmod")


def _says_which(tree: SentenceTree, noun: int, which: int) -> bool:
    """Whether the phrase behind a noun belongs to the noun: "a book by Murakami", not "a table by
    phone"; "a course on algebra", not "a lamp on the table"; "a gift for my sister", not "a friend
    for coffee"; "a book about trains", not "tell a friend about the exam"."""
    case, is_name = tree.lowered[noun + 1], bool(tree.tags[which] == PROPN)
    is_owned = tree.child(which, "nmod:poss") >= 0
    if case == "by":
        return is_name
    if case == "for":
        return is_name or is_owned
    if case == "on":
        return not is_name and not is_owned and tree.child(which, "det") < 0
    is_person = tree.is_relative(noun) or tree.base_form(tree.heads[noun]) in REPORTING
    return case in ("about", "of") and not is_person


def written(tree: SentenceTree, draft: Draft, others: int) -> OpenTriplet:
    """A draft of a sentence with ``others`` drafts as a triplet."""
    return OpenTriplet(
        subject=tree.text(draft.subject),
        predicate=draft.words or tree.text(draft.predicate),
        object=tree.text(draft.object),
        relation=draft.relation,
        adjuncts=tuple(
            Adjunct(kind, tree.text(case).lower(), tree.text(tokens))
            for kind, case, tokens in draft.adjuncts
            if tokens
        ),
        negated=draft.negated,
        modality=draft.modality,
        confidence=confidence(tree, draft, others),
        object_value=draft.value,
        said_by=_reporter(tree, draft),
    )


def _reporter(tree: SentenceTree, draft: Draft) -> str:
    """Who reports what a clause states: "Paul says he hates olives"; empty for the speaker."""
    clause = draft.clause
    if clause is None or clause.parent is None or clause.relation != "ccomp":
        return ""
    names = [tree.text(noun_phrase(tree, phrase.head)) for phrase in clause.parent.subjects]
    reports = tree.base_form(clause.parent.head) in REPORTING
    return ", ".join(name for name in names if reports and name.lower() not in ("i", "we"))


def _concept(tree: SentenceTree, head: int, concept_at: ConceptAt) -> ConceptMention | None:
    """The concept of a phrase's head, or of the words of its name."""
    concept = concept_at(tree.first + head)
    if concept is None:
        for i in reversed(tree.children[head]):
            if tree.bases[i] in _NAME_PARTS and (concept := concept_at(tree.first + i)):
                return concept
    return concept


def _end(
    tree: SentenceTree, head: int, concept_at: ConceptAt, inside: frozenset[str] = _INSIDE
) -> ConceptMention | None:
    """What the phrase with this head is called, with the phrases behind the prepositions ``inside``
    that belong to its noun; None where there is no phrase, where it names
    nothing, and for a relative whose owner is unknown. A phrase of several words is no concept of
    its statement, and has no key yet."""
    concept = _concept(tree, head, concept_at) if head >= 0 else None
    if head < 0 or (concept is not None and concept.reference is not None):
        return concept
    names = (_code(tree, head), tree.text(name_around(tree, head)))
    label = _title(tree, head) or max(names, key=len)
    owner = tree.child(head, "nmod:poss")
    is_owner = 0 <= owner < head and tree.tags[owner] in (PROPN, NOUN)
    if is_owner and not (tree.is_relative(owner) or tree.is_relative(head)):
        # "Hwang's Kitchen", "Tolkien's books", "driver's license"
        label = tree.text(range(min(name_around(tree, owner), default=owner), head + 1))
    if not label and _is_named_by_noun(tree, head, concept):
        label = tree.text(_whole(tree, head, inside)).replace('"', "")
        if owner >= 0 and (tree.is_relative(head) or tree.is_relative(owner)):
            bearer = _end(tree, owner, concept_at)
            if bearer is None:
                return None
            label = f"{label} of {bearer.label}"
    if len(label) <= len(concept.label if concept else "") or len(label) > _LONGEST:
        return concept
    return ConceptMention(name="", label=label, kind="entity")


def _is_named_by_noun(tree: SentenceTree, head: int, concept: ConceptMention | None) -> bool:
    """Whether a phrase names something: by a noun, or by a word in the place of one that the tagger
    does not know ("I hate cilantro"), or by a gerund ("I like swimming")."""
    word = tree.words[head]
    if concept is not None:
        is_name = tree.tags[head] == PROPN and word.is_capitalised
        return not is_name and tree.tags[head] not in (PRON, NUM)
    if not word.is_word or word.marks & (Mark.PRONOUN | Mark.COUNT | Mark.NUMERAL):
        return False
    is_gerund = tree.bases[head] == "xcomp" and word.lowered.endswith("ing")
    modifiers = [i for i in tree.children[head] if tree.bases[i] not in ("cc", "punct")]
    is_alone = not modifiers or tree.tags[head] == NOUN
    return is_alone and (is_gerund or tree.bases[head] in ("obj", "obl", "conj"))


def _code(tree: SentenceTree, head: int) -> str:
    """The code that a token is a part of: "tulip-49-lamp". A full stop at its end is the
    sentence's."""
    together = tree.written_together(head)
    text = tree.text(together) if len(together) > 1 else ""
    is_name = tree.tags[head] == PROPN
    is_code = "-" in text and (is_name or any(character.isdigit() for character in text))
    return text.removesuffix(".") if is_code else ""


def _title(tree: SentenceTree, head: int) -> str:
    """The words between quotation marks that a token stands among, without the marks."""
    before = [i for i in tree.quotes if i <= head]
    behind = [i for i in tree.quotes if i >= head]
    if not behind or len(before) % 2 == 0:
        return ""
    first, last = before[-1], behind[0]
    is_near = head - first < _LONGEST_TITLE and last - head < _LONGEST_TITLE
    return tree.text(range(first + 1, last)).strip(" ,.") if is_near else ""


def _is_inside(tree: SentenceTree, noun: int, inside: frozenset[str]) -> bool:
    """Whether a phrase behind a noun says what that is: "a trip to Oslo", not "my eggs to Ann"."""
    case = tree.text(preposition(tree, noun)).lower()
    if case == "of":
        return True
    noun_before = tree.lowered[tree.heads[noun]]
    if case in _WITH_SOME and noun_before not in WORDS[_WITH_SOME[case]]:
        return False
    is_nominal = tree.relations[noun] == "nmod" and tree.tags[noun] != PRON
    is_time = tree.is_time(noun) or tree.words[noun].marks & Mark.DIGITS
    return is_nominal and case in inside and not is_time


def _whole(tree: SentenceTree, head: int, inside: frozenset[str]) -> list[int]:
    """The tokens of a noun phrase without articles, owners and what only says where or when."""
    outside = [
        i
        for i in noun_phrase(tree, head)
        if not (
            _is_inside(tree, i, inside)
            if tree.relations[i] == "nmod" or (tree.heads[i], tree.relations[i]) == (head, "obl")
            else tree.heads[i] != head or tree.relations[i] in _MODIFIERS
        )
    ]
    tokens = noun_phrase(tree, head, outside)
    # The head is not among the tokens where the parser took a bracket for a noun.
    while (
        len(tokens) > 1
        and tokens[0] != head
        and (tree.words[tokens[0]].marks & Mark.EDGE or tree.bases[tokens[0]] == "cc")
    ):
        tokens = tokens[1:]
    while len(tokens) > 1 and tokens[-1] != head and tree.tags[tokens[-1]] == ADV:
        tokens = tokens[:-1]
    return tokens
