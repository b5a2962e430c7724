"""What a pronoun stands for, and that no input breaks the resolver."""

from recallm.extraction.coreference import resolve
from tests.coreference.passages import antecedents, read_turns, resolved
from tests.tables import each_row


def test_a_pronoun_goes_back_to_the_name_of_its_passage() -> None:
    found = antecedents("I met Tom Baker yesterday. He is a painter.")
    assert found == [("He", "Tom Baker")]


def test_a_resolved_pronoun_says_where_it_stands_and_where_its_antecedent_is_spelled() -> None:
    text = "Tom Baker is a painter. He paints every day."
    (found,) = resolved(text)
    assert text[found.start : found.end] == "He"
    assert found.passages_back == 0
    assert found.mention.name == "tom baker"
    assert [part.name for part in found.parts] == ["tom", "baker"]
    assert 0.5 < found.confidence <= 1.0


def test_a_pronoun_without_a_name_before_has_no_antecedent() -> None:
    assert antecedents("She moved to Porto.") == []
    assert antecedents(("Ann", "My mother is ill."), ("Bob", "I hope she gets well soon!")) == []


def test_an_it_of_the_weather_or_of_a_judgement_stands_for_nothing() -> None:
    assert antecedents("Siemens is in Munich. It rains all day.") == []
    assert antecedents("Siemens is in Munich. It is clear that summer is over.") == []


def test_neither_the_speaker_nor_the_listener_is_a_third_person() -> None:
    found = antecedents(
        ("Anna", "Hi Bob!"), ("Bob", "Hi Anna!"), ("Anna", "He told her that they would come.")
    )
    assert found == []


def test_who_is_thanked_is_no_third_person() -> None:
    assert antecedents(("Caroline", "Thanks, Melanie! My grandma called. She is well.")) == []


def test_a_pronoun_goes_back_over_the_turns_of_a_session() -> None:
    turns = (("Ann", "I met Tom yesterday."), ("Bob", "How is he?"), ("Ann", "He is fine."))
    assert antecedents(*turns) == [("He", "Tom")]
    assert resolved(*turns)[0].passages_back == 2


def test_they_are_the_names_that_and_joins() -> None:
    found = antecedents("Julia and Mark got married.", "They live in Vienna.")
    assert found == [("They", "Julia"), ("They", "Mark")]


def test_the_company_is_no_person() -> None:
    assert antecedents("Ann works at Cisco. The company is in San Jose.") in (
        [("The company", "Cisco")],
        [],
    )
    assert antecedents("Ann met Bob. The company is in San Jose.") == []


@each_row(
    [
        "",
        " ",
        "He",
        "the",
        "her her her",
        "def it(self): return them[its]",
        "| he | she |\n|---|---|\n| it | they |",
        "他说她喜欢它。",
        "IT IS HIS.",
        "(((\"''he``",
        "the company's",
        "\u200bhe\ufeff",
    ]
)
def test_no_input_raises(text: str) -> None:
    earlier = read_turns("Ann works at Cisco.", text)
    (read,) = read_turns(text)
    resolve(read, earlier)
