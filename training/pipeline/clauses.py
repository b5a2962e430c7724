"""Statements of several clauses made of templates: what a parser must tell apart.

A tagger needs none of them: it reads the words around each word.
"""

from __future__ import annotations

from random import Random
from typing import Literal

from training.pipeline.declaratives import Number, StatementMaker, present
from training.pipeline.lexicon import Draw, WordLists
from training.pipeline.names import NameSource
from training.pipeline.nodes import Node, function_word, punctuation

_SAYING = (
    *(("say", "says", "said"), ("think", "thinks", "thought"), ("know", "knows", "knew")),
    *(("hope", "hopes", "hoped"), ("believe", "believes", "believed"), ("hear", "hears", "heard")),
)
_SUBORDINATORS = ("because", "when", "if", "while", "since", "although", "before", "after")
_Relative = Literal["who", "which", "that"]


class ClauseMaker(StatementMaker):
    """Makes short statements and, as often, statements of several clauses."""

    def __init__(self, lists: WordLists, names: NameSource, random: Random) -> None:
        super().__init__(lists, names, random)
        self._short_kinds = self._kinds
        self._kinds = Draw(
            {
                self._short: 45,
                self._two_predicates: 14,
                self._two_clauses: 12,
                self._saying: 5,
                self._described_subject: 17,
                self._described_object: 7,
            }
        )

    def _short(self) -> Node:
        return self._short_kinds(self._random)()

    def _two_predicates(self) -> Node:
        """Two verbs of one subject: Bob is a nurse and lives in Cork."""
        subject, number = self._subject()
        of_verb = self._chance(0.75)
        root = self._verbal(subject, number) if of_verb else self._copular(subject, number)
        second = self._without_its_subject(number)
        second.dep = "conj"
        joined = "but" if self._chance(0.15) else "and"
        second.before.insert(0, function_word(joined, "CCONJ", "cc"))
        root.after.append(second)
        return root

    def _two_clauses(self) -> Node:
        """Two subjects: Ann lives in Porto and Bob lives in Rome. Ann left because it rained."""
        root, second = self._clause(), self._clause()
        if self._chance(0.6):
            second.dep = "conj"
            joined = function_word(self._random.choice(("and", "and", "but")), "CCONJ", "cc")
        else:
            second.dep = "advcl"
            joined = function_word(self._random.choice(_SUBORDINATORS), "SCONJ", "mark")
        second.before.insert(0, joined)
        if self._chance(0.35):
            second.before.insert(0, punctuation(","))
        if second.dep == "advcl" and self._chance(0.3) and joined is second.before[0]:
            second.after.append(punctuation(","))
            root.before.insert(0, second)
        else:
            root.after.append(second)
        return root

    def _saying(self) -> Node:
        """A clause that somebody says: Ann thinks that Bob lives in Rome."""
        subject, number = self._subject()
        base, third, past = self._random.choice(_SAYING)
        now = third if number == "singular" else base
        form = past if self._chance(0.4) else now
        root = Node(form=form, upos="VERB", lemma=base)
        inner = self._clause()
        inner.dep = "ccomp"
        if self._chance(0.5):
            inner.before.insert(0, function_word("that", "SCONJ", "mark"))
        root.before.append(subject)
        root.after.append(inner)
        return root

    def _described_subject(self) -> Node:
        """A subject with a description: Ada, who works at Cisco, lives in Rome."""
        subject, number = self._subject()
        while subject.upos == "PRON" or any(child.dep == "conj" for child in subject.after):
            subject, number = self._subject()
        self._describe(subject, number, last=False)
        make = self._verbal if self._chance(0.75) else self._copular
        return make(subject, number)

    def _described_object(self) -> Node:
        """A description at the end: I met Ada, an engineer from Porto."""
        root = self._clause()
        last = root.after[-1] if root.after else root
        if last.upos in {"NOUN", "PROPN"} and last.dep in {"obj", "obl"} and not last.after:
            plural = last.upos == "NOUN" and last.form != last.lemma
            self._describe(last, "plural" if plural else "singular", last=True)
        return root

    def _clause(self) -> Node:
        return self._copula() if self._chance(0.2) else self._plain()

    def _without_its_subject(self, number: Number) -> Node:
        """A predicate whose subject is another verb's."""
        verb, frame = self._verb()
        if self._chance(0.75):
            root = self._verb_node(present(verb, number), verb)
        else:
            root = self._verb_node(verb.past or present(verb, number), verb)
        self._complements(root, frame)
        self._setting(root)
        return root

    # Descriptions of a noun or a name.

    def _describe(self, node: Node, number: Number, *, last: bool) -> None:
        """Append a description to `node`; `last`: nothing but a full stop follows."""
        is_name = node.upos == "PROPN"
        is_person = node.entity == "B-PER"
        chance = self._random.random()
        apart = is_name or self._chance(0.4)
        if chance < 0.25:
            description, apart = self._apposition(number), True
        elif chance < 0.6:
            who: _Relative = "who" if is_person or (not is_name and self._chance(0.4)) else "which"
            description = self._relative(number, who if apart or self._chance(0.5) else "that")
        elif chance < 0.72:
            description = self._whose()
        elif chance < 0.85 and not is_name:
            description, apart = self._object_relative(), False
        else:
            description = self._participle()
        if apart:
            description.before.insert(0, punctuation(","))
            if not last:
                description.after.append(punctuation(","))
        node.after.append(description)

    def _apposition(self, number: Number) -> Node:
        """Like: an engineer at Cisco."""
        node = self._noun_phrase(plural=number == "plural", plain=False)
        node.dep = "appos"
        if self._chance(0.6):
            inner = self._organisation() if self._chance(0.4) else self._place()
            node.after.append(
                self._with_case(self._random.choice(("at", "from", "in", "of")), inner, "nmod")
            )
        return node

    def _relative(self, number: Number, relative: _Relative) -> Node:
        """Like: who works at Cisco."""
        verb, frame = self._verb()
        root = self._finite(verb, number)
        root.before.insert(0, function_word(relative, "PRON", "nsubj"))
        root.dep = "acl:relcl"
        self._complements(root, frame)
        return root

    def _whose(self) -> Node:
        """Like: whose brother lives in Rome."""
        noun = self._lists.nouns(self._random)
        subject = Node(form=noun.singular, upos="NOUN", lemma=noun.singular, dep="nsubj")
        subject.before.append(function_word("whose", "PRON", "nmod:poss"))
        make = self._verbal if self._chance(0.75) else self._copular
        root = make(subject, "singular")
        root.dep = "acl:relcl"
        return root

    def _object_relative(self) -> Node:
        """Like: that Ann baked."""
        verb, frame = self._verb()
        while not frame.object:
            verb, frame = self._verb()
        subject, number = self._subject()
        root = self._finite(verb, number)
        root.before.insert(0, subject)
        if self._chance(0.6):
            root.before.insert(0, function_word("that", "PRON", "obj"))
        root.dep = "acl:relcl"
        return root

    def _participle(self) -> Node:
        """Like: born in Malaga."""
        if self._chance(0.25):
            root = Node(form="born", upos="VERB", lemma="bear", dep="acl")
            root.after.append(self._with_case("in", self._place(), "obl"))
            return root
        verb, frame = self._verb("participle")
        root = self._verb_node(verb.participle, verb, "acl")
        if self._chance(0.35):
            root.after.append(self._with_case("by", self._any_name(), "obl:agent"))
        else:
            self._complements(root, frame._replace(object="", infinitive=False))
        return root
