"""The signals: what each measures, and that all stand on absolute scales."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from recallm.model import ConceptMention, PreparedUpdate, Question, TemporalReading, Trait
from recallm.recall.ranking.concepts import named_share
from recallm.recall.ranking.signals import SIGNALS, load_tables, measure
from recallm.recall.ranking.stem_counts import StemCounts, rarity, saturated
from recallm.recall.retrieval.nearest import EmbeddedQuestion
from tests.retrieval.talk import asked, candidates, embedded, store_of, turn, under_model
from tests.store_suite import DictStore


def signals(store: DictStore, question: Question) -> dict[str, dict[str, float]]:
    """The signals of each candidate, by its text."""
    found = candidates(store, question)
    assert found is not None
    values = measure(found, load_tables().words.signals).tolist()
    return {
        statement.text: dict(zip(SIGNALS, row, strict=True))
        for statement, row in zip(found.statements, values, strict=True)
    }


def test_rare_stems_weigh_more_and_long_statements_less() -> None:
    """Every signal has a weight in a table."""
    tables = load_tables()
    assert set(tables.words.signals) | set(tables.vectors.signals) == set(SIGNALS)
    store = store_of(
        turn("heron", session="a"),
        turn("harbour", session="b"),
        turn("harbour again", session="c"),
        turn("harbour and so many other things that nobody asked about", session="d"),
    )
    found = signals(store, asked("heron harbour"))
    assert found["heron"]["meaning"] > found["harbour"]["meaning"] > 0
    assert found["harbour"]["session"] > found["harbour again"]["session"]
    assert min(found, key=lambda text: found[text]["session"]).startswith("harbour and so many")
    # The rank by meaning.
    store = store_of(
        turn("heron owl", session="a"),
        turn("heron", session="b"),
        turn("heron again", session="c"),
        turn("qzxv", session="a"),
    )
    ranks = {text: row["meaning rank"] for text, row in signals(store, asked("heron owl")).items()}
    assert ranks == pytest.approx({"heron owl": 1, "heron": 1 / 2, "heron again": 1 / 2, "qzxv": 0})


def test_a_signal_does_not_depend_on_the_other_candidates_values() -> None:
    """A share of what could be reached: a better statement elsewhere takes nothing away."""
    rest = [turn(f"filler number {n}", session=str(n)) for n in range(20)]
    alone = store_of(turn("one heron", session="x"), *rest)
    beside = store_of(
        turn("one heron", session="x"), *rest[:-1], turn("owl eagle falcon", session="19")
    )
    question = asked("heron owl eagle falcon")
    one, other = (signals(store, question)["one heron"] for store in (alone, beside))
    assert one["meaning"] < other["meaning"], "what nobody has said is rarer, and asks for more"
    assert one["answer"] == other["answer"] == 0


def test_what_follows_a_question_takes_its_overlap() -> None:
    store = store_of(
        turn("Good", "Which bird did you see?", speaker="Ben", session="a"),
        turn("A heron", "It was huge", speaker="Ana", session="a"),
        turn("Nice", speaker="Ben", session="a"),
        turn("A heron too", speaker="Ana", session="b"),
    )
    found = signals(store, asked("which bird see"))
    assert found["A heron"]["answer"] == found["It was huge"]["answer"] == pytest.approx(1.0)
    assert found["Nice"]["answer"] == 0
    assert "A heron too" not in found
    asking = found["Which bird did you see?"]
    assert asking["question"] == 1


def test_a_long_passage_is_not_one_place_and_a_session_lifts_its_statements() -> None:
    """What stands more than three statements away in a document lends nothing."""
    words = ["The heron sleeps", *(f"Filler {n}" for n in range(8)), "An owl hunts"]
    found = signals(store_of(turn(*words)), asked("heron owl sleeps"))
    assert 1 > found["The heron sleeps"]["passage"] > found["An owl hunts"]["passage"] > 0
    store = store_of(
        turn("A heron", session="a"),
        turn("An owl", session="a"),
        turn("A heron again", session="b"),
        turn("Nothing", session="c"),
    )
    found = signals(store, asked("heron owl"))
    assert found["A heron"]["session"] > found["A heron again"]["session"] > 0


def test_the_kind_of_an_answer_counts_only_where_it_is_asked_for() -> None:
    for trait in (
        *(Trait.TIME, Trait.NUMBER, Trait.NAME),
        *(Trait.PERSON, Trait.PLACE, Trait.ORGANISATION),
    ):
        store = store_of(
            turn("heron yes", session="a", traits=trait), turn("heron no", session="b")
        )
        wanted = signals(store, asked("heron", asks=trait))
        assert (wanted["heron yes"]["kind"], wanted["heron no"]["kind"]) == (1, 0), trait
        assert signals(store, asked("heron"))["heron yes"]["kind"] == 0, trait
    # A person and a place are one kind: an entity.
    held = Trait.NAME | Trait.PERSON | Trait.PLACE | Trait.NUMBER
    store = store_of(turn("heron", traits=held))
    several = Trait.NAME | Trait.PERSON | Trait.PLACE | Trait.TIME
    assert signals(store, asked("heron", asks=several))["heron"]["kind"] == 2
    store = store_of(turn("heron yes", traits=Trait.PERSON))
    assert signals(store, asked("heron", asks=Trait.PLACE))["heron yes"]["kind"] == 0


def test_more_new_names_count_more_where_a_name_is_asked_for() -> None:
    """Names of the question do not count, nor does the speaker's."""

    def naming(*names: str, session: str) -> PreparedUpdate:
        update = turn(f"heron {' '.join(names)}", speaker="Cleo", session=session)
        [speaker, *_] = update.statements[0].concepts
        concepts = [ConceptMention(name=name, label=name, kind="name") for name in names]
        said = replace(update.statements[0], concepts=(speaker, *concepts), traits=Trait.NAME)
        return replace(update, statements=(said,))

    question = asked("heron", "naxos", asks=Trait.NAME)
    store = store_of(
        naming("ana", "ben", session="a"),
        naming("ana", session="a"),
        naming("naxos", session="a"),
        naming("ben", "ana", session="b"),
    )
    kinds = {text: row["kind"] for text, row in signals(store, question).items()}
    assert kinds == pytest.approx(
        {"heron ana ben": np.log(3), "heron ana": np.log(2), "heron naxos": 0, "heron ben ana": 1}
    )
    assert not any(row["kind"] for row in signals(store, asked("heron")).values())


def test_who_is_asked_for_by_name() -> None:
    """In the statement or the one before it; a part does not stand for the whole name."""
    whole = ConceptMention(name="ana silva", label="Ana Silva", kind="name")
    part = ConceptMention(name="ana", label="Ana", kind="name")
    question = replace(asked("sings dances"), concepts=(whole, part))

    def of_whole(text: str, session: str) -> PreparedUpdate:
        update = turn(text, session=session)
        said = replace(update.statements[0], concepts=(whole, part))
        return replace(update, statements=(said,))

    store = store_of(
        of_whole("Ana Silva sings", "a"),
        turn("She dances too", session="a"),
        turn("Ana sings", session="b"),
        of_whole("Ana Silva dances", "c"),
    )
    found = signals(store, question)
    with_all = candidates(store, question)
    assert with_all is not None
    texts = [statement.text for statement in with_all.statements]
    named = dict(zip(texts, named_share(with_all).tolist(), strict=True))
    share = named["Ana Silva sings"]
    assert share > 0
    assert named == {
        "Ana Silva sings": share,
        "She dances too": share,
        "Ana sings": 0,
        "Ana Silva dances": share,
    }
    alone = {text: values["named alone"] for text, values in found.items()}
    assert alone == {**dict.fromkeys(texts, 0), "Ana Silva dances": share}


def test_a_name_with_other_bounds_is_named_by_its_words() -> None:
    """ "The music that Ana Silva plays" mentions "ana silva plays": the words around a name decide
    where it ends."""

    def mentions(*names: str) -> tuple[ConceptMention, ...]:
        return tuple(ConceptMention(name=name, label=name, kind="name") for name in names)

    def about(text: str, *names: str) -> PreparedUpdate:
        update = turn(text, session=text)
        said = replace(update.statements[0], concepts=mentions(*names))
        return replace(update, statements=(said,))

    question = replace(asked("plays"), concepts=mentions("ana silva", "ana", "silva"))
    crowd = [turn(f"filler {n}", session=str(n)) for n in range(200)]
    store = store_of(
        about("Ana Silva sings", "ana silva", "ana", "silva"),
        about("what Ana Silva plays", "ana silva plays", "ana", "silva", "plays"),
        about("Ana plays", "ana"),
        *crowd,
    )
    alone = {text: values["named alone"] for text, values in signals(store, question).items()}
    assert alone["what Ana Silva plays"] == alone["Ana Silva sings"] > 0
    assert alone["Ana plays"] == 0


def test_a_rare_name_counts_more() -> None:
    """Where all are about one, who is meant is no question."""
    ana = ConceptMention(name="ana", label="Ana", kind="name")
    question = replace(asked("sings"), concepts=(ana,))
    crowd = [turn(f"filler {n}", session=str(n)) for n in range(200)]
    among_many = signals(store_of(turn("Ana sings", session="ana"), *crowd), question)
    among_few = signals(
        store_of(turn("Ana sings", session="a"), turn("Ana dances", session="b")), question
    )
    assert among_many["Ana sings"]["named alone"] == 1
    assert 0 < among_few["Ana sings"]["named alone"] < 0.5


def test_words_that_ask_for_the_present_are_no_content() -> None:
    """ "now" in a statement makes it no better an answer to what is asked of now."""
    store = store_of(turn("heron sleeps", session="a"), turn("now an owl", session="b"))
    found = candidates(store, asked("which heron now", intent="current"))
    assert found is not None
    assert found.terms == ("which", "heron")
    assert [statement.text for statement in found.statements] == ["heron sleeps"]


def test_a_day_that_the_statement_tells_of() -> None:
    """Or else the day on which it was said: less where it tells of another day. Only what holds a
    time is read for dates."""
    for text, said, question, expected in (
        ("heron last Friday", 12, "heron on 8 March 2024", 1),
        ("heron last Friday", 12, "heron on 12 March 2024", 0.3),
        ("heron last Friday", 20, "heron on 8 March 2024", 0),
        ("heron last Friday", 12, "heron in March 2024", 1),
        ("heron last Friday", None, "heron on 8 March 2024", 0),
        ("heron on 8 March 2024", None, "heron on 8 March 2024", 1),
        ("heron last Friday", 12, "heron since 7 March 2024", 1),
        ("heron last Friday", 12, "heron until 7 March 2024", 0.3 * 0.3),
        ("heron last Friday", 12, "heron", 0),
    ):
        found = signals(store_of(turn(text, day=said, traits=Trait.TIME)), asked(question))
        assert found[text]["date"] == pytest.approx(expected), (said, question)
    store = store_of(turn("heron last Friday", day=12), turn("heron two", day=20))
    found = signals(store, asked("heron on 8 March 2024"))
    assert found["heron last Friday"]["date"] == 0.5, "said soon after"
    assert found["heron two"]["date"] == 0


def test_of_a_long_time_that_is_told_of_only_a_part_is_asked_for() -> None:
    store = store_of(
        turn("heron last week", session="a", day=12, traits=Trait.TIME),
        turn("heron last month", session="b", day=12, traits=Trait.TIME),
        turn("heron last Thursday", session="c", day=12, traits=Trait.TIME),
    )
    found = signals(store, asked("heron on 7 March 2024"))
    values = {text: row["date"] for text, row in found.items()}
    assert values == pytest.approx(
        {
            "heron last Thursday": 1,
            "heron last week": 0.5,
            "heron last month": 0.5 * 0.3,
        }
    ), "said soon after, and the last month holds no such day"


def test_the_speaker_by_a_part_of_the_name() -> None:
    store = store_of(
        turn("I saw a heron", speaker="Ana Maria Silva", traits=Trait.FIRST_PERSON),
        turn("heron indeed", speaker="Ben"),
    )
    found = signals(store, asked("heron silva", "silva"))
    assert (found["I saw a heron"]["speaker"], found["heron indeed"]["speaker"]) == (1, 0)
    assert (found["I saw a heron"]["person"], found["heron indeed"]["person"]) == (1, 0)


def test_what_says_you_unless_the_question_does() -> None:
    store = store_of(turn("you saw a heron", traits=Trait.SECOND_PERSON), turn("heron indeed"))
    for question, expected in (("heron", [-1, 0]), ("your heron", [0, 0])):
        found = signals(store, replace(asked(question), words=tuple(question.split())))
        assert [row["person"] for row in found.values()] == expected, question


WORDS = st.sampled_from(["heron", "owl", "Ana", "harbour", "sea", "boat", "Naxos", "then?"])


@settings(max_examples=40)
@given(
    turns=st.lists(
        st.tuples(
            st.lists(st.lists(WORDS, min_size=1, max_size=5), min_size=1, max_size=3),
            st.sampled_from([None, "Ana", "Ben"]),
            st.sampled_from([None, "a", "b"]),
        ),
        min_size=1,
        max_size=8,
    ),
    question=st.lists(WORDS, min_size=1, max_size=5),
    time=st.sampled_from(
        [
            TemporalReading(),
            TemporalReading(intent="current", recency=1.0, order="latest"),
            TemporalReading(recency=0.5, order="latest", previous=True),
            TemporalReading(recency=0.0, order="earliest"),
        ]
    ),
    under=st.sampled_from([None, under_model(1.0, 0.0), under_model(-1.0, 0.5)]),
)
@example(  # the words of the last turn, which has no vector, are the least alike by far
    turns=[
        ([[*words]], None, None) for words in (["heron"], ["heron"], ["heron"], ["heron", "owl"])
    ],
    question=["heron"],
    time=TemporalReading(),
    under=under_model(1.0, 0.0),
)
def test_all_signals_are_finite_and_shares_lie_between_0_and_1(
    turns: list[tuple[list[list[str]], str | None, str | None]],
    question: list[str],
    time: TemporalReading,
    under: EmbeddedQuestion | None,
) -> None:
    """Cosines, and what is measured from a middle, between -1 and 1. Every other turn has
    vectors."""
    store = store_of(
        *(
            embedded(
                turn(*map(" ".join, sentences), id=str(n), speaker=speaker, session=session),
                *[None if n % 2 else (1.0, n) for _ in sentences],
            )
            for n, (sentences, speaker, session) in enumerate(turns)
        )
    )
    words = [word.strip("?") for word in question]
    concepts = [word.lower() for word in words if word[0].isupper()]
    found = candidates(
        store, asked(" ".join(words), *dict.fromkeys(concepts), time=time), under=under
    )
    if found is None:
        return
    values = measure(found, load_tables().words.signals)
    assert values.shape == (len(found.statements), len(SIGNALS))
    assert np.isfinite(values).all()
    for name, column in zip(SIGNALS, values.T, strict=True):
        is_cosine = "similar" in name or name in ("like anchor", "newest")
        assert (column >= (-1 - 1e-3 if is_cosine else 0)).all(), name
        assert name == "kind" or (column <= 1 + 1e-3).all(), name


def test_what_is_newer_is_weighed_by_all_other_signals() -> None:
    """It supersedes as far as it answers as well by the weights at hand, not by being newer."""
    store = store_of(
        turn("heron sleeps on Naxos", session="a"),
        turn("heron sleeps on Paros", session="b"),
        turn("heron likes Tinos", session="c"),
    )
    found = candidates(store, asked("where heron sleeps", intent="current"))
    assert found is not None
    column = list(SIGNALS).index("superseded")
    by_words = measure(found, {"meaning": 60.0})[:, column]
    by_nothing = measure(found, {})[:, column]
    assert by_words[0] == pytest.approx(by_nothing[0]), "the second answers as well"
    assert by_words[1] < by_nothing[1] / 10, "the third does not, unless nothing counts"
    assert by_words[2] == by_nothing[2] == 0


def test_a_weight_of_recency_does_not_change_what_answers_as_well() -> None:
    store = store_of(turn("heron here", session="a"), turn("heron there", session="b"))
    found = candidates(store, asked("where heron", intent="current"))
    assert found is not None
    weights = load_tables().words.signals
    ordered = dict.fromkeys(("newest", "superseded", "earliest", "neighbour state"), 9.0)
    assert (measure(found, weights) == measure(found, {**weights, **ordered})).all()


def test_rarity_falls_with_frequency_and_saturation_is_a_share() -> None:
    weights = rarity(np.array([0.0, 1.0, 50.0, 100.0, 120.0]), 100)
    assert (np.diff(weights) < 0).all()
    assert (weights > 0).all()
    counts = np.array([[0.0], [1.0], [1000.0]])
    shares = saturated(counts, np.array([5.0, 5.0, 5.0]), 5.0)[:, 0]
    assert shares[0] == 0
    assert 0.4 < shares[1] < 0.5
    assert 0.99 < shares[2] < 1


def test_stem_counts_of_units_that_hold_none() -> None:
    counts = StemCounts.summed(np.array([4, 2, 4]), np.array([[1.0], [5.0], [2.0]]))
    assert counts.of(np.array([2, 3, 4, -1])).tolist() == [[5], [0], [3], [0]]
    assert counts.around(np.array([3]), -1, 1).tolist() == [[8]]
    empty = StemCounts.summed(np.array([], dtype=np.int64), np.zeros((0, 2)))
    assert empty.of(np.array([1])).tolist() == [[0, 0]]
