"""Features: what speaks for a referent as the antecedent of an anaphor, as numbers.

A row has the features of the anaphor, which are the same for all its candidates, then those of one
candidate, then those of the words around the candidate's newest name. Counts that matter less the
greater they are stand as their share of a greatest count, or as logarithms.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import accumulate
from math import log1p
from typing import Final, NamedTuple

from spacy.symbols import ADP, AUX, CCONJ, PRON, SCONJ, VERB

from recallm.english.coreference.anaphors import Anaphor
from recallm.english.coreference.discourse import ORGANISATIONS, PLACES, Candidate, Referent
from recallm.english.coreference.passage import OBJECT, SUBJECT, SURROUNDINGS, Name, TextRead
from recallm.english.coreference.words import WORDS

KINDS: Final = ("he", "she", "it", "they", "phrase")
"""Of anaphors."""
_ROLE_OF_CASE: Final = {
    "subject": "subject",
    "object": "object",
    "possessive": "possessive",
    "reflexive": "object",
}
"""The cases of anaphors, each with the role that an anaphor has in this case."""
_BEFORE: Final = ("start", "and", "but", "sub", "that", "wh", "adp", "verb", "comma", "other")
"""What stands just before an anaphor: the start of its sentence, a subordinator ("sub"), a relative
pronoun ("wh"), a preposition ("adp") and so on."""
_CLAUSES: Final = ("main", "coordinated", "adverbial", "relative", "complement", "none")
_ROLES: Final = ("subject", "object", "oblique", "possessive", "nominal", "other")

ANAPHOR_FEATURES: Final = (
    *(f"anaphor is {kind}" for kind in KINDS),
    *(f"anaphor's case is {case}" for case in _ROLE_OF_CASE),
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
_FORMS: Final = {
    "he": frozenset({"he", "him", "his", "himself"}),
    "she": frozenset({"she", "her", "hers", "herself"}),
    "it": frozenset({"it", "its", "itself"}),
    "they": frozenset({"they", "them", "their", "theirs", "themselves"}),
}
_CLAUSE_OF_RELATION: Final = {
    "root": "main",
    "conj": "coordinated",
    "advcl": "adverbial",
    "csubj": "adverbial",
    "acl": "relative",
    "ccomp": "complement",
    "xcomp": "complement",
    "parataxis": "complement",
}
"""The kind of a clause by the relation of its verb."""
_CLAUSE_REACH: Final = 12
"""How many tokens away the verb of a token's clause is looked for."""
_POSSESSED_REACH: Final = 4
"""How many tokens behind a possessive pronoun a name is part of what is possessed."""
_SPEECH_REACH: Final = 5
"""How many tokens behind a subject its verb of speech is looked for."""
_FITS: Final = 0.3
"""A referent fits an anaphor if its gender fits better than this."""
_MISFITS: Final = 0.2
_NO_SURROUNDINGS: Final = (0.0,) * len(SURROUNDINGS)
_IN_QUOTES: Final = SURROUNDINGS.index("in quotes")


def fit_of_gender(anaphor: Anaphor, referent: Referent) -> float:
    """How well a referent's gender fits an anaphor's: 0 to 1, a half where it does not matter."""
    if anaphor.kind == "she" or anaphor.noun in WORDS["nouns"]["female"]:
        return referent.female
    if anaphor.kind == "he" or anaphor.noun in WORDS["nouns"]["male"]:
        return 1.0 - referent.female
    return 0.5


def _share(count: int, most: int) -> float:
    """A count as a share of the greatest one that matters."""
    return min(most, count) / most


def _one_of(value: str, values: Iterable[str]) -> list[float]:
    """1 for the value, 0 for the others."""
    return [float(value == other) for other in values]


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


class _Among(NamedTuple):
    """What a candidate is compared with: the names of the most named candidate, the names of all
    candidates, how many candidates fit, and whether the anaphor stands in quotes."""

    most_names: int
    all_names: int
    fitting: int
    in_quotes: bool


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
        for kind, forms in _FORMS.items():
            sorts[kind] = [word in forms for word in self._lowered]
        self._counts = {sort: [0, *accumulate(flags)] for sort, flags in sorts.items()}
        self._subjects = [i for i, role in enumerate(text.roles) if role in SUBJECT]

    def rows(self, anaphor: Anaphor, candidates: Sequence[Candidate]) -> list[list[float]]:
        """A row of features for "no antecedent", then one for each candidate."""
        fits = [fit_of_gender(anaphor, referent) for referent, _ in candidates]
        start, _ = self._text.sentence_span(self._text.sentence_of(anaphor.first))
        names = [referent.count for referent, _ in candidates]
        among = _Among(
            most_names=max(names, default=0),
            all_names=sum(names),
            fitting=sum(fit > _FITS for fit in fits),
            in_quotes=self._text.in_quotes(anaphor.first, start),
        )
        shared = self._of_anaphor(anaphor, len(candidates), among)
        rows = [[1.0, *shared, *[0.0] * len(CANDIDATE_FEATURES), *_NO_SURROUNDINGS]]
        fitting_before = 0
        for rank, (candidate, fit) in enumerate(zip(candidates, fits, strict=True)):
            values = dict.fromkeys(CANDIDATE_FEATURES, 0.0)
            values["newest"] = float(rank == 0)
            values["second newest"] = float(rank == 1)
            values["fitting names between"] = _share(fitting_before, 4)
            surroundings = self._add_mentions(values, anaphor, candidate, among)
            _add_meaning(values, anaphor, candidate[0], fit, among)
            rows.append([0.0, *shared, *values.values(), *surroundings])
            fitting_before += fit > _FITS
        return rows

    def _count(self, sort: str, first: int, last: int) -> int:
        """How many tokens of a sort stand from ``first`` up to ``last``."""
        counts = self._counts.get(sort)
        return counts[last] - counts[first] if counts else 0

    def _of_anaphor(self, anaphor: Anaphor, candidates: int, among: _Among) -> list[float]:
        text, i = self._text, anaphor.first
        sentence = text.sentence_of(i)
        start, end = text.sentence_span(sentence)
        subject = self._subject_before(i)
        behind_name = subject >= start and text.words[subject].is_capitalised
        return [
            *_one_of(anaphor.kind, KINDS),
            *_one_of(anaphor.case, _ROLE_OF_CASE),
            *_one_of(self._before(i, start), _BEFORE),
            float(among.in_quotes),
            float(sentence == 0),
            _share(self._count("verbs", start, i), 4),
            (i - start) / max(1, end - start),
            float(text.speaker is not None),
            _share(candidates, 8),
            _share(among.fitting, 8),
            float(behind_name),
            *_one_of(self._clause(i, is_subject=anaphor.case == "subject"), _CLAUSES),
            float(self._count(anaphor.kind, 0, i) > 0),
            float(self._count(anaphor.kind, start, i) > 0),
        ]

    def _subject_before(self, i: int) -> int:
        """The last subject before a token, -1 if there is none."""
        place = bisect_left(self._subjects, i)
        return self._subjects[place - 1] if place else -1

    def _clause(self, i: int, *, is_subject: bool) -> str:
        """The kind of the clause of a token: that of the next verb for a subject, of the verb
        before for all others."""
        text = self._text
        reach = (
            range(i + 1, min(len(text.words), i + _CLAUSE_REACH))
            if is_subject
            else range(i - 1, max(-1, i - _CLAUSE_REACH), -1)
        )
        for j in reach:
            clause = _CLAUSE_OF_RELATION.get(text.roles[j].partition(":")[0])
            # Nouns are coordinated, too.
            if clause and (clause != "coordinated" or text.tags[j] in (VERB, AUX)):
                return clause
        return "none"

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

    def _add_mentions(
        self, values: dict[str, float], anaphor: Anaphor, candidate: Candidate, among: _Among
    ) -> Sequence[float]:
        """Add where a candidate is mentioned, and as what; and the surroundings of its name."""
        (referent, ahead), i = candidate, anaphor.first
        sentence = self._text.sentence_of(i)
        name: Name | None = referent.last
        is_mentioned = bool(referent.count or referent.earlier_count)
        is_named_here = not referent.back and referent.count > 0
        if not is_mentioned and referent.anaphor is None:
            values["only behind"] = 1.0
            name = ahead
        if ahead is not None:
            values["also behind"] = 1.0
            values["behind in sentence"] = float(ahead.sentence == sentence)
            values["tokens behind"] = log1p(ahead.first - i) / 4
        pronoun = referent.anaphor
        if pronoun and (not is_named_here or name is None or pronoun.first > name.first):
            token, role = pronoun.first, _ROLE_OF_CASE[pronoun.case]
            distance = sentence - self._text.sentence_of(token)
            values["last mention is an anaphor"] = 1.0
            values["last anaphor has the same case"] = float(pronoun.case == anaphor.case)
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
                self._add_between(values, token, i, role)
        is_object = role == "oblique" and anaphor.case == "object"
        values["same role"] = float(role == _ROLE_OF_CASE[anaphor.case] or is_object)
        values["both subjects"] = float(role == "subject" and anaphor.case == "subject")
        values["subject of the last sentence"] = float(referent.subject_sentence == sentence - 1)
        values["subject in this sentence before"] = float(referent.subject_sentence == sentence)
        if name is None:
            return _NO_SURROUNDINGS
        if is_named_here and name.first < i:
            values["tokens before, name"] = log1p(i - name.last) / 5
        values["behind the anaphor's possessive"] = float(
            anaphor.case == "possessive"
            and ahead is not None
            and ahead.first - i <= _POSSESSED_REACH
        )
        values["quotes differ"] = float(bool(name.surroundings[_IN_QUOTES]) != among.in_quotes)
        return name.surroundings

    def _add_between(self, values: dict[str, float], token: int, i: int, role: str) -> None:
        """Add what stands between a mention and an anaphor of the same sentence."""
        verbs = self._count("verbs", token, i)
        values["no verb between"] = float(verbs == 0)
        values["one verb between"] = float(verbs == 1)
        for sort, most in (
            ("verbs", 4),
            ("commas", 4),
            ("subordinators", 3),
            ("relatives", 2),
            ("conjunctions", 3),
        ):
            values[f"{sort} between"] = _share(self._count(sort, token, i), most)
        is_nearest = self._subject_before(i) == token
        values["nearest subject"] = float(is_nearest)
        values["nearest subject and one verb"] = float(is_nearest and verbs <= 1)
        if role == "subject":
            following = self._lowered[token + 1 : min(i, token + _SPEECH_REACH)]
            values["subject that speaks"] = float(not _SPEECH.isdisjoint(following))


def _add_meaning(
    values: dict[str, float], anaphor: Anaphor, referent: Referent, fit: float, among: _Among
) -> None:
    """Add what a referent is, and how often it is mentioned."""
    kind = referent.kind
    values |= {
        "most named": float(0 < referent.count == among.most_names),
        "share of names": referent.count / max(1, among.all_names),
        "only fitting": float(among.fitting == 1 and fit > _FITS),
        "names": log1p(referent.count) / 2,
        "names in passage": log1p(referent.total) / 2,
        "anaphors": log1p(referent.anaphor_count) / 2,
        "names in earlier passages": log1p(referent.earlier_count) / 2,
        "gender fits": fit,
        "gender misfits": float(fit < _MISFITS),
        "gender known": float(referent.gender_known),
        "person": float(kind in ("PER", "PERSON")),
        "place": float(kind in PLACES),
        "organisation": float(kind in ORGANISATIONS),
        "untyped": float(not kind),
        "words of the name": _share(len(referent.words), 4),
        "coordination": float(bool(referent.members)),
        "speaker": float(referent.is_speaker),
        "listener": float(referent.is_listener),
    }
    if anaphor.noun:
        values["noun in name"] = float(anaphor.noun in referent.words)
        values["noun fits kind"] = float(
            (kind in ORGANISATIONS and anaphor.noun in WORDS["nouns"]["organisation"])
            or (kind in PLACES and anaphor.noun in WORDS["nouns"]["place"])
        )
