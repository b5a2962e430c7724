"""The dialogues of RET-LLM: Figures 3, 4 and 5, with the texts that the figures print."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Figure:
    """Sentences with the calls that write, and a question."""

    name: str
    told: tuple[tuple[str, str], ...]
    question: str
    response: str
    """Of the model to the controller."""
    full_input: str
    """Of the model, once the memory has answered."""
    answer: str


FIGURES = (
    Figure(
        name="figure 3",
        told=(
            (
                "Cyrus Alfred, Tia Batres, and Pasquale Ballif are customers of Pfizer.",
                (
                    "[MEM_WRITE{Cyrus Alfred>>customer of>>Pfizer}]"
                    "[MEM_WRITE{Tia Batres>>customer of>>Pfizer}]"
                    "[MEM_WRITE{Pasquale Ballif>>customer of>>Pfizer}]"
                ),
            ),
            (
                "Dorothea Altemus is employed by Pfizer.",
                "[MEM_WRITE{Dorothea Altemus>>employed by>>Pfizer}]",
            ),
        ),
        question="Who are employed by Pfizer?",
        response="[MEM_READ{>>employed by>>Pfizer}:",
        full_input=(
            "Who are employed by Pfizer?[MEM_READ{>>employed by>>Pfizer}:"
            "{Dorothea Altemus>>employed by>>Pfizer}]"
        ),
        answer="Dorothea Altemus is employed by Pfizer.",
    ),
    Figure(
        name="figure 4",
        # The figure shows the question alone.
        told=(
            (
                "Joe Biden is the president of the United States.",
                "[MEM_WRITE{Joe Biden>>president of>>United States}]",
            ),
        ),
        question="Who is the president of the United States?",
        response="[MEM_READ{>>president of>>United States}:",
        full_input=(
            "Who is the president of the United States?[MEM_READ{>>president of>>United States}:"
            "{Joe Biden>>president of>>United States}]"
        ),
        answer="Joe Biden is the president of the United States.",
    ),
    Figure(
        name="figure 5",
        told=(
            (
                "Mozella Baima and Modesto Baichan are employees of ExxonMobil.",
                (
                    "[MEM_WRITE{Mozella Baima>>employed by>>ExxonMobil}]"
                    "[MEM_WRITE{Modesto Baichan>>employed by>>ExxonMobil}]"
                ),
            ),
            (
                "Maryjane Bachand and Willian Beasmore are employees of BMW.",
                (
                    "[MEM_WRITE{Maryjane Bachand>>employed by>>BMW}]"
                    "[MEM_WRITE{Willian Beasmore>>employed by>>BMW}]"
                ),
            ),
            (
                "Willian Banik is a customer of BMW.",
                "[MEM_WRITE{Willian Banik>>customer of>>BMW}]",
            ),
        ),
        question="Who are related to BMW?",
        response="[MEM_READ{>>>>BMW}:",
        full_input=(
            "Who are related to BMW?[MEM_READ{>>>>BMW}:{Maryjane Bachand>>employed by>>BMW};"
            "{Willian Beasmore>>employed by>>BMW};{Willian Banik>>customer of>>BMW}]"
        ),
        answer="Willian Beasmore, Maryjane Bachand, and Willian Banik are related to BMW.",
    ),
)
