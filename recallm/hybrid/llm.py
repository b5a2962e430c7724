"""``LLMDiscriminator``: a language model chooses between answers, by a 6-shot prompt."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence

from recallm import checks
from recallm.errors import InvalidInputError, LLMError
from recallm.hybrid.discriminator import Choice, checked_answers, one_of
from recallm.prompts import discriminator_prompt

__all__ = ["LLMDiscriminator"]

_LONGEST = 2000
"""Characters of the beginning and of the end of a reply that are looked at."""
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
_LETTERS = "ABCDEFGHI"
_STRAIGHT = str.maketrans("’‘", "''")
_THOUGHT_END = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_THOUGHT_START = re.compile(r"<think(?:ing)?>", re.IGNORECASE)
_MARKS = re.compile(r"[*_`\"“”#()\[\]{}<>=]")
_NUMBER_SIGN = re.compile(r"\bno\.[ ]?(?=\d)", re.IGNORECASE)
_COLON = re.compile(r":\s*")
_TOKEN = re.compile(r"\d+(?:[.,]\d+)+|\w+(?:'\w+)*|[.,;!?\n—–-]")
_STOPS = frozenset(".,;!?\n—–-")
_JOINING = frozenset(("but", "because", "since", "so", "although", "though", "while", "whereas"))
_DENIAL = re.compile(
    r"\b(?:not|never|neither|nor|no|none|cannot|cant|isnt|\w+n't|wrong|incorrect|false|worse|worst"
    r"|least|hardly|unlike|except|without|if|unless|whether|either|doubt|unsure|uncertain|both"
    r"|vaguer?|hedg(?:es|ing|ed)|refus(?:es|ing)|evasive|weak(?:er|est))\b",
    re.IGNORECASE,
)

_CALLED = r"(?:(?:answer|choice|option|response|number|candidate) )"
_LABEL = r"(\d+|(?-i:[A-I])|first|second|third|fourth|fifth|sixth|seventh|eighth|ninth)"
_LABELLED = rf"(?:the )?{_CALLED}{{0,2}}{_LABEL}(?: (?:one|answer|choice|option|response))?"
_BARE = re.compile(_LABELLED, re.IGNORECASE)
_VERDICTS = (
    re.compile(
        r"\b(?:(?:best|better|final|chosen|correct|right) (?:answer|choice|option|response|one)"
        r"|(?:answer|choice|option|response|one) (?:is|isn't)"
        r"|choose|chose|pick|select|prefer|go with)"
        rf" (?:(?:is|isn't|would be|must be) )?(?:(?:not|never) )?{_LABELLED}"
        r"(?= (?:is|over|than|rather|as|for|with|instead|it|which)\b|$)",
        re.IGNORECASE,
    ),
    re.compile(
        rf"(?:^|\b(?:that|think|but|so|because|since) ){_LABELLED} is "
        r"(?:clearly |the |a |much )*(?:better|best|right|correct|clear|clearer|preferable|more "
        r"(?:certain|concise|specific|direct|precise|informative|confident|accurate|complete|helpful))\b",
        re.IGNORECASE,
    ),
)
_ECHO = re.compile(r"\W{0,4}(?:(?:best )?answer )?([1-9])\W{1,4}(?=\w)", re.IGNORECASE)
_SHOWN = 200


class LLMDiscriminator:
    """Chooses between answers as in the paper: a 6-shot prompt asks ``llm`` for the more certain
    and concise one. ``llm`` is any callable prompt → text.

    In which order the answers stand in the prompt depends on their texts alone, so that no name is
    favoured. The choice has no probability; its ``reason`` is what the model replied. Where all
    answers are equal, or one alone holds any text, the model is not asked.

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
        """The better of ``answers``, as the model sees it.

        Raises:
            InvalidInputError: the arguments cannot be used.
            LLMError: the model failed, or its reply names no answer, or several.

        """
        asked, checked = checked_answers(question, answers)
        choice = one_of(checked)
        if choice is not None:
            return choice
        # Equal answers are shown once, under the first of their names.
        said = {answer: name for name, answer in reversed(checked.items()) if answer}
        texts = sorted(said, key=lambda answer: _digest(asked, answer))
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
        place = _place(reply, texts)
        if place is None:
            raise LLMError(
                "the discriminator's language model was to reply with the number of an answer, 1 "
                f"to {len(texts)}, but replied {reply.strip()[:_SHOWN]!r}"
            )
        return Choice(said[texts[place]], None, reply.strip())


def _place(reply: str, texts: Sequence[str]) -> int | None:
    """Which text a reply names: by its last verdict ("best answer: 2", "answer B is better"), else
    by beginning with a label alone ("2.", "A", "The second one"), else by repeating the text, else
    by a single clause that ends with the only number in it. None where it denies what it names, or
    may mean several."""
    echo = _ECHO.match(reply)
    if echo is not None:
        place = int(echo[1]) - 1
        rest = _folded(reply[echo.end() :])
        same = [it for it, text in enumerate(texts) if _folded(text) == rest]
        if same:
            return place if place in same else None
    clauses = _clauses(_spoken(reply))
    labels = _labels(len(texts))
    named = _by_verdicts(clauses, labels)
    if named is None:
        named = _by_beginning(clauses, labels)
    elif any(_folded(text).strip(".") == str(named + 1) for text in texts):
        return None  # "The answer is 2", where one is "2"
    said = _folded(reply)
    repeated = next((place for place, text in enumerate(texts) if _folded(text) == said), None)
    if named is not None:
        # A number is what was asked for; a letter or word may as well be an answer itself.
        apart = repeated is not None and repeated != named and not said.isdecimal()
        return None if apart else named
    if repeated is not None:
        return repeated
    return _by_only_number(clauses, texts)


def _spoken(reply: str) -> str:
    """What a reply says after its thoughts; of a long one the beginning and the end."""
    text = _THOUGHT_END.split(reply)[-1]
    text = _THOUGHT_START.split(text)[0]
    if len(text) > 2 * _LONGEST:
        text = f"{text[:_LONGEST]}\n{text[-_LONGEST:]}"
    text = _MARKS.sub(" ", text.translate(_STRAIGHT))
    text = _NUMBER_SIGN.sub("number ", text)
    return _COLON.sub(" ", text).strip()


def _clauses(text: str) -> list[str]:
    """The words of each clause, with one space between; a question is none."""
    clauses: list[str] = []
    words: list[str] = []
    for said in [*_TOKEN.findall(text), "."]:
        if said not in _STOPS and said.lower() not in _JOINING:
            words.append(said)
            continue
        if words and said != "?":
            clauses.append(" ".join(words))
        words = [] if said in _STOPS else [said]
    return clauses


def _labels(count: int) -> dict[str, int]:
    """Places by what names them: numbers, letters, ordinals."""
    named = {str(place + 1): place for place in range(count)}
    named |= dict(zip(_LETTERS[:count], range(count), strict=False))
    return named | dict(zip(_ORDINALS[:count], range(count), strict=False))


def _by_verdicts(clauses: Sequence[str], labels: Mapping[str, int]) -> int | None:
    """The last verdict's; none where a clause denies that very one."""
    named: int | None = None
    denied: set[int | None] = set()
    for clause in clauses:
        found = [it for pattern in _VERDICTS for it in pattern.finditer(clause)]
        for verdict in found:
            place = labels.get(_label(verdict[1]))
            if _denies(clause[: verdict.end()]):
                denied.add(place)
            elif place is not None:
                named = place
    return None if named in denied else named


def _by_beginning(clauses: Sequence[str], labels: Mapping[str, int]) -> int | None:
    """The label that the first clause is, where no other clause is another one."""
    bare = [_BARE.fullmatch(clause) for clause in clauses]
    places = {labels.get(_label(it[1])) for it in bare if it is not None}
    if not bare or bare[0] is None or len(places) != 1:
        return None
    if len(clauses) > 1 and _denies(clauses[1].partition(" ")[0]):
        return None
    return places.pop()


def _by_only_number(clauses: Sequence[str], texts: Sequence[str]) -> int | None:
    """The number that the only clause ends with, where no other is in it, no answer holds it, and
    nothing is denied."""
    if len(clauses) != 1 or _denies(clauses[0]):
        return None
    said = clauses[0].split()
    numbers = {word for word in said if word[0].isdigit()}
    held = {word for text in texts for word in _TOKEN.findall(text)}
    places = {str(place + 1): place for place in range(len(texts))}
    alone = numbers == {said[-1]} and not numbers & held
    return places.get(said[-1]) if alone else None


def _label(said: str) -> str:
    return said.lower() if len(said) > 1 else said


def _denies(clause: str) -> bool:
    return _DENIAL.search(clause) is not None


def _folded(text: str) -> str:
    return " ".join(text.split()).strip("\"'").casefold()


def _digest(question: str, answer: str) -> str:
    return hashlib.sha256(f"{question}\0{answer}".encode()).hexdigest()
