"""The work for a text grows with its length and no faster; counted, not timed."""

from __future__ import annotations

from recallm.extraction.coreference import Decision, decisions
from recallm.extraction.coreference.discourse import MAX_CANDIDATES, Referent
from tests.coreference.passages import read_turns
from tests.tables import each_row

_AHEAD = 4
_NAMES = (
    "Anna",
    "Bert",
    "Carla",
    "David",
    "Emma",
    "Frank",
    "Greta",
    "Hans",
    "Ida",
    "Jonas",
    "Karin",
)


def _rows(text: str) -> list[int]:
    """How many rows of features each anaphor of a text costs; each one goes to its first
    candidate."""
    (read,) = read_turns(text)

    def choose(decision: Decision) -> Referent | None:
        return decision.candidates[0][0]

    return [len(decision.rows) for decision in decisions(read, (), choose)]


def _story(sentences: int) -> str:
    return " ".join(
        f"{_NAMES[i % len(_NAMES)]}{i} met {_NAMES[(i * 7) % len(_NAMES)]}, and he told her that "
        "it was late."
        for i in range(sentences)
    )


def test_an_anaphor_has_a_bounded_number_of_candidates() -> None:
    assert max(_rows(_story(60))) <= 1 + MAX_CANDIDATES + _AHEAD


def test_twice_the_text_is_twice_the_work() -> None:
    once, twice = sum(_rows(_story(80))), sum(_rows(_story(160)))
    assert twice <= 2.2 * once


@each_row(["he", "the company ", "她", "Ann,he;"])
def test_a_long_text_of_one_kind_is_read(word: str) -> None:
    assert isinstance(_rows(word * 3_000), list)
