"""Features: what speaks for a referent as the antecedent of an anaphor, as numbers."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate
from math import log1p
from typing import Final

from spacy.symbols import ADP, AUX, CCONJ, PRON, SCONJ, VERB

from recallm.extraction.coreference.anaphors import Anaphor
from recallm.extraction.coreference.discourse import ORGANISATIONS, PLACES, Referent
from recallm.extraction.coreference.reading import (
    OBJECT,
    SUBJECT,
    SURROUNDINGS,
    Name,
    TextRead,
)
from recallm.extraction.coreference.words import WORDS

__all__ = ["FEATURES", "KINDS", "Features", "fit_of_gender"]

KINDS: Final = ("he", "she", "it", "they", "phrase")
_CASES: Final = ("subject", "object", "possessive", "reflexive")
_BEFORE: Final = ("start", "and", "but", "sub", "that", "wh", "adp", "verb", "comma", "other")
_CLAUSES: Final = ("main", "coordinated", "adverbial", "relative", "complement", "none")
_ROLES: Final = ("subject", "object", "oblique", "possessive", "nominal", "other")

ANAPHOR_FEATURES: Final = (
    *(f"anaphor is {kind}" for kind in KINDS),
    *(f"anaphor's case is {case}" for case in _CASES),
    *(f"anaphor stands behind {what}" for what in _BEFORE),
    "anaphor in quotes",
    "anaphor in first sentence",
    "verbs before anaphor in sentence",
    "anaphor's place in sentence",
    "speaker known",
    "names before",
    "fitting names before",
    "anaphor after a name as subject",
    *(f"anaphor in {clause} clause" for clause in _CLAUSES),
    "anaphor of its kind before",
    "anaphor of its kind before in sentence",
)
CANDIDATE_FEATURES: Final = (
    *(f"{n} sentences before" for n in range(4)),
    "only behind",
    "behind in sentence",
    "also behind",
    *(f"{n} passages before" for n in range(1, 4)),
    "tokens before",
    "tokens before, name",
    "tokens behind",
    "newest",
    "second newest",
    "fitting names between",
    "last mention is an anaphor",
    "last anaphor has the same case",
    *(f"role {role}" for role in _ROLES),
    *(f"role {role} in sentence" for role in _ROLES),
    "same role",
    "both subjects",
    "subject of the last sentence",
    "verbs between",
    "no verb between",
    "one verb between",
    "commas between",
    "subordinators between",
    "relatives between",
    "conjunctions between",
    "nearest subject",
    "nearest subject and one verb",
    "subject that speaks",
    "behind the anaphor's possessive",
    "quotes differ",
    *(f"in {clause} clause" for clause in _CLAUSES),
    "anaphors of the kind between",
    "most named",
    "share of names",
    "only fitting",
    "names",
    "names in passage",
    "anaphors",
    "names in earlier passages",
    "subject in this sentence before",
    "gender fits",
    "gender misfits",
    "gender known",
    "person",
    "place",
    "organisation",
    "untyped",
    "words of the name",
    "coordination",
    "noun in name",
    "noun fits kind",
    "speaker",
    "listener",
)
FEATURES: Final = ("none", *ANAPHOR_FEATURES, *CANDIDATE_FEATURES, *SURROUNDINGS)
"""The names of the features, in order. "none" is 1 for "no antecedent" alone."""

_RELATIVE: Final = WORDS["words"]["relative"]
_SUBORDINATORS: Final = WORDS["words"]["subordinators"]
_SPEECH: Final = WORDS["verbs"]["speech"]
_ORGANISATIONS: Final = WORDS["nouns"]["organisation"]
_PLACES: Final = WORDS["nouns"]["place"]
_FEMALE: Final = WORDS["nouns"]["female"]
_MALE: Final = WORDS["nouns"]["male"]


_FORMS: Final = {
    "he": frozenset({"he", "him", "his", "himself"}),
    "she": frozenset({"she", "her", "hers", "herself"}),
    "it": frozenset({"it", "its", "itself"}),
    "they": frozenset({"they", "them", "their", "theirs", "themselves"}),
}
_NONE: Final = [0.0] * (len(CANDIDATE_FEATURES) + len(SURROUNDINGS))
_NO_SURROUNDINGS: Final = (0.0,) * len(SURROUNDINGS)
_POSSESSED_REACH: Final = 4
_IN_QUOTES: Final = SURROUNDINGS.index("in quotes")


_CLAUSE_OF_ROLE: Final = {
    "root": 0,
    "conj": 1,
    "advcl": 2,
    "csubj": 2,
    "acl": 3,
    "ccomp": 4,
    "xcomp": 4,
    "parataxis": 4,
}
"""Places in ``_CLAUSES`` by the role of a clause's verb."""
_CLAUSE_REACH: Final = 12


def fit_of_gender(anaphor: Anaphor, referent: Referent) -> float:
    """How well a referent's gender fits an anaphor's: 0 to 1, a half where it does not matter."""
    if anaphor.kind == "she" or anaphor.noun in _FEMALE:
        return referent.female
    if anaphor.kind == "he" or anaphor.noun in _MALE:
        return 1.0 - referent.female
    return 0.5


def _one_hot(place: int, places: int) -> list[float]:
    return [float(i == place) for i in range(places)]


def _role(relation: str) -> int:
    if relation in SUBJECT:
        return 0
    if relation in OBJECT:
        return 1
    if relation.startswith("obl"):
        return 2
    if relation == "nmod:poss":
        return 3
    if relation.startswith("nmod"):
        return 4
    return 5


class Features:
    """The features of one passage's anaphors. Counts of tokens are summed up once."""

    def __init__(self, text: TextRead) -> None:
        self._text = text
        words, tags, roles = text.words, text.tags, text.roles
        lowered = [word.lowered for word in words]

        def sums(flags: Sequence[bool]) -> list[int]:
            return [0, *accumulate(flags)]

        self._lowered = lowered
        self._verbs = sums(
            [
                tag == VERB or (tag == AUX and not role.startswith("aux"))
                for tag, role in zip(tags, roles, strict=True)
            ]
        )
        self._commas = sums([word in ",;:" for word in lowered])
        self._subordinators = sums(
            [
                tag == SCONJ or word in _SUBORDINATORS
                for word, tag in zip(lowered, tags, strict=True)
            ]
        )
        self._relatives = sums(
            [tag == PRON and word in _RELATIVE for word, tag in zip(lowered, tags, strict=True)]
        )
        self._conjunctions = sums([tag == CCONJ for tag in tags])
        self._kinds = {
            kind: sums([word in forms for word in lowered]) for kind, forms in _FORMS.items()
        }
        self._subjects = [i for i, role in enumerate(roles) if role in SUBJECT]

    def rows(
        self, anaphor: Anaphor, candidates: Sequence[tuple[Referent, Name | None]]
    ) -> list[list[float]]:
        """A row of features for "no antecedent", then one for each candidate."""
        fits = [fit_of_gender(anaphor, referent) for referent, _ in candidates]
        shared = self._of_anaphor(anaphor, candidates, fits)
        rows = [[1.0, *shared, *_NONE]]
        fitting = 0
        self._most = max((referent.count for referent, _ in candidates), default=0)
        self._all = sum(referent.count for referent, _ in candidates)
        self._fitting = sum(fit > 0.3 for fit in fits)
        for rank, ((referent, ahead), fit) in enumerate(zip(candidates, fits, strict=True)):
            rows.append(
                [0.0, *shared, *self._of_candidate(anaphor, referent, ahead, rank, fitting, fit)]
            )
            fitting += fit > 0.3
        return rows

    def _of_anaphor(
        self,
        anaphor: Anaphor,
        candidates: Sequence[tuple[Referent, Name | None]],
        fits: Sequence[float],
    ) -> list[float]:
        text = self._text
        i = anaphor.first
        sentence = text.sentence_of(i)
        start, end = text.sentence_span(sentence)
        before = self._before(i, start)
        self._in_quotes = text.in_quotes(i, start)
        subjects = bisect_left(self._subjects, i)
        behind_name = bool(
            subjects
            and self._subjects[subjects - 1] >= start
            and text.words[self._subjects[subjects - 1]].is_capitalised
        )
        return [
            *(float(anaphor.kind == kind) for kind in KINDS),
            *(float(anaphor.case == case) for case in _CASES),
            *(float(before == what) for what in _BEFORE),
            float(self._in_quotes),
            float(sentence == 0),
            min(4, self._verbs[i] - self._verbs[start]) / 4,
            (i - start) / max(1, end - start),
            float(text.speaker is not None),
            min(8, len(candidates)) / 8,
            min(8, sum(fit > 0.3 for fit in fits)) / 8,
            float(behind_name),
            *_one_hot(self._clause(i, anaphor.case == "subject"), len(_CLAUSES)),
            float(self._of_kind(anaphor, 0) > 0),
            float(self._of_kind(anaphor, start) > 0),
        ]

    def _of_kind(self, anaphor: Anaphor, start: int) -> int:
        """How many anaphors of the same kind stand between a token and an anaphor."""
        sums = self._kinds.get(anaphor.kind)
        return sums[anaphor.first] - sums[start] if sums else 0

    def _clause(self, i: int, is_subject: bool) -> int:
        """The kind of the clause (a place in ``_CLAUSES``) of a token: that of the next verb for a
        subject, of the verb before for all others."""
        text = self._text
        reach = (
            range(i + 1, min(len(text.words), i + _CLAUSE_REACH))
            if is_subject
            else range(i - 1, max(-1, i - _CLAUSE_REACH), -1)
        )
        for j in reach:
            clause = _CLAUSE_OF_ROLE.get(text.roles[j].partition(":")[0])
            if clause is not None and (clause != 1 or text.tags[j] in (VERB, AUX)):
                return clause
        return len(_CLAUSES) - 1

    def _before(self, i: int, start: int) -> str:
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

    def _of_candidate(
        self,
        anaphor: Anaphor,
        referent: Referent,
        ahead: Name | None,
        rank: int,
        fitting: int,
        fit: float,
    ) -> list[float]:
        text = self._text
        i = anaphor.first
        sentence = text.sentence_of(i)
        values = dict.fromkeys(CANDIDATE_FEATURES, 0.0)
        name = referent.last
        back = referent.back
        seen = bool(referent.count or referent.earlier_count)
        here = not back and referent.count > 0
        pronoun = referent.anaphor
        case = _CASES.index(anaphor.case)
        role = 5
        if not seen and pronoun is None:
            values["only behind"] = 1.0
            name = ahead
        if ahead is not None:
            values["also behind"] = 1.0
            values["behind in sentence"] = float(ahead.sentence == sentence)
            values["tokens behind"] = log1p(ahead.first - i) / 4
        if pronoun is not None and (not here or name is None or pronoun.first > name.first):
            token = pronoun.first
            there = text.sentence_of(token)
            role = (0, 1, 3, 1)[_CASES.index(pronoun.case)]
            values["last mention is an anaphor"] = 1.0
            values["last anaphor has the same case"] = float(pronoun.case == anaphor.case)
        else:
            token = name.head if here and name is not None else -1
            there = referent.sentence if seen else sentence + 1
            if name is not None:
                role = _role(name.role)
        distance = sentence - there
        if distance >= 0:
            values[f"{min(3, distance)} sentences before"] = 1.0
            values[f"role {_ROLES[role]}" + (" in sentence" if not distance else "")] = 1.0
        if back:
            values[f"{min(3, back)} passages before"] = 1.0
        if token >= 0:
            values["tokens before"] = log1p(i - token) / 5
            clause = self._clause(token, role == 0)
            values[f"in {_CLAUSES[clause]} clause"] = 1.0
            values["anaphors of the kind between"] = min(3, self._of_kind(anaphor, token)) / 3
            if distance == 0:
                self._between(values, token, i, role)
        same = (0, 1, 3, 1)[case] == role or (role == 2 and anaphor.case == "object")
        values["same role"] = float(same)
        values["both subjects"] = float(role == 0 and case == 0)
        values["newest"] = float(rank == 0)
        values["second newest"] = float(rank == 1)
        values["fitting names between"] = min(4, fitting) / 4
        values["subject of the last sentence"] = float(referent.subject_sentence == sentence - 1)
        values["subject in this sentence before"] = float(referent.subject_sentence == sentence)
        values["most named"] = float(bool(self._most) and referent.count == self._most)
        values["share of names"] = referent.count / max(1, self._all)
        values["only fitting"] = float(self._fitting == 1 and fit > 0.3)
        values["names"] = log1p(referent.count) / 2
        values["names in passage"] = log1p(referent.total) / 2
        values["anaphors"] = log1p(referent.anaphor_count) / 2
        values["names in earlier passages"] = log1p(referent.earlier_count) / 2
        values["gender fits"] = fit
        values["gender misfits"] = float(fit < 0.2)
        values["gender known"] = float(referent.gender_known)
        kind = referent.kind
        values["person"] = float(kind in ("PER", "PERSON"))
        values["place"] = float(kind in PLACES)
        values["organisation"] = float(kind in ORGANISATIONS)
        values["untyped"] = float(not kind)
        values["words of the name"] = min(4, len(referent.words)) / 4
        values["coordination"] = float(bool(referent.members))
        values["speaker"] = float(referent.is_speaker)
        values["listener"] = float(referent.is_listener)
        if anaphor.noun:
            values["noun in name"] = float(anaphor.noun in referent.words)
            values["noun fits kind"] = float(
                (kind in ORGANISATIONS and anaphor.noun in _ORGANISATIONS)
                or (kind in PLACES and anaphor.noun in _PLACES)
            )
        if name is None:
            return [*values.values(), *_NO_SURROUNDINGS]
        if here and name.first < i:
            values["tokens before, name"] = log1p(i - name.last) / 5
        values["behind the anaphor's possessive"] = float(
            case == 2 and ahead is not None and ahead.first - i <= _POSSESSED_REACH
        )
        values["quotes differ"] = float(bool(name.surroundings[_IN_QUOTES]) != self._in_quotes)
        return [*values.values(), *name.surroundings]

    def _between(self, values: dict[str, float], token: int, i: int, role: int) -> None:
        """What stands between a mention and an anaphor of the same sentence."""
        verbs = self._verbs[i] - self._verbs[token]
        values["verbs between"] = min(4, verbs) / 4
        values["no verb between"] = float(verbs == 0)
        values["one verb between"] = float(verbs == 1)
        values["commas between"] = min(4, self._commas[i] - self._commas[token]) / 4
        subordinators = self._subordinators[i] - self._subordinators[token]
        values["subordinators between"] = min(3, subordinators) / 3
        values["relatives between"] = min(2, self._relatives[i] - self._relatives[token]) / 2
        conjunctions = self._conjunctions[i] - self._conjunctions[token]
        values["conjunctions between"] = min(3, conjunctions) / 3
        nearest = bisect_left(self._subjects, i) - 1
        is_nearest = nearest >= 0 and self._subjects[nearest] == token
        values["nearest subject"] = float(is_nearest)
        values["nearest subject and one verb"] = float(is_nearest and verbs <= 1)
        if role == 0:
            values["subject that speaks"] = float(
                any(word in _SPEECH for word in self._lowered[token + 1 : min(i, token + 5)])
            )
