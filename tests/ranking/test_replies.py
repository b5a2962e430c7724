"""What takes no place in a context: small talk, questions by themselves, empty replies."""

from __future__ import annotations

from recallm import RecallM
from recallm.model import statement_key
from recallm.recall.ranking.replies import is_small_talk
from tests.retrieval.talk import FILL

_QUESTIONS = (
    "What is my budget for Lisbon?",
    "How much can I spend in Lisbon?",
    "What's the budget for my Lisbon trip again?",
    "Do you remember my Lisbon budget?",
    "How much money did I set aside for Lisbon?",
    "Can you tell me the budget for the trip to Lisbon?",
    "Is my Lisbon budget enough for a hotel?",
    "What was the Lisbon budget?",
    "How big is my budget for the Lisbon trip?",
    "Remind me: what is the budget for Lisbon?",
    "Could you look up how much I have for Lisbon?",
    "What did I plan to spend on the Lisbon trip?",
)
_REPLIES = (
    "I don't know your budget for Lisbon.",
    "You have not told me what you can spend in Lisbon.",
    "I have no Lisbon trip budget on record.",
    "I don't remember a Lisbon budget.",
    "I am not sure how much you set aside for Lisbon.",
    "Your budget for the trip to Lisbon is something I cannot see.",
)
_BUDGETS = (
    "I put aside 1,200 euros for the trip to Lisbon.",
    "My budget for Lisbon is 1,200 euros.",
    "We agreed to spend no more than 1,200 euros in Lisbon.",
)
ASKED = "What is the budget for the Lisbon trip?"


def texts(memory: RecallM, question: str, limit: int = 10) -> list[str]:
    return [statement.text for statement in memory.recall(question, limit=limit).statements]


def threads(budget: str, place: int, *, replies: bool) -> RecallM:
    """Twelve threads that asked; before that of ``place`` one that told."""
    memory = RecallM()
    for number, question in enumerate(_QUESTIONS):
        if number == place:
            memory.update(budget, speaker="Human", session="told")
        memory.update(question, speaker="Human", session=str(number))
        if replies:
            reply = _REPLIES[number % len(_REPLIES)]
            memory.update(reply, speaker="AI", session=str(number))
    return memory


def test_earlier_questions_never_crowd_out_a_fact() -> None:
    for budget, place, replies in (
        (_BUDGETS[0], 0, True),
        (_BUDGETS[1], 11, False),
        (_BUDGETS[1], 0, True),
        (_BUDGETS[2], 11, True),
        (_BUDGETS[2], 0, False),
    ):
        with threads(budget, place, replies=replies) as memory:
            assert budget in texts(memory, ASKED), (budget, place, replies)
            assert budget in texts(memory, ASKED, limit=3), (budget, place, replies)
            assert len(set(_QUESTIONS) & set(texts(memory, ASKED))) <= 1


def test_at_most_a_fifth_are_questions() -> None:
    talk = (
        ("How do I get to the centre of Lisbon?", "By metro in 25 minutes."),
        ("What does a tram in Lisbon cost?", "It costs about 3 euros."),
        ("What is the weather in Lisbon like in May?", "It is about 22 degrees."),
        ("Which beaches are near Lisbon?", "Cascais and Caparica."),
        ("What is a fair budget for a day in Lisbon?", "It is about 100 euros a day."),
    )
    with RecallM(config=FILL) as memory:
        memory.update("My budget for Lisbon is 900 euros.", speaker="Human", session="0")
        for number, (question, reply) in enumerate(talk):
            memory.update(question, speaker="Human", session=str(number))
            memory.update(reply, speaker="AI", session=str(number))
        for limit in (4, 10):
            found = texts(memory, "What is my budget for Lisbon?", limit=limit)
            asked = {question for question, _ in talk}.intersection(found)
            assert "My budget for Lisbon is 900 euros." in found
            assert 5 * len(asked) <= len(found)


def test_who_asks_for_questions_gets_them() -> None:
    with threads(_BUDGETS[0], 3, replies=False) as memory:
        found = texts(memory, "What did I ask about Lisbon?")
        assert len(set(_QUESTIONS) & set(found)) >= 5


def test_questions_alone_are_recalled() -> None:
    with RecallM() as memory:
        memory.update("Should we paint the barn red?", speaker="Ann")
        assert texts(memory, "Which colour for the barn?") == ["Should we paint the barn red?"]


def talk(*turns: tuple[str, str]) -> RecallM:
    memory = RecallM(config=FILL)
    memory.update_many([{"speaker": who, "text": text, "session": "s"} for who, text in turns])
    return memory


def test_a_question_stands_with_its_short_answer() -> None:
    asked = "Which instrument did the neighbours hear all night?"
    turns = (("Bo", asked), ("Ann", "My cello."), ("Bo", "Ann has a blue car."))
    with talk(*turns) as memory:
        assert texts(memory, "Does Ann play the cello?")[:2] == [asked, "My cello."]
        assert texts(memory, "Does Ann play the cello?", limit=1) == ["My cello."]


def test_a_question_that_nobody_answered_takes_no_place() -> None:
    with talk(("Bo", "Did Ann buy a boat?"), ("Ann", "Ann keeps a boat in Porto.")) as memory:
        memory.update("Is the boat of Ann in Rome?", speaker="Bo", session="t")
        found = texts(memory, "Where is the boat of Ann?")
        assert "Ann keeps a boat in Porto." in found
        assert "Is the boat of Ann in Rome?" not in found


def test_small_talk_takes_no_place_unless_it_is_asked_for() -> None:
    turns = (
        ("Mel", "Hey Deb, good to see you!"),
        ("Deborah", "Thanks, Mel! I bought a guitar in Paris."),
        ("Mel", "Wow, Deb, that's awesome!"),
        ("Deborah", "Thanks for the strings from Rome."),
    )
    with talk(*turns) as memory:
        found = texts(memory, "What did Deborah buy?")
        assert found == ["I bought a guitar in Paris.", "Thanks for the strings from Rome."]
        greeted = texts(memory, "What did Mel say to greet Deb?")
        assert "Hey Deb, good to see you!" in greeted
        assert "Thanks, Mel!" in texts(memory, "Whom did Deborah thank?")


def test_small_talk_alone_is_recalled() -> None:
    with talk(("Mel", "Good to see you, Deb!")) as memory:
        assert texts(memory, "Deb") == ["Good to see you, Deb!"]


def test_requests_and_acknowledgements_take_no_place() -> None:
    memory = RecallM()
    budget = "My budget for Lisbon is 900 euros."
    for number, (request, reply) in enumerate(
        (
            (budget, "OK, noted."),
            ("Tell me about my Lisbon budget.", "I have no budget for Lisbon on record."),
            ("Summarise my trip to Lisbon", "I don't know your trip to Lisbon."),
            ("Show me the Lisbon budget", "I have no Lisbon budget on record."),
        )
    ):
        memory.update(request, speaker="Human", session=str(number))
        memory.update(reply, speaker="AI", session=str(number))
    assert texts(memory, "How much may I spend in Lisbon?") == [budget]


def test_which_statements_are_small_talk() -> None:
    """Behind a question "yes" and a name are answers."""
    cases = (
        ("Thanks, Deb!", False, True),
        ("Wow, that's awesome!", False, True),
        ("I really appreciate it!", False, True),
        ("No problem!", False, True),
        ("OK, noted.", False, True),
        ("Sure, I\u2019ll keep that in mind!", False, True),
        ("Noted the address of Ann.", False, False),
        ("I'm great!", False, False),
        ("It was great!", False, False),
        ("She is amazing!", False, False),
        ("That's not good.", False, False),
        ("It is.", False, False),
        ("Thanks for the guitar from Paris!", False, False),
        ("Yes!", True, False),
        ("Done.", True, False),
        ("Oh, Maria!", True, False),
        ("Thanks!", True, True),
    )
    for text, answers, expected in cases:
        with talk(("Ann", text)) as memory, memory._opened.store.reader(memory.namespace) as reader:
            (statement,) = reader.statements([statement_key(1, 0)])
        assert is_small_talk(statement, names=(), answers=answers) is expected, text


def test_a_denial_that_answers_is_no_empty_reply() -> None:
    memory = RecallM()
    for speaker, text in (
        ("Ben", "Do you own a car?"),
        ("Ann", "I have no car."),
        ("Ben", "What is your diet like, Ann?"),
        ("Ann", "My diet has no meat."),
        ("Ann", "The diet book about cars was long."),
    ):
        memory.update(text, speaker=speaker, session="talk")
    assert "I have no car." in texts(memory, "Which car does Ann own?", limit=3)
    assert "My diet has no meat." in texts(memory, "What is Ann's diet?", limit=3)
