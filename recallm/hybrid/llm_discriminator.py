"""``LLMDiscriminator``: a language model chooses between answers, by a 6-shot prompt."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence

from recallm import checks
from recallm.errors import InvalidInputError, LLMError
from recallm.hybrid.discriminator import Choice, checked_answers, obvious_choice
from recallm.prompts import discriminator_prompt

__all__ = ["LLMDiscriminator"]

_MAX_LENGTH = 2000
"""Characters that are read of the beginning and of the end of a long reply."""

_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
_LETTERS = "ABCDEFGHI"
_STRAIGHT_APOSTROPHES = str.maketrans("’‘", "''")
_THOUGHT_END = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_THOUGHT_START = re.compile(r"<think(?:ing)?>", re.IGNORECASE)
_MARKS = re.compile(r"[*_`\"“”#()\[\]{}<>=]")
_NUMBER_SIGN = re.compile(r"\bno\.[ ]?(?=\d)", re.IGNORECASE)
_COLON = re.compile(r":\s*")
_TOKEN = re.compile(r"\d+(?:[.,]\d+)+|\w+(?:'\w+)*|[.,;!?\n—–-]")
_CLAUSE_ENDS = frozenset(".,;!?\n—–-")
_CONJUNCTIONS = frozenset(
    ("but", "because", "since", "so", "although", "though", "while", "whereas")
)
_NEGATION = re.compile(
    r"\b(?:not|never|neither|nor|no|none|cannot|cant|isnt|\w+n't|wrong|incorrect|false|worse|worst"
    r"|least|hardly|unlike|except|without|if|unless|whether|either|doubt|unsure|uncertain|both"
    r"|vaguer?|hedg(?:es|ing|ed)|refus(?:es|ing)|evasive|weak(?:er|est))\b",
    re.IGNORECASE,
)

_NOUN = r"(?:(?:answer|choice|option|response|number|candidate) )"
_LABEL = r"(\d+|(?-i:[A-I])|first|second|third|fourth|fifth|sixth|seventh|eighth|ninth)"
_CHOICE = rf"(?:the )?{_NOUN}{{0,2}}{_LABEL}(?: (?:one|answer|choice|option|response))?"
_BARE_CHOICE = re.compile(_CHOICE, re.IGNORECASE)
_VERDICTS = (
    re.compile(
        r"\b(?:(?:best|better|final|chosen|correct|right) (?:answer|choice|option|response|one)"
        r"|(?:answer|choice|option|response|one) (?:is|isn't)"
        r"|choose|chose|pick|select|prefer|go with)"
        rf" (?:(?:is|isn't|would be|must be) )?(?:(?:not|never) )?{_CHOICE}"
        r"(?= (?:is|over|than|rather|as|for|with|instead|it|which)\b|$)",
        re.IGNORECASE,
    ),
    re.compile(
        rf"(?:^|\b(?:that|think|but|so|because|since) ){_CHOICE} is "
        r"(?:clearly |the |a |much )*(?:better|best|right|correct|clear|clearer|preferable|more "
        r"(?:certain|concise|specific|direct|precise|informative|confident|accurate|complete|helpful))\b",
        re.IGNORECASE,
    ),
)
_REPEATED_ANSWER = re.compile(r"\W{0,4}(?:(?:best )?answer )?([1-9])\W{1,4}(?=\w)", re.IGNORECASE)
_MAX_SHOWN = 200
"""Characters of a reply in an error."""


class LLMDiscriminator:
    """Chooses between answers as in the paper: a 6-shot prompt asks ``llm`` for the more certain
    and concise one. ``llm`` is any callable prompt → text.

    The order of the answers in the prompt depends on their texts only, so that no name is favoured.
    The choice has no probability; its ``reason`` is the model's reply. The model is not asked if
    all answers are equal, or only one has text.

    >>> discriminator = LLMDiscriminator(lambda prompt: "1")
    >>> discriminator.choose("Who is Bo?", {"recallm": "A cat.", "vectors": ""}).name
    'recallm'

    Raises:
        InvalidInputError: ``llm`` is not callable.

    """

    def __init__(self, llm: Callable[[str], str]) -> None:
        checked = checks.optional_callable(llm, "llm")
        if checked is None:
            raise InvalidInputError("llm must be a callable prompt → text", argument="llm")
        self._llm = checked

    def choose(self, question: str, answers: Mapping[str, str | None]) -> Choice:
        """The best of ``answers`` in the model's opinion.

        Raises:
            InvalidInputError: the arguments cannot be used.
            LLMError: the model failed, or its reply names no answer, or several.

        """
        asked, checked = checked_answers(question, answers)
        choice = obvious_choice(checked)
        if choice is not None:
            return choice
        # Equal answers are shown once, under the first of their names.
        names = {answer: name for name, answer in reversed(checked.items()) if answer}
        texts = sorted(names, key=lambda answer: _digest(asked, answer))
        try:
            reply: object = self._llm(discriminator_prompt(asked, texts))
        except Exception as error:
            raise LLMError(
                f"the discriminator's language model failed: {type(error).__name__}: {error}"
            ) from error
        if not isinstance(reply, str):
            raise LLMError(
                f"the discriminator's language model replied with {type(reply).__name__}, not with "
                "a str; wrap it in a function that returns the text"
            )
        place = _chosen_place(reply, texts)
        if place is None:
            raise LLMError(
                "the discriminator's language model was to reply with the number of an answer, 1 "
                f"to {len(texts)}, but replied {reply.strip()[:_MAX_SHOWN]!r}"
            )
        return Choice(names[texts[place]], None, reply.strip())


def _chosen_place(reply: str, texts: Sequence[str]) -> int | None:
    """The place of the text that a reply chooses: by its last verdict ("best answer: 2", "answer B
    is better"), else by a bare label at its beginning ("2.", "A", "The second one"), else by
    repeating the text, else by a single clause that ends with the only number in it. None if the
    reply negates its choice, or may mean several."""
    repeated = _REPEATED_ANSWER.match(reply)
    if repeated is not None:  # "2. Brandon lives in Paris."
        place = int(repeated[1]) - 1
        places = _places_of(reply[repeated.end() :], texts)
        if places:
            return place if place in places else None
    clauses = _clauses(_without_thoughts(reply))
    labels = _labels(len(texts))
    labelled = _by_verdicts(clauses, labels)
    if labelled is None:
        labelled = _by_beginning(clauses, labels)
    elif any(_folded(text).strip(".") == str(labelled + 1) for text in texts):
        return None  # "The answer is 2", and an answer is "2"
    equal = _places_of(reply, texts)
    if labelled is not None:
        # A number is what was asked for; a letter or word may as well be an answer itself.
        is_ambiguous = equal and equal[0] != labelled and not _folded(reply).isdecimal()
        return None if is_ambiguous else labelled
    return equal[0] if equal else _by_only_number(clauses, texts)


def _places_of(reply: str, texts: Sequence[str]) -> list[int]:
    """The places of the texts that a reply repeats."""
    return [place for place, text in enumerate(texts) if _folded(text) == _folded(reply)]


def _without_thoughts(reply: str) -> str:
    """A reply after its thoughts, without marks; the beginning and the end of a long one."""
    text = _THOUGHT_END.split(reply)[-1]
    text = _THOUGHT_START.split(text)[0]
    if len(text) > 2 * _MAX_LENGTH:
        text = f"{text[:_MAX_LENGTH]}\n{text[-_MAX_LENGTH:]}"
    text = _MARKS.sub(" ", text.translate(_STRAIGHT_APOSTROPHES))
    text = _NUMBER_SIGN.sub("number ", text)
    return _COLON.sub(" ", text).strip()


def _clauses(text: str) -> list[str]:
    """The words of each clause, joined by single spaces; questions are left out."""
    clauses: list[str] = []
    words: list[str] = []
    for part in [*_TOKEN.findall(text), "."]:
        if part not in _CLAUSE_ENDS and part.lower() not in _CONJUNCTIONS:
            words.append(part)
            continue
        if words and part != "?":
            clauses.append(" ".join(words))
        words = [] if part in _CLAUSE_ENDS else [part]
    return clauses


def _labels(count: int) -> dict[str, int]:
    """Places by their labels: numbers, letters, ordinals."""
    labels = {str(place + 1): place for place in range(count)}
    labels |= dict(zip(_LETTERS[:count], range(count), strict=False))
    return labels | dict(zip(_ORDINALS[:count], range(count), strict=False))


def _by_verdicts(clauses: Sequence[str], labels: Mapping[str, int]) -> int | None:
    """The choice of the last verdict; None if some clause negates that choice."""
    chosen: int | None = None
    negated: set[int | None] = set()
    for clause in clauses:
        found = [it for pattern in _VERDICTS for it in pattern.finditer(clause)]
        for verdict in found:
            place = labels.get(_label(verdict[1]))
            if _is_negated(clause[: verdict.end()]):
                negated.add(place)
            elif place is not None:
                chosen = place
    return None if chosen in negated else chosen


def _by_beginning(clauses: Sequence[str], labels: Mapping[str, int]) -> int | None:
    """The choice if the first clause is a bare label, and no other clause is another label."""
    bare = [_BARE_CHOICE.fullmatch(clause) for clause in clauses]
    places = {labels.get(_label(it[1])) for it in bare if it is not None}
    if not bare or bare[0] is None or len(places) != 1:
        return None
    if len(clauses) > 1 and _is_negated(clauses[1].partition(" ")[0]):
        return None
    return places.pop()


def _by_only_number(clauses: Sequence[str], texts: Sequence[str]) -> int | None:
    """The number at the end of the only clause, if it has no other number and no negation, and no
    answer holds that number."""
    if len(clauses) != 1 or _is_negated(clauses[0]):
        return None
    words = clauses[0].split()
    numbers = {word for word in words if word[0].isdigit()}
    words_of_answers = {word for text in texts for word in _TOKEN.findall(text)}
    is_only_number = numbers == {words[-1]} and not numbers & words_of_answers
    places = {str(place + 1): place for place in range(len(texts))}
    return places.get(words[-1]) if is_only_number else None


def _label(text: str) -> str:
    return text.lower() if len(text) > 1 else text


def _is_negated(clause: str) -> bool:
    return _NEGATION.search(clause) is not None


def _folded(text: str) -> str:
    return " ".join(text.split()).strip("\"'").casefold()


def _digest(question: str, answer: str) -> str:
    return hashlib.sha256(f"{question}\0{answer}".encode()).hexdigest()
