"""What newer and older statements say of each other, as far as a question asks of time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recallm import RecallM
from recallm.model import PreparedUpdate, TemporalReading
from recallm.recall.ranking.candidates import Candidates
from recallm.recall.ranking.concepts import named_share
from recallm.recall.ranking.stem_counts import Floats
from recallm.recall.ranking.succession import newest, succession_signals
from tests.retrieval import talk
from tests.retrieval.talk import FILL, asked, candidates, store_of

PRESENT = TemporalReading(intent="current", recency=1.0, order="latest")
LATELY = TemporalReading(recency=0.5, order="latest")
FIRST = TemporalReading(intent="historical", recency=0.0, order="earliest")
BEFORE = TemporalReading(intent="historical", recency=0.5, order="latest", previous=True)
ANY = TemporalReading(recency=0.0, order="any")

NAMES = ("superseded", "earliest", "neighbour state")

LISBON, MALAGA, DANCE = "Ingrid lives in Lisbon", "Ingrid lives in Malaga", "Ingrid likes to dance"


def turn(
    *sentences: str, id: str | None = None, day: int | None = None, session: str | None = None
) -> PreparedUpdate:
    """Facts on their own, unless they have a session: nothing is said around them."""
    return talk.turn(*sentences, id=id, day=day, session=session)


def replaced_in(found: Candidates) -> Floats:
    """How far a later change replaces each candidate, where all are as near in meaning."""
    number = len(found.statements)
    return newest(found, named_share(found), np.zeros(number), np.zeros((number, 2)))[1]


def told(
    *updates: PreparedUpdate,
    time: TemporalReading = PRESENT,
    match: Mapping[str, float] | None = None,
    alike: Mapping[str, Sequence[float]] | None = None,
) -> dict[str, dict[str, float]]:
    """The signals of each statement by its text. ``match`` (0 where it says nothing) and the
    vectors ``alike`` go by text too; where there are none, all are alike."""
    found = candidates(store_of(*updates), asked("Where is Ingrid", "ingrid", time=time))
    assert found is not None
    texts = [one.text for one in found.statements]
    odds = np.array([(match or {}).get(text, 0.0) for text in texts])
    vectors = np.array([(alike or {}).get(text, (1.0, 0.0)) for text in texts])
    values = succession_signals(found, odds, vectors, replaced_in(found))
    assert set(values) == set(NAMES)
    return {
        text: {name: float(values[name][place]) for name in NAMES}
        for place, text in enumerate(texts)
    }


def superseded(
    *updates: PreparedUpdate,
    text: str = LISBON,
    time: TemporalReading = PRESENT,
    match: Mapping[str, float] | None = None,
    alike: Mapping[str, Sequence[float]] | None = None,
) -> float:
    return told(*updates, time=time, match=match, alike=alike)[text]["superseded"]


def test_a_later_statement_like_an_earlier_one_supersedes_it() -> None:
    """As far as the present is asked for."""
    both = turn(LISBON), turn(MALAGA)
    assert superseded(*both) == pytest.approx(1)
    assert superseded(*both, text=MALAGA) == 0
    assert [superseded(*both, time=time) for time in (FIRST, BEFORE, ANY)] == [0, 0, 0]
    assert superseded(*both, time=LATELY) == pytest.approx(0.5)
    # A turn of a conversation is superseded a tenth as much.
    turns = turn(LISBON, session="a"), turn(DANCE, session="a"), turn(MALAGA, session="b")
    assert superseded(*turns) == pytest.approx(0.1)
    # The best of the later ones counts, not their sum.
    more = [turn(f"Ingrid lives in {place}") for place in ("Malaga", "Porto", "Vigo", "Faro")]
    assert superseded(turn(LISBON), *more) == pytest.approx(1)


def test_what_is_said_of_something_else_supersedes_nothing() -> None:
    both = turn(LISBON), turn(DANCE)
    assert superseded(*both, alike={DANCE: (0.0, 1.0)}) == 0
    assert 0 < superseded(*both, alike={DANCE: (0.6, 0.8)}) < 0.5
    assert superseded(*both, alike={DANCE: (-1.0, 0.0)}) == 0, "the contrary is not alike"


def test_what_answers_less_well_supersedes_in_part() -> None:
    """What is merely newer does not; what answers better does no more than wholly."""
    for odds, share in ((-5.0, np.exp(-5)), (-1.0, np.exp(-1)), (0.0, 1), (5.0, 1)):
        found = superseded(turn(LISBON), turn(MALAGA), match={MALAGA: odds})
        assert found == pytest.approx(share), odds


def test_it_goes_by_when_things_were_said_not_by_when_they_arrived() -> None:
    """By when they arrived where one has no timestamp; what was said at one moment is equal."""
    both = turn(MALAGA, day=9), turn(LISBON, day=2)
    assert superseded(*both) == pytest.approx(1)
    assert superseded(*both, text=MALAGA) == 0
    first = told(*both, time=FIRST)
    assert first[LISBON]["earliest"] > first[MALAGA]["earliest"]
    assert superseded(*both, turn(DANCE), text=MALAGA) == pytest.approx(1)
    for time in (PRESENT, FIRST, BEFORE):
        for updates in (
            (turn(LISBON, day=2), turn(MALAGA, day=2)),
            (turn(LISBON, MALAGA),),
            (turn(LISBON, MALAGA, day=2),),
        ):
            found = told(*updates, time=time)
            assert found[LISBON] == found[MALAGA]
            assert found[LISBON]["superseded"] == found[LISBON]["neighbour state"] == 0


def test_the_first_is_the_earliest() -> None:
    found = told(*(turn(f"Ingrid lives in {n}") for n in range(6)), time=FIRST)
    earliest = [found[f"Ingrid lives in {n}"]["earliest"] for n in range(6)]
    assert earliest == sorted(earliest, reverse=True)
    assert earliest[0] == 1
    assert all(values["superseded"] == 0 for values in found.values())
    # An earlier one that does not answer takes nothing from it.
    found = told(turn(DANCE), turn(LISBON), turn(MALAGA), match={DANCE: -6.0}, time=FIRST)
    assert found[LISBON]["earliest"] == pytest.approx(1, abs=0.01)
    assert found[LISBON]["earliest"] > found[MALAGA]["earliest"]


def test_the_state_before_is_neither_the_newest_nor_one_of_long_ago() -> None:
    found = told(turn(LISBON), turn(MALAGA), time=BEFORE)
    assert found[LISBON]["neighbour state"] > 0.18
    assert found[MALAGA]["neighbour state"] == 0
    states = [f"Ingrid lives in {n}" for n in range(30)]
    found = told(*map(turn, states), time=BEFORE)
    previous = [found[state]["neighbour state"] for state in states]
    assert previous[-2] > 0.18 > previous[-10] > previous[0] > previous[-1] == 0
    found = told(turn("Ingrid lives in Vigo"), turn(LISBON), turn(MALAGA), time=BEFORE)
    assert max(found, key=lambda text: found[text]["neighbour state"]) == LISBON
    # Later ones about something else do not make the newest the state before.
    events = [f"Ingrid saw {n}" for n in range(5)]
    match = dict.fromkeys(events, -6.0)
    found = told(turn(LISBON), turn(MALAGA), *map(turn, events), match=match, time=BEFORE)
    assert found[LISBON]["neighbour state"] > 0.18
    assert found[MALAGA]["neighbour state"] < 0.02


def test_a_later_change_that_names_the_value_supersedes_it_whatever_its_words() -> None:
    swapped, sold = "Ingrid swapped Lisbon for Porto", "Ingrid sold the harp"
    sideways = {swapped: (0.0, 1.0), sold: (0.0, 1.0)}
    match = {LISBON: 5.0}
    found = told(turn(LISBON), turn(DANCE), turn(swapped), turn(sold), alike=sideways, match=match)
    assert found[LISBON]["superseded"] > 0.5
    assert found[DANCE]["superseded"] < 0.1
    before = told(turn(swapped), turn(LISBON), turn(DANCE), alike=sideways, match=match)
    assert before[LISBON]["superseded"] < 0.1, "what was said before replaces nothing"


@settings(max_examples=30)
@given(count=st.integers(1, 12), time=st.sampled_from([PRESENT, LATELY, BEFORE]))
def test_older_statements_take_nothing_from_newer_ones(count: int, time: TemporalReading) -> None:
    newer = (turn(LISBON, session="a"), turn(DANCE, session="a"), turn(MALAGA, session="a"))
    older = [turn(f"Ingrid saw bird {n}", session="b") for n in range(count)]
    match = {LISBON: 1.0, DANCE: -1.0}
    alike = {DANCE: (0.8, 0.6)}
    alone = told(*newer, time=time, match=match, alike=alike)
    beside = told(*older, *newer, time=time, match=match, alike=alike)
    for text in (LISBON, DANCE, MALAGA):
        for name in ("superseded", "neighbour state"):
            assert beside[text][name] == pytest.approx(alone[text][name]), (text, name)


@settings(max_examples=30)
@given(data=st.data(), time=st.sampled_from([PRESENT, LATELY, FIRST, BEFORE, ANY]))
def test_all_lie_between_0_and_1_and_the_same_twice(
    data: st.DataObject, time: TemporalReading
) -> None:
    words = st.sampled_from(["Ingrid", "Lisbon", "Malaga", "home", "dance"])
    days = st.one_of(st.none(), st.integers(1, 28))
    drawn = data.draw(
        st.lists(st.tuples(st.lists(words, max_size=4), days), min_size=1, max_size=8)
    )
    store = store_of(
        *(
            turn(" ".join(["Ingrid", *said]), id=str(n), day=day)
            for n, (said, day) in enumerate(drawn)
        )
    )
    found = candidates(store, asked("where is Ingrid", "ingrid", time=time))
    assert found is not None
    size = len(found.statements)
    numbers = st.floats(-60, 60)
    match = np.array(data.draw(st.lists(numbers, min_size=size, max_size=size)))
    angles = data.draw(st.lists(st.floats(0, 6.3), min_size=size, max_size=size))
    vectors = np.column_stack([np.cos(angles), np.sin(angles)])
    values = succession_signals(found, match, vectors, replaced_in(found))
    again = succession_signals(found, match, vectors, replaced_in(found))
    for name in NAMES:
        assert values[name].shape == (size,)
        assert ((values[name] >= 0) & (values[name] <= 1 + 1e-6)).all(), name
        assert values[name].tolist() == again[name].tolist()


def test_of_no_candidates_nothing_is_said() -> None:
    for time in (PRESENT, FIRST, BEFORE, ANY):
        found = candidates(store_of(turn(LISBON)), asked("Ingrid", "ingrid", time=time))
        assert found is not None
        none = np.zeros(0)
        values = succession_signals(replace(found, statements=()), none, np.zeros((0, 2)), none)
        assert {name: value.shape for name, value in values.items()} == dict.fromkeys(NAMES, (0,))


def test_an_update_told_as_an_event_comes_before_what_it_replaces() -> None:
    memory = RecallM()
    memory.update_many(
        [
            "Ingrid lives in Malaga",
            "Ingrid works as a nurse",
            "Ingrid keeps a hamster",
            "Ingrid plays the cello",
            "Tom lives in Oslo",
            "Ingrid went to the market on Friday",
            "Ingrid swapped Malaga for Porto",
            "Ingrid went from nurse to baker",
            "Ingrid gave away the hamster and brought home a parrot",
            "Tom visited Ingrid",
            "Ingrid sold the cello and bought a harp",
            "Ingrid broke her umbrella",
        ]
    )
    for question, answer in (
        ("Where does Ingrid live now?", "Ingrid swapped Malaga for Porto"),
        ("What is Ingrid's job now?", "Ingrid went from nurse to baker"),
        (
            "Which pet does Ingrid have?",
            "Ingrid gave away the hamster and brought home a parrot",
        ),
        ("Which instrument does Ingrid play now?", "Ingrid sold the cello and bought a harp"),
    ):
        (first,) = memory.recall(question, limit=1).statements
        assert first.text == answer


def test_what_replaces_is_found_for_whoever_asks_without_a_name() -> None:
    memory = RecallM()
    memory.update_many(
        [
            "I live in Malaga",
            "My boss is Greta",
            "I went to the market",
            "They let Greta go and Paul runs the ward",
            "I saw a film",
        ]
    )
    (boss,) = memory.recall("Who is my boss now?", limit=1).statements
    assert boss.text == "They let Greta go and Paul runs the ward"


def test_the_later_of_two_facts_of_one_relation_holds() -> None:
    for statements, current in (
        (("Ingrid lives in Malaga.", "Ingrid moved to Porto."), 1),
        (("Ingrid moved to Porto.", "Ingrid lives in Malaga."), 1),
        (("Ingrid lives in Malaga.", "Ingrid relocated to Porto.", "Ingrid likes jazz."), 1),
        (("Ingrid lives in Malaga.", "Ingrid's brother moved to Porto."), 0),
        (("Ingrid lives in Malaga.", "Ingrid wants to move to Porto."), 0),
        (("Ingrid lives in Malaga.", "Ingrid met Tom. Tom moved to Porto."), 0),
    ):
        with RecallM() as memory:
            memory.update_many(statements)
            for question in ("Where does Ingrid live?", "Where does Ingrid live now?"):
                (first,) = memory.recall(question, limit=1).statements
                assert first.text == statements[current], question


def test_each_speaker_lives_somewhere() -> None:
    memory = RecallM()
    for speaker, text in (
        ("Ann", "I live in Malaga."),
        ("Ben", "I live in Rome."),
        ("Ann", "I moved to Porto."),
    ):
        memory.update(text, speaker=speaker)
    for asker, text in (("Ann", "I moved to Porto."), ("Ben", "I live in Rome.")):
        (first,) = memory.recall("Where do I live now?", limit=1, asker=asker).statements
        assert first.text == text
    (first,) = memory.recall("Where does Ben live?", limit=1).statements
    assert first.text == "I live in Rome."


def test_a_state_said_in_a_conversation_supersedes_the_state_before() -> None:
    memory = RecallM(config=FILL)
    memory.update("I live in Malaga and I love it. The sea is warm.", speaker="Ingrid", session="a")
    memory.update("Where do you live, Ingrid? I live in Oslo.", speaker="Tom", session="b")
    memory.update("It rains a lot here. I moved to Porto.", speaker="Ingrid", session="b")
    statements = memory.recall("Where does Ingrid live now?").statements
    by_text = {each.text: each.contributions["superseded"] for each in statements}
    assert max(statements, key=lambda statement: statement.score or 0).text == "I moved to Porto."
    assert by_text["I live in Malaga and I love it."] < -2
    assert by_text["I live in Oslo."] > -1, "Tom lives there, whatever Ingrid says"


def test_of_two_that_are_asked_for_each_has_a_state() -> None:
    for session in (None, "chat"):
        memory = RecallM()
        memory.update("I live in Rome. It is warm.", speaker="Ann", session=session)
        memory.update("I live in Oslo. It is cold.", speaker="Bob", session=session)
        memory.update("Cleo lives in Bonn.", session=session)
        memory.update("Dora lives in Bern.", session=session)
        for question, answers in (
            ("Where do Ann and Bob live now?", {"I live in Rome.", "I live in Oslo."}),
            ("Where do Cleo and Dora live now?", {"Cleo lives in Bonn.", "Dora lives in Bern."}),
        ):
            statements = memory.recall(question).statements
            by_text = {each.text: each.contributions["superseded"] for each in statements}
            assert all(by_text[answer] > -2 for answer in answers), (question, by_text)
