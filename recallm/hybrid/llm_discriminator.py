"""``LLMDiscriminator``: a language model chooses between answers, by a 6-shot prompt."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import chain

from recallm.errors import InvalidInputError, LLMError
from recallm.hybrid.discriminator import Choice, checked_answers, obvious_choice
from recallm.prompts import answer_of, discriminator_prompt

__all__ = ["LLMDiscriminator"]

_MAX_LENGTH = 2000
"""Characters that are read of the beginning and of the end of a long reply."""

_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
_LETTERS = "ABCDEFGHI"
_STRAIGHT_APOSTROPHES = str.maketrans("’‘", "''")
_THOUGHT_END = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_THOUGHT_START = re.compile(r"<think(?:ing)?>", re.IGNORECASE)
_MARKS = re.compile(r"\\boxed|[*_`\"“”#()\[\]{}<>=]|:\s*")
_NUMBER_SIGN = re.compile(r"\bno\.[ ]?(?=\d)", re.IGNORECASE)
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
_BARE_CHOICE = re.compile(rf"(?:(?:the )?best )?{_CHOICE}", re.IGNORECASE)
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
        if not callable(llm):
            raise InvalidInputError("llm must be a callable prompt → text", argument="llm")
        self._llm = llm

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
        reply = answer_of(self._llm, discriminator_prompt(asked, texts))
        place = _chosen_place(reply, texts)
        if place is None:
            raise LLMError(
                "the discriminator's language model was to reply with the number of an answer, 1 "
                f"to {len(texts)}, but replied {reply[:_MAX_SHOWN]!r}"
            )
        return Choice(names[texts[place]], None, reply)


def _chosen_place(reply: str, texts: Sequence[str]) -> int | None:
    """The place of the text that a reply chooses: by its last verdict ("best answer: 2", "answer B
    is better"), else by a bare label at its beginning ("2.", "A", "The second one"), else by
    repeating the text. None if the reply negates its choice, or may mean several."""
    repeated = _REPEATED_ANSWER.match(reply)
    if repeated is not None:  # "2. Brandon lives in Paris."
        place = int(repeated[1]) - 1
        places = _places_of(reply[repeated.end() :], texts)
        if places:
            return place if place in places else None
    equal = _places_of(reply, texts)
    clauses = _clauses(_without_thoughts(reply))
    label = _chosen_label(clauses)
    chosen = _labels(len(texts)).get(label)
    if chosen is None:
        return equal[0] if equal else None
    # A number alone is what was asked for; else a label may be an answer itself.
    is_number_alone = clauses == [label] and label.isdecimal()
    rivals = {*equal, *_places_of(label, texts), *_places_of(f"{label}.", texts)} - {chosen}
    return None if rivals and not is_number_alone else chosen


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
    return _NUMBER_SIGN.sub("number ", text).strip()


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
    kinds = ([str(place + 1) for place in range(count)], _LETTERS, _ORDINALS)
    return {label: place for kind in kinds for place, label in enumerate(kind[:count])}


def _chosen_label(clauses: Sequence[str]) -> str:
    """The label of the last verdict; without one, of the first clause if that is a bare label and
    no other clause is another one. Empty if there is none, or some clause negates it."""
    chosen = ""
    negated: set[str] = set()
    for clause in clauses:
        for verdict in chain.from_iterable(it.finditer(clause) for it in _VERDICTS):
            if _is_negated(clause[: verdict.end()]):
                negated.add(_label(verdict))
            else:
                chosen = _label(verdict)
    if chosen:
        return "" if chosen in negated else chosen
    bare = [_BARE_CHOICE.fullmatch(clause) for clause in clauses]
    labels = {_label(it) for it in bare if it is not None}
    if not bare or bare[0] is None or len(labels) != 1:
        return ""
    if len(clauses) > 1 and _is_negated(clauses[1].partition(" ")[0]):
        return ""
    return labels.pop()


def _label(choice: re.Match[str]) -> str:
    return choice[1].lower() if len(choice[1]) > 1 else choice[1]


def _is_negated(clause: str) -> bool:
    return _NEGATION.search(clause) is not None


def _folded(text: str) -> str:
    return " ".join(text.split()).strip("\"'").casefold()


def _digest(question: str, answer: str) -> str:
    return hashlib.sha256(f"{question}\0{answer}".encode()).hexdigest()
