"""Exact tokens: what a statement and a question are known by where they hold no content word."""

from __future__ import annotations

from recallm.english.extractor import Extractor
from recallm.ground.config import RecallConfig
from recallm.model import content_terms, is_exact_token, readable_term
from tests.tables import each_row

EXTRACTOR = Extractor(RecallConfig())


def tokens(text: str) -> list[str]:
    """The exact tokens of all statements of a text."""
    return [
        readable_term(term)
        for statement in EXTRACTOR.extract(text).statements
        for term in statement.terms
        if is_exact_token(term)
    ]


@each_row(
    [
        ("mmm", ["mmm"]),
        ("IT", ["it"]),
        ("the", ["the"]),
        ("To be or not to be!", ["to be or not to be"]),
        ("...", ["..."]),
        ("🍕🍕", ["🍕"]),
        ("I ate 🍕 yesterday.", ["🍕"]),
        ("❤️ 👍🏽", ["❤", "👍"]),
        ("She works in IT.", ["it"]),
        ("The WHO warns of measles.", ["who"]),
        ("It was good, mmm.", ["mmm"]),
        ("Grade: A", ["a"]),
        ("Blood type: the\nteam: WHO", ["the", "who"]),
        ("Mail ann@example.com about E-1042.", ["ann", "example.com", "e1042"]),
        ("See https://www.example.com/a/plan?id=4711.", ["example.com", "plan", "4711"]),
        ("v2.1.3 was last.", ["v213"]),
        ("f" * 120 + " is the sum.", ["f" * 100]),
        ("Well, it is there, and so am I: never.", ["well it is there and so am i"]),
        # Beside content words, function words and punctuation are not worth a posting.
        ("Anna lives in the house, and so does Bo!", []),
        ("I DO NOT LIKE IT AT ALL", []),
        ("Yes, it is a cat.", []),
    ]
)
def test_exact_tokens_of_statements(text: str, expected: list[str]) -> None:
    assert tokens(text) == expected


def test_length_does_not_count_exact_tokens() -> None:
    [statement] = EXTRACTOR.extract("She works in IT 🍕").statements
    assert content_terms(statement.terms) == ("work",)
    assert content_terms(EXTRACTOR.extract("of").statements[0].terms) == ()


@each_row(
    [
        ("Who works in IT? 🍕", ("work",), ('"it', "it", '"🍕')),
        ("Who was on call for *E-1042*?", ("call", "e-1042"), ('"e-1042', '"e1042')),
        ("Who is a@b.com?", ("a@b.com",), ('"a@b.com', '"b.com')),
        ("Please say who wrote it, ok?", ("sai", "write"), ()),
        ("What about IT?", (), ('"it', "it")),
        ("Please tell me where Bo lives.", ("bo", "live"), ()),
        ("Whom did I tell that Bo lives here?", ("tell", "bo", "live"), ()),
        ("What is that?", (), ('"what"is"that',)),
        ("What about 🍕?", (), ('"🍕',)),
        # One word may be a content word here and none there: "mmm", "MMM".
        ("pizza", ("pizza",), ('"pizza',)),
        ("MMM!", ("mmm",), ('"mmm',)),
        ("", (), ()),
    ]
)
def test_exact_tokens_of_questions(
    question: str, terms: tuple[str, ...], expected: tuple[str, ...]
) -> None:
    """A question asks for its ids, acronyms and pictures, and for all its exact tokens where it has
    no content words or is one word."""
    read = EXTRACTOR.question(question)
    assert (read.terms, read.tokens) == (terms, expected)


def test_exact_tokens_are_bounded() -> None:
    assert all(len(token) < 100 for token in tokens("the " * 5000))
    assert all(len(token) < 2_000 for token in tokens("?" * 5000 + " " + "-" * 5000))
