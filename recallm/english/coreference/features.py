"""Features: what speaks for a referent as the antecedent of an anaphor, as numbers by name.

A row has the features of the anaphor, which are the same for all its candidates, those of one
candidate, and those of the words around the candidate's newest name. What a row lacks is 0. Counts
that matter less the greater they are stand as their share of a greatest count, or as logarithms.
The ranker knows the features on which it was fitted: fit it again where one changes.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import accumulate
from math import log1p
from typing import Final

from spacy.symbols import ADP, AUX, CCONJ, PRON, SCONJ, VERB

from recallm.english.coreference.discourse import Anaphor, Candidate, Referent
from recallm.english.coreference.passage import OBJECT, SUBJECT, WORDS, Name, TextRead, by_word

_RELATIVE: Final = WORDS["words"]["relative"]
_SUBORDINATORS: Final = WORDS["words"]["subordinators"]
_CLAUSE_OF_RELATION: Final[dict[str, str]] = by_word("clauses")
"""The kind of a clause by the relation of its verb."""
_CLAUSE_REACH: Final = 12
"""How many tokens away the verb of a token's clause is looked for."""
_VERBAL: Final = frozenset((VERB, AUX))
_POSSESSED_REACH: Final = 4
"""How many tokens behind a possessive pronoun a name is part of what is possessed."""
_MOST_BETWEEN: Final = {
    "verbs": 4,
    "commas": 4,
    "subordinators": 3,
    "relatives": 2,
    "conjunctions": 3,
}
"""The greatest counts that matter of the tokens between a mention and an anaphor."""
_FITS: Final = 0.3
"""A referent fits an anaphor if its gender fits better than this."""
_MISFITS: Final = 0.2

Row = dict[str, float]
"""Features by name."""


def fit_of_gender(anaphor: Anaphor, referent: Referent) -> float:
    """How well a referent's gender fits an anaphor's (0 to 1)."""
    return referent.female if anaphor.kind == "she" else 1.0 - referent.female


def _share(count: int, most: int) -> float:
    """A count as a share of the greatest one that matters."""
    return min(most, count) / most


def _role_of(anaphor: Anaphor) -> str:
    """The role that an anaphor has in its case."""
    return "object" if anaphor.case == "reflexive" else anaphor.case


def _role(relation: str) -> str:
    """The role of a name by its relation."""
    if relation in SUBJECT:
        return "subject"
    if relation in OBJECT:
        return "object"
    if relation.startswith("obl"):
        return "oblique"
    if relation == "nmod:poss":
        return "possessive"
    return "nominal" if relation.startswith("nmod") else "other"


class Features:
    """The features of one passage's anaphors. Tokens of each sort are counted once, up to each
    place of the passage."""

    def __init__(self, text: TextRead) -> None:
        self._text = text
        self._lowered = [word.lowered for word in text.words]
        tokens = list(zip(self._lowered, text.tags, text.roles, strict=True))
        sorts: dict[str, Iterable[bool]] = {
            "verbs": (
                tag == VERB or (tag == AUX and not role.startswith("aux"))
                for _, tag, role in tokens
            ),
            "commas": (word in ",;:" for word in self._lowered),
            "subordinators": (tag == SCONJ or word in _SUBORDINATORS for word, tag, _ in tokens),
            "relatives": (tag == PRON and word in _RELATIVE for word, tag, _ in tokens),
            "conjunctions": (tag == CCONJ for tag in text.tags),
        }
        for kind, forms in WORDS["pronouns"].items():
            sorts[kind] = [word in forms for word in self._lowered]
        self._counts = {sort: [0, *accumulate(flags)] for sort, flags in sorts.items()}
        self._subjects = [i for i, role in enumerate(text.roles) if role in SUBJECT]
        kinds = {role: _CLAUSE_OF_RELATION.get(role.partition(":")[0]) for role in {*text.roles}}
        self._clauses = [
            # Nouns are coordinated, too.
            kinds[role] if tag in _VERBAL or kinds[role] != "coordinated" else None
            for _, tag, role in tokens
        ]

    def rows(self, anaphor: Anaphor, candidates: Sequence[Candidate]) -> list[Row]:
        """A row of features for "no antecedent", then one for each candidate."""
        fits = [fit_of_gender(anaphor, referent) for referent, _ in candidates]
        fitting = sum(fit > _FITS for fit in fits)
        names = [referent.count for referent, _ in candidates]
        most, total = max(names), sum(names)
        sentence = self._text.sentence_of(anaphor.token)
        shared = {
            **self._of_anaphor(anaphor, sentence),
            "names before": _share(len(candidates), 8),
            "fitting names before": _share(fitting, 8),
        }
        rows = [{"none": 1.0, **shared}]
        fitting_before = 0
        for rank, (candidate, fit) in enumerate(zip(candidates, fits, strict=True)):
            rows.append(
                {
                    **shared,
                    "newest": rank == 0,
                    "second newest": rank == 1,
                    "fitting names between": _share(fitting_before, 4),
                    **self._of_mentions(anaphor, candidate, sentence),
                    **_of_meaning(candidate[0], fit),
                    "most named": 0 < names[rank] == most,
                    "share of names": names[rank] / max(1, total),
                    "only fitting": fitting == 1 and fit > _FITS,
                }
            )
            fitting_before += fit > _FITS
        return rows

    def _count(self, sort: str, first: int, last: int) -> int:
        """How many tokens of a sort stand from ``first`` up to ``last``."""
        return self._counts[sort][last] - self._counts[sort][first]

    def _of_anaphor(self, anaphor: Anaphor, sentence: int) -> Row:
        text, i = self._text, anaphor.token
        start, end = text.sentence_span(sentence)
        subject = self._subject_before(i)
        clause = self._clause(i, is_subject=anaphor.case == "subject")
        return {
            f"anaphor is {anaphor.kind}": 1.0,
            f"anaphor's case is {anaphor.case}": 1.0,
            f"anaphor stands behind {self._before(i, start)}": 1.0,
            f"anaphor in {clause} clause": 1.0,
            "anaphor in first sentence": sentence == 0,
            "verbs before anaphor in sentence": _share(self._count("verbs", start, i), 4),
            "anaphor's place in sentence": (i - start) / max(1, end - start),
            "speaker known": text.speaker is not None,
            "anaphor after a name as subject": (
                subject >= start and text.words[subject].is_capitalised
            ),
            "anaphor of its kind before": self._count(anaphor.kind, 0, i) > 0,
            "anaphor of its kind before in sentence": self._count(anaphor.kind, start, i) > 0,
        }

    def _subject_before(self, i: int) -> int:
        """The last subject before a token, -1 if there is none."""
        place = bisect_left(self._subjects, i)
        return self._subjects[place - 1] if place else -1

    def _clause(self, i: int, *, is_subject: bool) -> str:
        """The kind of the clause of a token: that of the next verb for a subject, of the verb
        before for all others."""
        before = self._clauses[max(0, i - _CLAUSE_REACH + 1) : i]
        near = self._clauses[i + 1 : i + _CLAUSE_REACH] if is_subject else reversed(before)
        return next(filter(None, near), "none")

    def _before(self, i: int, start: int) -> str:
        """What stands just before an anaphor: the start of its sentence, a subordinator ("sub"), a
        relative pronoun ("wh"), a preposition ("adp") and so on."""
        if i == start:
            return "start"
        word, tag = self._lowered[i - 1], self._text.tags[i - 1]
        if word in ("and", "but", "that"):
            return word
        if word in _SUBORDINATORS:
            return "sub"
        if word in _RELATIVE:
            return "wh"
        if tag == ADP:
            return "adp"
        if tag in (VERB, AUX):
            return "verb"
        return "comma" if word == "," else "other"

    def _of_mentions(self, anaphor: Anaphor, candidate: Candidate, sentence: int) -> Row:
        """Where a candidate is mentioned, and as what; and the surroundings of its name."""
        values: Row = {}
        (referent, ahead), i = candidate, anaphor.token
        name: Name | None = referent.last
        is_mentioned = bool(referent.count or referent.earlier_count)
        is_named_here = not referent.back and referent.count > 0
        if not is_mentioned and referent.anaphor is None:
            values["only behind"] = 1.0
            name = ahead
        if ahead is not None:
            values["also behind"] = 1.0
            values["behind in sentence"] = ahead.sentence == sentence
            values["tokens behind"] = log1p(ahead.first - i) / 4
        pronoun = referent.anaphor
        if pronoun and (not is_named_here or name is None or pronoun.token > name.first):
            token, role = pronoun.token, _role_of(pronoun)
            distance = sentence - self._text.sentence_of(token)
            values["last mention is an anaphor"] = 1.0
            values["last anaphor has the same case"] = pronoun.case == anaphor.case
        else:
            token = name.head if is_named_here and name is not None else -1
            role = "other" if name is None else _role(name.role)
            distance = sentence - referent.sentence if is_mentioned else -1
        if distance >= 0:
            values[f"{min(3, distance)} sentences before"] = 1.0
            values[f"role {role}" + (" in sentence" if distance == 0 else "")] = 1.0
        if referent.back:
            values[f"{min(3, referent.back)} passages before"] = 1.0
        if token >= 0:
            values["tokens before"] = log1p(i - token) / 5
            values[f"in {self._clause(token, is_subject=role == 'subject')} clause"] = 1.0
            values["anaphors of the kind between"] = _share(self._count(anaphor.kind, token, i), 3)
            if distance == 0:
                values |= self._between(token, i)
        is_object = role == "oblique" and anaphor.case == "object"
        values["same role"] = role == _role_of(anaphor) or is_object
        values["both subjects"] = role == "subject" and anaphor.case == "subject"
        values["subject of the last sentence"] = referent.subject_sentence == sentence - 1
        values["subject in this sentence before"] = referent.subject_sentence == sentence
        if name is None:
            return values
        if is_named_here and name.last < i:
            values["tokens before, name"] = log1p(i - name.last) / 5
        values["behind the anaphor's possessive"] = float(
            anaphor.case == "possessive"
            and ahead is not None
            and ahead.first - i <= _POSSESSED_REACH
        )
        values |= name.surroundings
        return values

    def _between(self, token: int, i: int) -> Row:
        """What stands between a mention and an anaphor of the same sentence."""
        verbs = self._count("verbs", token, i)
        is_nearest = self._subject_before(i) == token
        counts = {
            f"{sort} between": _share(self._count(sort, token, i), most)
            for sort, most in _MOST_BETWEEN.items()
        }
        return counts | {
            "no verb between": verbs == 0,
            "one verb between": verbs == 1,
            "nearest subject": is_nearest,
            "nearest subject and one verb": is_nearest and verbs <= 1,
        }


def _of_meaning(referent: Referent, fit: float) -> Row:
    """What a referent is, and how often it is mentioned."""
    kind = referent.kind
    return {
        "names": log1p(referent.count) / 2,
        "names in passage": log1p(referent.total) / 2,
        "anaphors": log1p(referent.anaphor_count) / 2,
        "names in earlier passages": log1p(referent.earlier_count) / 2,
        "gender fits": fit,
        "gender misfits": fit < _MISFITS,
        "gender known": referent.gender_known,
        "person": kind == "PER",
        "place": kind == "LOC",
        "organisation": kind == "ORG",
        "untyped": not kind,
        "words of the name": _share(len(referent.words), 4),
    }
