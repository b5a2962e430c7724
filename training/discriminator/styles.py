"""Answers in the manner of other answerers, so that what is learnt carries over to them.

The graded answers come from one model with two prompts. Said by another one, a refusal has other
words, and an answer is a bare name, or has something before and after it. A manner keeps what an
answer tells, and so its grade. The manners of ``LEARNT`` vary the training data; those of
``HELD_OUT``, in other words throughout, are for measuring alone; but the rules for refusals were
written by who knew them, and catch nearly all. ``FIGURES`` are refusals that no rule catches.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from recallm.english.word_lists import word_set
from recallm.hybrid.features import plain_answer, refusal_start

_FILLERS = word_set(
    "a an the is are was were be been has have had do does did to of in on at by with for that "
    "who which it he she they and"
)
_WORD = re.compile(r"\w[\w'’.,-]*\w|\w")


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """How an answerer speaks: its refusals, what it puts before and after an answer (also
    nothing), and whether it gives the bare answer in place of a sentence."""

    refusals: Sequence[str]
    before: Sequence[str] = ("",)
    after: Sequence[str] = ("",)
    bare: bool = False


LEARNT = (
    Manner(
        refusals=(
            "I don't know.",
            "I do not know the answer to that.",
            "I'm not sure, there is nothing about it in what you told me.",
            "I have no information on this.",
        ),
        before=("", "I believe that ", "As far as I can tell, "),
    ),
    Manner(
        refusals=("Unknown", "Not mentioned", "N/A", "No information", "not specified"),
        bare=True,
    ),
    Manner(
        refusals=(
            "Unfortunately, the provided context doesn't contain that. Please share more!",
            "Based on the conversation history, I could not find any mention of this.",
            "I apologize, but I cannot determine this from the given text.",
        ),
        before=("Based on the provided context, ", "According to the text, "),
        after=("", " Let me know if you would like more details!"),
    ),
    Manner(
        refusals=(
            "That is not stated in the passage.",
            "The text gives no answer to this question.",
            "It cannot be determined from the memory.",
            "There is no record of this.",
        ),
    ),
)

HELD_OUT = (
    Manner(
        refusals=(
            "I wasn't able to find that anywhere in our earlier chats.",
            "Hmm, I can't recall anything like that.",
            "That never came up between us.",
        ),
        before=("", "I think ", "From what I remember, "),
        after=("", " Anything else?"),
    ),
    Manner(
        refusals=("unanswerable", "Unclear.", "No answer", "none given", "insufficient context"),
        bare=True,
    ),
    Manner(
        refusals=(
            "My notes are silent on the matter. Could you share where it came up?",
            "This detail isn't covered in the excerpts I was shown.",
            "None of the retrieved snippets touch on this.",
        ),
        before=("Going by the excerpts, ", "From the retrieved notes: "),
        after=("", " (see the excerpts above)"),
    ),
    Manner(
        refusals=(
            "The plot leaves this unspecified.",
            "Nothing is said about this.",
            "We are not told.",
        ),
    ),
)


FIGURES = Manner(
    refusals=(
        "I drew a blank",
        "The answer eludes me",
        "That one's news to me.",
        "Your guess is as good as mine.",
        "Nobody has ever brought that up.",
        "I've got zero on that.",
        "Beats me.",
        "It's a mystery to me.",
    ),
    before=("", "Looking back, ", "If memory serves, ", "Right then: "),
    after=("", " Happy to dig deeper.", " That is all I have on it."),
)
"""For measuring how much is lost where refusals are not recognised: no rule is to be made of it."""


def restyled(question: str, answer: str, manner: Manner, random: Random) -> str:
    """``answer`` as an answerer of this manner would have said it."""
    text = plain_answer(answer)
    if refuses(text):
        return random.choice(manner.refusals)
    if manner.bare:
        return _bare(question, text)
    before = random.choice(manner.before)
    first = _WORD.match(text)
    if before and first is not None and first[0].lower() in _FILLERS:
        text = text[:1].lower() + text[1:]
    return before + text + random.choice(manner.after)


def refuses(answer: str) -> bool:
    """Whether an answer is a refusal as a whole: not after it has told something."""
    text = plain_answer(answer)
    start = refusal_start(text.lower())
    return start is not None and start < max(60, len(text) // 2)


_EVASIONS = (
    "{echo}.",
    "{echo}",
    "{question}",
    "{Echo} depends on many factors.",
    "It can vary: {echo} is different from case to case.",
    "There are several possible answers, and generally it depends on the individual.",
    "People usually do so for various reasons.",
    "Some people say one thing, others another, so it may or may not be so.",
    "{Echo}: this often has many causes, such as money, health or the people involved.",
    "In general, {echo} can mean different things, for example in films or in daily life.",
    "There is conflicting information about {echo}.",
    "Do you mean {echo}?",
    "Which one do you mean?",
)


def evasion(question: str, random: Random) -> str:
    """An answer that does not answer: the question again, or talk in general."""
    words = question.strip().rstrip("?").split()
    echo = " ".join(words[1:]) or question
    return random.choice(_EVASIONS).format(
        echo=echo, Echo=echo[:1].upper() + echo[1:], question=question
    )


def _bare(question: str, text: str) -> str:
    """From the first to the last word that the question does not hold; all of it where it holds
    them all."""
    asked = {word.lower() for word in _WORD.findall(question)} | _FILLERS
    told = [word for word in _WORD.finditer(text) if word[0].lower() not in asked]
    return text[told[0].start() : told[-1].end()] if told else text
