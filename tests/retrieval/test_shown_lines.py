"""What a context shows: days, marks, whole lists, antecedents; what it leaves out, and why."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from recallm import InvalidInputError, RecallM
from recallm.facts import FactMemory
from recallm.recall.antecedents import annotated

DISHES = "soup pasta rice fish salad tofu beans eggs pizza curry stew toast"
TUESDAY = datetime(2024, 3, 5, 10, tzinfo=UTC)


def memory_of(*said: tuple[str, str, str], clock: datetime = TUESDAY) -> RecallM:
    """A memory of (speaker, day or moment, text), each in a session of its own."""
    memory = RecallM(clock=lambda: clock)
    for place, (speaker, moment, text) in enumerate(said):
        timestamp = datetime.fromisoformat(moment)
        memory.update(
            text,
            id=f"m{place}",
            speaker=speaker or None,
            timestamp=timestamp if timestamp.tzinfo else timestamp.replace(hour=10, tzinfo=UTC),
            session=f"s{place}",
        )
    return memory


def test_relative_dates_are_resolved_where_they_leave_no_doubt() -> None:
    shown = (
        "I went yesterday [2024-03-04].",
        "Last month's [2024-02] bill was high, last year's [2023] too.",
        "I moved last week [2024-02-26 to 03-03].",
        "Two weekends ago [2024-02-24 to 25] we hiked, last Friday [2024-03-01] we swam.",
        "Last winter [2023-12 to 2024-02] was cold, next Christmas [2024-12-24 to 26] is far.",
        "I will leave in two weeks [2024-03-16 to 22].",
        # The head of the line has the day, or the words may mean another one.
        "Today I ran, and this week I slept.",
        "I run every Friday, on Friday, next Friday, on 3 May and in 2022.",
        "I read it in two days.",
        "The next day and the next week were dull.",
    )
    wrong = {}
    for line in shown:
        text = "".join(part.partition("]")[2] if place else part
                       for place, part in enumerate(line.split(" [")))  # fmt: skip
        if annotated(text, (), TUESDAY) != line or annotated(text, (), None) != text:
            wrong[line] = annotated(text, (), TUESDAY)
    assert not wrong


def test_days_are_shown_in_the_line_alone_and_in_the_time_zone_of_the_clock() -> None:
    late = ("Ann", "2024-03-01T23:30:00+00:00", "I saw the dentist yesterday.")
    question = "When did Ann see the dentist?"
    for clock, line in (
        (TUESDAY, "[2024-03-01] Ann: I saw the dentist yesterday [2024-02-29]."),
        (
            TUESDAY.astimezone(ZoneInfo("Asia/Tokyo")),
            "[2024-03-02] Ann: I saw the dentist yesterday [2024-03-01].",
        ),
    ):
        with memory_of(late, clock=clock) as memory:
            context = memory.recall(question)
            assert context.text == context.statements[0].line == line
            assert context.statements[0].text == late[2]


def test_what_a_later_statement_replaced_is_marked_and_never_stands_alone() -> None:
    memory = RecallM()
    memory.update_many(["I live in Malaga.", "I moved to Porto last week."])
    for question in ("Where do I live now?", "Where do I live?"):
        context = memory.recall(question)
        assert context.text.splitlines()[1:] == [
            "I live in Malaga. [no longer]",
            "I moved to Porto last week.",
        ]
        malaga, porto = context.statements
        assert (malaga.superseded_by, porto.superseded_by) == (porto.id, None)
        assert malaga.text == "I live in Malaga."
        assert f"superseded by {porto.id}" in context.explain()
        seen = memory.recall(question, known=[porto.passage or ""])
        assert seen.text == "I live in Malaga. [no longer]"
    assert "[no longer]" not in memory.recall("Where did I live before Porto?").text
    memory.update("I still live in Porto.")
    assert "Porto last week. [no longer]" not in memory.recall("Where do I live?").text


def test_a_list_stands_with_its_heading_and_its_items_or_not_at_all() -> None:
    books = (
        "Here are some books on Rome:\n1. SPQR by Mary Beard\n2. I, Claudius by Robert Graves\n"
        "3. Rubicon by Tom Holland\n\nEnjoy them by the sea!"
    )
    memory = memory_of(
        ("user", "2024-03-01", "My sister Clara flew to Rome in May."),
        ("assistant", "2024-03-02", books),
    )
    whole = (
        "Here are some books on Rome: SPQR by Mary Beard; I, Claudius by Robert Graves; "
        "Rubicon by Tom Holland"
    )
    for question in ("Which books on Rome were suggested?", "Who suggested a book by Tom Holland?"):
        assert whole in memory.recall(question).text, question
    assert "Here are" not in memory.recall("When did Clara fly to Rome?").text
    shown = memory.explain("Which books on Rome were suggested?", statement="m1#3")
    assert shown.startswith("handed over")
    assert "Here are" not in memory.recall("Which books on Rome were suggested?", limit=1).text


def test_an_item_brings_its_heading_within_any_budget_also_where_that_is_an_answer() -> None:
    tips = (
        "Yes, here are some tips:\n- The imagery exercises of Fresh Mind are free.\n- Put on shoes."
    )
    memory = RecallM()
    memory.update("Do you have any tips for imagery?", speaker="user", session="tips")
    memory.update(tips, speaker="assistant", session="tips")
    memory.update_many(
        f"Note {place}: imagery exercises cost {place + 3} euros." for place in range(12)
    )
    for tokens in (60, 80, 500):
        text = memory.recall("Which imagery exercises are free?", max_tokens=tokens).text
        assert "here are some tips: The imagery exercises of Fresh Mind are free." in text, tokens


def test_what_a_sentence_points_back_to_stands_before_it() -> None:
    text = (
        "Lisbon was sunny. I read a novel called The Leopard. It was written by a prince. "
        "We ate fish. It rained for two days. That ruined the garden party of my aunt."
    )
    memory = memory_of(("Ann", "2024-03-01", text))
    for question, shown in (
        ("Which book by a prince is there?", "called The Leopard. It was written by a prince."),
        ("What ruined the garden party?", "It rained for two days. That ruined the garden"),
    ):
        context = memory.recall(question)
        assert shown in context.text, question
        assert memory.recall(question, limit=1).statements[0].text in shown + " party of my aunt."
    assert "We ate fish." not in memory.recall("How long did it rain?", limit=2).text


def test_an_echo_says_nothing() -> None:
    memory = memory_of(
        ("user", "2024-03-01", "I live in Porto."),
        ("assistant", "2024-03-02", "You live in Porto."),
        ("assistant", "2024-03-03", "Porto has six bridges."),
        ("user", "2024-03-04", "Tom lives in Porto, too. Carl lives in Oslo."),
        ("assistant", "2024-03-05", "Tom lives in Oslo, I guess. Carl does not live in Oslo."),
        ("assistant", "2024-03-06", "Carl lives in Oslo!"),
    )
    text = memory.recall("Where do I live?").text
    assert "I live in Porto." in text
    assert "You live" not in text
    assert "You live" in memory.recall("What did you say about where I live?").text
    text = memory.recall("Where does Carl live?").text
    assert "Carl lives in Oslo." in text
    assert "Carl does not live in Oslo." in text
    assert "Carl lives in Oslo!" not in text


def test_a_time_in_the_question_leaves_out_other_times() -> None:
    dishes = DISHES.split()
    memory = memory_of(
        *(
            ("Ann", f"2024-03-{day:02}", f"I had {dish} for lunch.")
            for day, dish in enumerate(dishes, start=1)
        ),
        ("Ann", "2024-02-20", "I live in Rome and love lunch."),
        ("Ann", "2024-03-13", "On 5 March I had oysters for lunch."),
        clock=datetime(2024, 3, 13, 20, tzinfo=UTC),
    )

    def dishes_of(question: str) -> set[str]:
        words = {word for each in memory.recall(question).statements for word in each.text.split()}
        return words & {*dishes, "oysters"}

    assert dishes_of("What did I have for lunch yesterday?") == {"toast"}
    week = dishes_of("What did I have for lunch last week?")
    assert {"oysters"} < week <= {*dishes[3:11], "oysters"}
    # Where nothing is known of that time, other times may still help.
    assert dishes_of("What did I have for lunch in January?")
    assert "Rome" in memory.recall("Where did I live in March?").text


def test_explain_says_why_a_statement_is_left_out() -> None:
    memory = memory_of(
        ("", "2024-03-01", "Ann lives in Rome."),
        ("", "2024-03-02", "Ann lives in Rome."),
        ("", "2024-03-03", "Ann likes tea."),
        ("", "2024-03-04", "Thanks, Ann!"),
        ("", "2024-03-05", "The sea was calm."),
    )
    where = "Where does Ann live?"
    for question, id, arguments, why in (
        (where, "m1#0", {}, "handed over"),
        (where, "m0#0", {}, "left out: said already"),
        (where, "m2#0", {}, "left out: too unlikely"),
        (where, "m3#0", {}, "left out: small talk"),
        (where, "m1#0", {"since": 3}, "left out: the filter"),
        (where, "m2#0", {"min_score": 0.5}, "left out: under min_score"),
        (where, "m4#0", {}, "not found: none of the question's words"),
        (where, "m5#0", {}, "not found: this view"),
        ("What does Ann do?", "m2#0", {"max_tokens": 1}, "left out: over the limit or the tokens"),
        ("Where does Zed live?", "m1#0", {}, "left out: nothing known: nobody and nothing is"),
        ("Why?", "m1#0", {}, "not found: none of the question's words"),
    ):
        said = memory.explain(question, statement=id, **arguments)
        assert said.startswith(why), (question, id, arguments, said)
    with pytest.raises(InvalidInputError, match="explain needs ranking"):
        memory.with_ranking("paper").explain(where, statement="m1#0")


def test_the_log_tells_ids_and_no_words(caplog: pytest.LogCaptureFixture) -> None:
    memory = memory_of(("", "2024-03-01", "Ann lives in Rome."), ("", "2024-03-03", "Ann ran."))
    FactMemory(memory).write("Ann", "lives in", "Oslo")
    with caplog.at_level(logging.DEBUG, "recallm.recall"):
        memory.recall("Where does Ann live?")
        memory.recall("Where does Zed live?")
    assert {record.name for record in caplog.records} == {"recallm.recall"}
    assert "read 3 statements" in caplog.text
    assert "chose: t=3, m0#0" in caplog.text
    assert not {"Ann", "Rome", "Oslo", "Zed"} & {*caplog.text.replace("(", " ").split()}


def test_a_fact_is_as_likely_with_embeddings() -> None:
    """A fact has no vector, and its words say what it is worth."""

    def embed(texts: list[str]) -> list[list[float]]:
        return [[float(text.count(letter) + 1) for letter in "abcdefgh"] for text in texts]

    memory = RecallM(embeddings=embed)
    FactMemory(memory).write("Marta", "works for", "Clinic of Porto")
    memory.update_many(["We visited Marta in May.", "Marta likes the sea.", "Tom lives in Rome."])
    statements = memory.recall("Where does Marta work?").statements
    best = max(statements, key=lambda each: each.score or 0.0)
    assert best.text == "Marta — works for → Clinic of Porto"
