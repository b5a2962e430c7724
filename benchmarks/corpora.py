"""The public data sets of the recall benchmark, read from wherever they lie.

LoCoMo (Maharana et al., ACL 2024) and REALTALK (Lee et al. 2025) are folders of conversations,
a JSON file each; LongMemEval (Wu et al., ICLR 2025) is a folder of histories with one question
each, a JSON file each, gzipped or not; DuoRC (Saha et al., ACL 2018), with the questions whose
answer stands in the plot, is a JSON Lines file, gzipped or not, a film a line.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

_CATEGORIES = {
    1: "multi-hop",
    2: "temporal",
    3: "commonsense",
    4: "single-hop",
    5: "adversarial",
}

ABSTENTION = "abstention"
"""The category of LongMemEval's questions whose answer the history does not hold."""

_SAID = "%d.%m.%Y, %H:%M:%S"
_BEGAN = "%I:%M %p on %d %B, %Y"
_DATED = "%Y/%m/%d (%a) %H:%M"
_TURN_ID = re.compile(r"D\d+:\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What one speaker said in one go; ``id`` is what evidence names."""

    id: str
    speaker: str
    timestamp: datetime
    session: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question, its answers, and the ids of the turns that support them (``evidence``), of the
    sessions that do (``sessions``), and the moment at which the question is asked."""

    question: str
    answers: tuple[str, ...]
    evidence: tuple[str, ...] = ()
    category: str | None = None
    sessions: tuple[str, ...] = ()
    moment: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """What was said, and the questions that have evidence."""

    name: str
    turns: tuple[Turn, ...]
    questions: tuple[Asked, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Film:
    """A plot, and the questions with an answer that it holds word for word (these answers)."""

    name: str
    plot: str
    questions: tuple[Asked, ...]


def conversations(folder: Path) -> Iterator[Conversation]:
    """The conversations of LoCoMo or REALTALK, one for each JSON file.

    Questions of all categories; evidence that names no turn is left out, and with it a question
    that has no other.
    """
    for path in sorted(folder.glob("*.json")):
        read = json.loads(path.read_text(encoding="utf-8"))
        turns = tuple(_turns(read))
        known = {turn.id for turn in turns}
        questions = []
        for asked in read["qa"]:
            named = _TURN_ID.findall(" ".join(asked["evidence"]))
            evidence = tuple(dict.fromkeys(id for id in named if id in known))
            if evidence:
                answer = asked.get("answer", asked.get("adversarial_answer"))
                questions.append(
                    Asked(
                        question=str(asked["question"]),
                        answers=() if answer is None else (str(answer),),
                        evidence=evidence,
                        category=_CATEGORIES.get(asked.get("category")),
                    )
                )
        yield Conversation(name=path.stem, turns=turns, questions=tuple(questions))


def histories(folder: Path) -> Iterator[Conversation]:
    """The histories of LongMemEval in the order of their files' names, their sessions in order of
    time. The speakers are "user" and "assistant". A turn's id is the place of its session and its
    place in the session ("12:3"): a few histories hold a session twice."""
    for path in sorted([*folder.glob("*.json"), *folder.glob("*.json.gz")]):
        content = path.read_bytes()
        read = json.loads(gzip.decompress(content) if path.suffix == ".gz" else content)
        turns, evidence = [], []
        dated = zip(
            (_moment(date, _DATED) for date in read["haystack_dates"]),
            read["haystack_session_ids"],
            read["haystack_sessions"],
            strict=True,
        )
        for place, (began, session, said) in enumerate(sorted(dated, key=lambda each: each[0])):
            for number, turn in enumerate(said):
                id = f"{place}:{number}"
                turns.append(
                    Turn(
                        id=id,
                        speaker=turn["role"],
                        timestamp=began,
                        session=session,
                        text=turn["content"],
                    )
                )
                if turn.get("has_answer"):
                    evidence.append(id)
        unanswerable = read["question_id"].endswith("_abs")
        asked = Asked(
            question=read["question"],
            answers=(str(read["answer"]),),
            evidence=tuple(evidence),
            category=ABSTENTION if unanswerable else read["question_type"],
            sessions=tuple(dict.fromkeys(read["answer_session_ids"])),
            moment=_moment(read["question_date"], _DATED),
        )
        yield Conversation(name=read["question_id"], turns=tuple(turns), questions=(asked,))


def title_of(folder: Path) -> str:
    """Which data set lies in a folder, by its name or that of a folder above: LoCoMo, REALTALK;
    else the folder's name."""
    name = str(folder.resolve()).casefold()
    places = {title: name.rfind(title.casefold()) for title in ("LoCoMo", "REALTALK")}
    title = max(places, key=lambda each: places[each])
    return title if places[title] >= 0 else folder.resolve().name


def films(path: Path, count: int) -> list[Film]:
    """The first ``count`` films of DuoRC that have a question whose answer stands in the plot."""
    found: list[Film] = []
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as lines:
        for line in lines:
            row = json.loads(line)
            plot = row["plot"].lower()
            questions = tuple(
                Asked(question=asked["question"], answers=answers)
                for asked in row["questions"]
                if (
                    answers := tuple(a for a in asked["answers"] if a.strip() and a.lower() in plot)
                )
            )
            if questions:
                found.append(Film(name=row["id"], plot=row["plot"], questions=questions))
            if len(found) == count:
                break
    return found


def _turns(read: dict[str, Any]) -> Iterator[Turn]:
    numbers = sorted(
        int(name.removeprefix("session_")) for name in read if re.fullmatch(r"session_\d+", name)
    )
    for number in numbers:
        session = f"session_{number}"
        for turn in read[session]:
            said = turn.get("date_time")
            caption = turn.get("blip_caption")
            yield Turn(
                id=turn["dia_id"],
                speaker=turn["speaker"],
                timestamp=_moment(said, _SAID)
                if said
                else _moment(read[f"{session}_date_time"], _BEGAN),
                session=session,
                text=turn["text"] + (f" [shares {caption}]" if caption else ""),
            )


def _moment(text: str, form: str) -> datetime:
    return datetime.strptime(text, form).replace(tzinfo=UTC)
