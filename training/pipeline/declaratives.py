"""Short statements made of templates, with tags, relations and trees.

The treebanks hold few sentences such as "Ingrid lives in Malaga." A tagger trained on them alone
takes a verb in the present for a noun where the sentence is short. The statements are grammatical,
and mostly make no sense; each verb has an object or a complement that it had in the treebanks.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Literal

from training.pipeline.lexicon import PERSON, PLACE, Draw, Frame, Noun, Verb, WordLists
from training.pipeline.names import NameSource
from training.pipeline.nodes import Node, function_word, negated, punctuation, words_of
from training.pipeline.treebank import Sentence

Number = Literal["first", "singular", "plural"]
"""Of a subject; "first": the pronoun "I", which takes forms of its own."""

_PRONOUNS: Draw[tuple[str, str, Number]] = Draw(
    {
        ("I", "me", "first"): 5,
        ("you", "you", "plural"): 1,
        ("we", "us", "plural"): 2,
        ("they", "them", "plural"): 2,
        ("he", "him", "singular"): 3,
        ("she", "her", "singular"): 3,
        ("it", "it", "singular"): 1,
    }
)
_POSSESSIVES = ("my", "my", "my", "your", "our", "their", "his", "her", "its")
_DETERMINERS = ("the", "the", "the", "a", "a", "this", "that", "some", "every", "no", "each")
_PLURAL_DETERMINERS = ("the", "the", "these", "those", "some", "all", "many")
_NUMBERS = (
    *("two", "three", "four", "five", "six", "ten", "twelve"),
    *("2", "3", "8", "15", "40", "200"),
)
_PLACES = ("in", "in", "in", "near", "at", "on", "behind", "under", "from", "with")
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "October")
_UNITS = ("day", "week", "month", "year", "morning", "evening", "night", "summer", "winter")
_MODALS = ("can", "will", "would", "should", "must", "may", "might", "could")
_BE = {"first": ("am", "was"), "singular": ("is", "was"), "plural": ("are", "were")}


def declaratives(maker: StatementMaker, count: int) -> list[Sentence]:
    """`count` statements of `maker`. Four in a row stand in one document."""
    return [
        Sentence(words=words_of(maker.statement()), document=f"declaratives-{index // 4}")
        for index in range(count)
    ]


class StatementMaker:
    """Makes statements out of word lists and names, by chance."""

    def __init__(self, lists: WordLists, names: NameSource, random: Random) -> None:
        self._lists = lists
        self._names = names
        self._random = random
        self._kinds: Draw[Callable[[], Node]] = Draw(
            {
                self._plain: 60,
                self._two_verbs: 4,
                self._passive: 3,
                self._copula: 14,
                self._there_is: 2,
                self._imperative: 6,
                self._without_subject: 4,
                self._phrase: 4,
            }
        )

    def statement(self) -> Node:
        """The root of one statement."""
        root = self._kinds(self._random)()
        root.after.append(punctuation("!" if self._chance(0.07) else "."))
        if self._chance(0.02):
            opening = self._random.choice(("well", "yes", "no", "oh", "ok", "hey", "lol"))
            node = function_word(opening, "INTJ", "discourse")
            node.after.append(punctuation(","))
            root.before.insert(0, node)
        return root

    # Statements.

    def _plain(self) -> Node:
        """A subject, a verb, and what belongs to it: Ingrid lives in Malaga."""
        return self._verbal(*self._subject())

    def _verbal(self, subject: Node, number: Number) -> Node:
        if self._chance(0.07):
            verb = self._lists.infinitive_verbs(self._random)
            frame = Frame(infinitive=True)
        else:
            verb, frame = self._verb()
        root = self._finite(verb, number)
        root.before.insert(0, subject)
        self._complements(root, frame)
        self._setting(root)
        return root

    def _two_verbs(self) -> Node:
        """Two verbs of one subject: Ann sings and dances."""
        subject, number = self._subject()
        verb, _ = self._verb()
        other, frame = self._verb()
        root = self._verb_node(present(verb, number), verb)
        second = self._verb_node(present(other, number), other, "conj")
        second.before.append(function_word("and", "CCONJ", "cc"))
        self._complements(second, frame)
        root.before.append(subject)
        root.after.append(second)
        return root

    def _passive(self) -> Node:
        """A passive: The cake was eaten by Ann."""
        subject, number = self._subject()
        verb, frame = self._verb("participle")
        subject.dep = "nsubj:pass"
        root = self._verb_node(verb.participle, verb)
        be = function_word(self._random.choice(_BE[number]), "AUX", "aux:pass", "be")
        root.before.extend((subject, be))
        if self._chance(0.4):
            root.after.append(self._with_case("by", self._any_name(), "obl:agent"))
        else:
            self._complements(root, frame._replace(object="", infinitive=False))
        return root

    def _copula(self) -> Node:
        """A copula: Ann is happy. Ann is a nurse. Ann is in Rome."""
        return self._copular(*self._subject())

    def _copular(self, subject: Node, number: Number) -> Node:
        chance = self._random.random()
        if chance < 0.5:
            form = self._lists.predicates(self._random)
            root = Node(form=form, upos="ADJ", lemma=form)
            if self._chance(0.3):
                adverb = self._random.choice(("very", "so", "too", "really", "quite", "always"))
                root.before.append(function_word(adverb, "ADV", "advmod"))
        elif chance < 0.8:
            root = self._noun_phrase(plural=number == "plural")
            if self._chance(0.3):
                root.after.append(self._with_case("of", self._any_name(), "nmod"))
        else:
            place = self._place() if self._chance(0.5) else self._noun_phrase()
            root = self._with_case(self._random.choice(_PLACES), place, "")
        present, past = _BE[number]
        be = function_word(past if self._chance(0.3) else present, "AUX", "cop", "be")
        not_ = [function_word("not", "PART", "advmod")] if self._chance(0.08) else []
        root.before[:0] = [subject, be, *not_]
        return root

    def _there_is(self) -> Node:
        """What exists: There is a bank near Oslo."""
        plural = self._chance(0.4)
        form = self._random.choice(_BE["plural" if plural else "singular"])
        root = Node(form=form, upos="VERB", lemma="be")
        root.before.append(function_word("there", "PRON", "expl"))
        subject = self._noun_phrase(plural=plural)
        subject.dep = "nsubj"
        root.after.append(subject)
        place = self._place() if self._chance(0.5) else self._noun_phrase()
        root.after.append(self._with_case(self._random.choice(_PLACES), place, "obl"))
        return root

    def _imperative(self) -> Node:
        """A request: Call Ann. Please water the plants. Don't forget Bob."""
        verb, frame = self._verb()
        root = self._verb_node(verb.base, verb)
        if self._chance(0.2):
            root.before.append(function_word("please", "INTJ", "discourse"))
        elif self._chance(0.2):
            root.before.extend(negated("do", "do"))
        self._complements(root, frame)
        self._setting(root)
        return root

    def _without_subject(self) -> Node:
        """Chat without a subject: Just moved to Porto."""
        verb, frame = self._verb("past")
        root = self._verb_node(verb.past, verb)
        if self._chance(0.4):
            root.before.append(function_word("just", "ADV", "advmod"))
        self._complements(root, frame)
        self._setting(root)
        return root

    def _phrase(self) -> Node:
        """Nouns without a verb: Long walks on the beach."""
        root = self._noun_phrase(plural=self._chance(0.5), plain=False)
        if self._chance(0.6):
            inner = self._place() if self._chance(0.3) else self._noun_phrase()
            root.after.append(
                self._with_case(self._random.choice((*_PLACES, "for", "to")), inner, "nmod")
            )
        return root

    # Verbs.

    def _verb(self, form: str = "base") -> tuple[Verb, Frame]:
        """A verb of which `form` is known, and one of its frames."""
        while not getattr(verb := self._lists.verbs(self._random), form):
            pass
        return verb, verb.frames(self._random)

    def _verb_node(self, form: str, verb: Verb, dep: str = "") -> Node:
        return Node(form=form, upos="VERB", lemma=verb.base, dep=dep)

    def _finite(self, verb: Verb, number: Number) -> Node:
        """A verb in some tense with its auxiliaries, negation and adverb."""
        chance = self._random.random()
        past = self._chance(0.3)
        if chance < 0.6:
            root = self._verb_node(present(verb, number), verb)
        elif chance < 0.8 and verb.past:
            root = self._verb_node(verb.past, verb)
        elif chance < 0.87:
            do = "did" if past else "does" if number == "singular" else "do"
            root = self._verb_node(verb.base, verb)
            root.before.extend(negated(do, "do"))
        elif chance < 0.93:
            modal = self._random.choice(_MODALS)
            root = self._verb_node(verb.base, verb)
            root.before.append(function_word(modal, "AUX", "aux"))
        elif chance < 0.97 and verb.gerund:
            root = self._verb_node(verb.gerund, verb)
            root.before.append(function_word(_BE[number][past], "AUX", "aux", "be"))
        elif verb.participle:
            have = "had" if past else "has" if number == "singular" else "have"
            root = self._verb_node(verb.participle, verb)
            root.before.append(function_word(have, "AUX", "aux", "have"))
        else:
            root = self._verb_node(present(verb, number), verb)
        if self._chance(0.08):
            root.before.append(
                function_word(self._lists.adverbs_before(self._random), "ADV", "advmod")
            )
        return root

    def _complements(self, verb: Node, frame: Frame) -> None:
        """Append the object and the complement of a frame."""
        if frame.infinitive:
            other, its_frame = self._verb()
            node = self._verb_node(other.base, other, "xcomp")
            node.before.append(function_word("to", "PART", "mark"))
            self._complements(node, its_frame._replace(infinitive=False))
            verb.after.append(node)
            return
        if frame.object:
            node = self._filled(frame.object)
            node.dep = "obj"
            verb.after.append(node)
            if self._chance(0.08):
                self._and(node)
        if frame.preposition and frame.complement:
            filler = self._filled(frame.complement)
            verb.after.append(self._with_case(frame.preposition, filler, "obl"))

    def _setting(self, verb: Node) -> None:
        """Append an adverb, a time or a place to some verbs."""
        chance = self._random.random()
        if chance < 0.08:
            adverb = self._lists.adverbs_after(self._random)
            verb.after.append(function_word(adverb, "ADV", "advmod"))
        elif chance < 0.25:
            verb.after.append(self._time())
        elif chance < 0.3:
            verb.after.append(
                self._with_case(self._random.choice(("in", "at", "from")), self._place(), "obl")
            )

    # What nouns and names make.

    def _subject(self) -> tuple[Node, Number]:
        chance = self._random.random()
        number: Number = "singular"
        if chance < 0.33:
            node = self._person()
            if self._chance(0.12):
                self._and(node)
                number = "plural"
        elif chance < 0.36:
            node = self._organisation()
        elif chance < 0.6:
            form, _, number = _PRONOUNS(self._random)
            node = Node(form=form, upos="PRON", lemma=form)
        else:
            number = "plural" if self._chance(0.4) else "singular"
            node = self._noun_phrase(plural=number == "plural")
        node.dep = "nsubj"
        return node, number

    def _and(self, node: Node) -> None:
        """Join another name or noun of the same kind."""
        if node.upos == "PROPN":
            other = self._person()
        else:
            noun = self._lists.nouns(self._random)
            other = Node(form=noun.plural, upos="NOUN", lemma=noun.singular)
        other.dep = "conj"
        other.before.insert(0, function_word("and", "CCONJ", "cc"))
        node.after.append(other)

    def _filled(self, filler: str) -> Node:
        """What a frame asks for; sometimes a pronoun in its place."""
        if filler == PLACE:
            return self._place()
        if filler == PERSON:
            return self._person()
        if self._chance(0.08):
            _, form, _ = _PRONOUNS(self._random)
            return Node(form=form, upos="PRON", lemma=form)
        if self._chance(0.08):
            return self._any_name()
        noun = self._lists.noun_of.get(filler)
        return self._noun_phrase(noun, plural=self._chance(0.3))

    def _noun_phrase(
        self, noun: Noun | None = None, *, plural: bool = False, plain: bool = True
    ) -> Node:
        """A noun with a determiner, a possessor, a number, an adjective, or none of them.

        `plain`: it may stand alone where its form allows that.
        """
        noun = noun or self._lists.nouns(self._random)
        node = Node(form=noun.plural if plural else noun.singular, upos="NOUN", lemma=noun.singular)
        if self._chance(0.2 if plain else 0.7):
            adjective = self._lists.adjectives(self._random)
            node.before.append(function_word(adjective, "ADJ", "amod"))
        chance = self._random.random()
        if (plural and chance < 0.5) or (noun.bare and not plural and chance < 0.6):
            return node
        if chance > 0.93 and not node.before:
            owner = self._person()
            owner.dep = "nmod:poss"
            clitic = function_word("'s", "PART", "case")
            clitic.glued = True
            owner.after.append(clitic)
            node.before.insert(0, owner)
        elif chance > 0.7:
            form = self._random.choice(_POSSESSIVES)
            node.before.insert(0, function_word(form, "PRON", "nmod:poss"))
        elif plural and chance > 0.6:
            form = self._random.choice(_NUMBERS)
            node.before.insert(0, function_word(form, "NUM", "nummod"))
        else:
            form = self._random.choice(_PLURAL_DETERMINERS if plural else _DETERMINERS)
            following = node.before[0].form if node.before else node.form
            if form == "a" and following[0] in "aeiou":
                form = "an"
            node.before.insert(0, function_word(form, "DET", "det", "a" if form == "an" else form))
        return node

    def _person(self) -> Node:
        return self._name(self._names.person(2 if self._chance(0.12) else 1), "PER")

    def _place(self) -> Node:
        return self._name(self._names.place(), "LOC")

    def _organisation(self) -> Node:
        return self._name([self._lists.organisations(self._random)], "ORG")

    def _any_name(self) -> Node:
        return self._random.choice((self._person, self._person, self._organisation))()

    def _name(self, forms: list[str], kind: str) -> Node:
        first, *others = forms
        node = Node(form=first, upos="PROPN", lemma=first, entity=f"B-{kind}")
        for form in others:
            node.after.append(
                Node(form=form, upos="PROPN", lemma=form, dep="flat", entity=f"I-{kind}")
            )
        return node

    def _with_case(self, preposition: str, node: Node, dep: str) -> Node:
        node.dep = dep
        node.before.insert(0, function_word(preposition, "ADP", "case"))
        return node

    def _time(self) -> Node:
        """A time: every week, on Mondays, in May, at night, in 2019, today."""
        choice = self._random.choice
        chance = self._random.random()
        if chance < 0.3:
            node = Node(form=(unit := choice(_UNITS)), upos="NOUN", lemma=unit)
            node.before.append(function_word(choice(("every", "each", "this")), "DET", "det"))
            node.dep = "obl:unmarked"
            return node
        if chance < 0.55:
            day = choice(_DAYS)
            form = day + "s" * self._chance(0.4)
            return self._with_case("on", Node(form=form, upos="PROPN", lemma=day), "obl")
        if chance < 0.7:
            month = choice(_MONTHS)
            return self._with_case("in", Node(form=month, upos="PROPN", lemma=month), "obl")
        if chance < 0.8:
            year = str(self._random.randint(1960, 2030))
            return self._with_case("in", Node(form=year, upos="NUM", lemma=year), "obl")
        if chance < 0.9:
            return self._with_case("at", Node(form="night", upos="NOUN", lemma="night"), "obl")
        form = choice(("today", "yesterday", "tomorrow"))
        return function_word(form, "NOUN", "obl:unmarked")

    def _chance(self, probability: float) -> bool:
        return self._random.random() < probability


def present(verb: Verb, number: Number) -> str:
    """The form of a verb in the present."""
    return verb.third if number == "singular" else verb.base
