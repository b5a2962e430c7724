"""Signals of concepts, names and speakers, and of the kind of answer that is asked for."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from recallm.english.dating import DATE_WORDS
from recallm.ground.untrusted_text import claimed_roles
from recallm.model import ConceptMention, Question, StoredStatement, Trait
from recallm.recall.ranking.candidates import Candidates
from recallm.recall.ranking.stem_counts import Floats, Keys, weighted_sums

NAME_KINDS = ("name", "entity")
"""The kinds of concepts that are names."""

_ANSWER_KINDS = (Trait.TIME, Trait.NUMBER, Trait.PERSON | Trait.PLACE | Trait.ORGANISATION)
"""Kinds of answers, names apart: traits that a question asks for and a statement has."""

_SUBJECT = re.compile(r"\b(?:I|we)\b", re.IGNORECASE)
"""Who says that they do or are something themselves."""

_NAME_REACH = 3
"""A pronoun may refer to a name at most this many statements before it."""

_RARE = 4.0
"""Rarity (a logarithm) from which a name counts in full: about one statement in 50 mentions it."""

_LONGEST_ADDRESS = 3
"""Words before the first comma of a question that address somebody, at most."""

_ASKS_ASSISTANT = re.compile(
    r"\b(?:remind me|did you|assistant|chatbot|AI"
    r"|(?:our|previous|last|earlier) (?:[\w-]+ ){0,2}(?:chat|conversation|discussion|talk)"
    r"|you (?:\w+ )?(?:described|explained|gave|listed|made|mentioned|provided|recommended|said"
    r"|suggested|told|were|wrote)"
    r"|we (?:\w+ )?(?:decided|discussed|outlined|talked))\b",
    re.IGNORECASE,
)
"""A question for what an assistant said: "What did you recommend?", "in our last chat"."""


def spelled(statement: StoredStatement) -> list[ConceptMention]:
    """The mentions that a statement spells beside its speaker."""
    return [mention for mention in statement.concepts if _is_spelled(mention, statement)]


def _is_spelled(mention: ConceptMention, statement: StoredStatement) -> bool:
    return mention.reference is None and mention.name != statement.speaker_concept


def names_asked_for(question: Question) -> list[str]:
    """The names in a question, without those in its anchor: "Who was Basil's dentist while Dr Patel
    treated him?" asks for Basil alone."""
    anchor = question.time.anchor
    stems = frozenset(() if anchor is None else anchor.terms)
    return [
        concept.name
        for concept in question.concepts
        if concept.kind in NAME_KINDS and stems.isdisjoint(concept.name.split(" "))
    ]


def labels_of_names(question: Question) -> dict[str, str]:
    """The names in a question, each with its spelling: without that of the asker, for whom "I"
    stands, without whom the question addresses ("Hi Maria, …"), and without months and days."""
    asked = {*names_asked_for(question)} - {question.asker}
    head, comma, _ = question.text.partition(",")
    addressed = set(head.split()) if comma and len(head.split()) <= _LONGEST_ADDRESS else set()
    return {
        concept.name: concept.label
        for concept in question.concepts
        if concept.name in asked
        and concept.label.casefold() not in DATE_WORDS
        and addressed.isdisjoint(concept.label.split())
    }


def about_others(candidates: Candidates) -> NDArray[np.bool_]:
    """Whether each candidate has nothing to do with the names in the question: neither the
    candidate nor anything in its session mentions one of them. False for all where no name is
    known."""
    mentions = candidates.leads.mentions
    names = {name for name in labels_of_names(candidates.question) if name in mentions}
    found = [mentions[name] for name in names if len(mentions[name].keys)]
    if not found:
        return np.zeros(len(candidates.statements), dtype=bool)
    mentioning = np.any([each.hold(candidates.keys) for each in found], axis=0)
    sessions = set[str | None]().union(*(each.session_names() for each in found))
    # Mentions are bounded and may miss some.
    read = {
        row.key: row.session_key
        for row, mentioned in zip(candidates.read, candidates.names, strict=True)
        if not names.isdisjoint(mentioned)
    }
    sessions.update(read.values())
    sessions.discard(None)
    beside = [
        row.key in read
        or row.session_key in sessions
        or row.key in candidates.facts
        or row.key in candidates.stated
        or row.passage_id in candidates.summaries
        for row in candidates.statements
    ]
    return np.asarray(~(mentioning | np.array(beside, dtype=bool)))


def of_other_speakers(candidates: Candidates, about: Collection[str]) -> set[int]:
    """The places of the statements in which somebody speaks of himself or herself, and neither is
    nor mentions one of ``about`` (names of concepts)."""
    named = frozenset(about)
    return {
        place
        for place in np.flatnonzero(candidates.traits & Trait.FIRST_PERSON.value).tolist()
        if (statement := candidates.statements[place]).speaker_concept is not None
        and named.isdisjoint(mention.name for mention in statement.concepts)
    }


def named_share(candidates: Candidates) -> Floats:
    """Share of the asked names that the candidate, or one of the 3 statements before it, mentions.
    Rare names weigh more: a statement about somebody else is no answer."""
    rarities = _name_rarities(candidates)
    number = len(candidates.statements)
    if not rarities:
        return np.zeros(number)
    mentions = _mentions(candidates.names, _parts_of_names(candidates.question, rarities))
    near = mentions[:number]
    places = candidates.previous_places[:number]
    for _ in range(_NAME_REACH):
        before = np.where((places < 0)[:, None], 0.0, mentions[places])
        near = np.maximum(near, before)
        places = np.where(places < 0, -1, candidates.previous_places[places])
    return weighted_sums(near, np.array([*rarities.values()])) / len(rarities)


def _name_rarities(candidates: Candidates) -> dict[str, float]:
    """The rarity (at most 1) of each asked name that is no speaker's. If the question gives a full
    name, its parts do not count."""
    asked = names_asked_for(candidates.question)
    parts = {word for name in asked if " " in name for word in name.split(" ")}
    excluded = parts | candidates.speakers
    total, mentions = candidates.corpus.statements, candidates.leads.mentions
    mentioning = {name: mentions[name].statements if name in mentions else 0 for name in asked}
    return {
        name: min(1.0, float(np.log1p(total / (1 + mentioning[name]))) / _RARE)
        for name in asked
        if name in candidates.leads.essential and name not in excluded
    }


def _parts_of_names(question: Question, names: Collection[str]) -> dict[str, frozenset[str]]:
    """Name → the concepts of its words, as the question has them: "norman west" → norman, west."""
    concepts = frozenset(concept.name for concept in question.concepts)
    return {name: concepts.intersection(name.split(" ")) for name in names}


def _mentions(mentioned: Sequence[frozenset[str]], parts: Mapping[str, frozenset[str]]) -> Floats:
    """1 where a statement mentions a name, or all of its ``parts``: shape (statements, names).
    ``mentioned`` are the names of the concepts that each statement mentions.

    The words around a name decide where it ends: "the music that Mary Buckley plays" mentions
    "mary buckley plays", and each of these words.
    """
    found = [
        [name in own or (len(words) > 1 and words <= own) for own in mentioned]
        for name, words in parts.items()
    ]
    return np.array(found, dtype=np.float64).T


def trait_signals(candidates: Candidates) -> dict[str, Floats]:
    """The signals ``kind``, ``speaker``, ``person``, ``question`` and ``user``."""
    traits = candidates.traits
    asked = [candidates.question.asks & kind for kind in _ANSWER_KINDS]
    speaker = _speaker(candidates)
    # Who speaks to somebody ("you") seldom tells anything.
    unasked = {"you", "your"}.isdisjoint(candidates.question.words)
    says_you = _has_trait(traits, Trait.SECOND_PERSON) * unasked
    return {
        "kind": np.sum([_has_trait(traits, kind) for kind in asked], axis=0) + _names(candidates),
        "speaker": speaker,
        "person": speaker * _first_person(candidates) - says_you,
        "question": _has_trait(traits, Trait.QUESTION),
        "user": _user(candidates),
    }


def _names(candidates: Candidates) -> Floats:
    """Where the question asks for a name: the logarithm of 1 + the number of names that the
    statement spells beside those of the question and the speaker's. For a statement that is alone
    in its session 1 if it has any: a complete fact answers no better with more of them."""
    question = candidates.question
    if not question.asks & Trait.NAME:
        return np.zeros(len(candidates.statements))
    asked = {word for concept in question.concepts for word in concept.name.split(" ")}
    names = [
        [
            mention.name
            for mention in row.concepts
            if mention.kind in NAME_KINDS and _is_spelled(mention, row)
        ]
        for row in candidates.statements
    ]
    of_question = {name for name in {*chain(*names)} if asked.issuperset(name.split(" "))}
    new = [len([name for name in own if name not in of_question]) for own in names]
    any_name = _has_trait(candidates.traits, Trait.NAME)
    return np.where(candidates.alone > 0, any_name, np.log1p(new))


def _speaker(candidates: Candidates) -> Floats:
    """1 where the speaker, or a part of the speaker's name, is one whom the question names."""
    named = candidates.speakers
    speakers = [statement.speaker_concept for statement in candidates.statements]
    asked_for = {
        speaker
        for speaker in {*speakers}
        if speaker is not None and not named.isdisjoint((speaker, *speaker.split(" ")))
    }
    return np.array([float(speaker in asked_for) for speaker in speakers])


def _user(candidates: Candidates) -> Floats:
    """1 for a user's words, -1 for an assistant's: what users say of themselves is true of them,
    advice seldom is. 0 for all where no user speaks, and where the question does not say "I" or
    asks for what the assistant said."""
    question = candidates.question
    nothing = np.zeros(len(candidates.statements))
    if not question.asks_of_asker or _ASKS_ASSISTANT.search(question.text):
        return nothing
    roles = [_roles(row.speaker) for row in candidates.read]
    if not any("human" in each for each in roles):
        return nothing
    of_candidates = roles[: len(nothing)]
    return np.array([float("human" in each) - float("ai" in each) for each in of_candidates])


@lru_cache(maxsize=1024)
def _roles(speaker: str | None) -> frozenset[str]:
    """The roles of a chat that the name of a speaker claims."""
    return frozenset() if speaker is None else claimed_roles(speaker)


def _first_person(candidates: Candidates) -> Floats:
    """1 where a statement is in the first person. "Where do I live?", asked by somebody who is
    known, is answered by what this person does: "My sister lives in Oslo" does not say "I"."""
    found = _has_trait(candidates.traits, Trait.FIRST_PERSON)
    question = candidates.question
    if question.asker is not None and _SUBJECT.search(question.text):
        for place in np.flatnonzero(found).tolist():
            found[place] = bool(_SUBJECT.search(candidates.statements[place].text))
    return found


def _has_trait(traits: Keys, trait: Trait) -> Floats:
    """1 where any bit of ``trait`` is set."""
    found: Floats = ((traits & int(trait)) != 0).astype(np.float64)
    return found
