"""Stems: lower-cased, by Porter; acronyms stay whole; irregular forms have that of their base."""

from __future__ import annotations

from recallm.english.extractor import Extractor
from recallm.english.word_lists import ENGLISH, read_table
from recallm.english.words import (
    BARE_PASTS,
    PASTS,
    SINGULARS,
    VERBS,
    is_all_capitals,
    is_like_acronym,
    name_in_capitals,
    plain,
    regular_base,
    stem,
    verb_base,
    without_prefix,
    word_of,
)
from recallm.ground.config import RecallConfig
from recallm.model import Mark
from tests.tables import each_row


@each_row(
    [
        ("coffee", "coffe"),
        ("Paris", "pari"),
        ("Brandon", "brandon"),
        ("running", "run"),
        ("happily", "happili"),
        ("university", "univers"),
        ("universe", "univers"),
        ("as", "as"),
        ("2019", "2019"),
        ("Москва", "москва"),
        ("ｃｏｆｆｅｅ", "coffe"),
        ("cafe\u0301", "cafe"),
        ("José", "jose"),
        ("Łódź", "lodz"),
        ("が", "が"),
    ]
)
def test_stem(word: str, expected: str) -> None:
    """The paper's examples, Porter's own, and other scripts in one form of Unicode."""
    assert stem(word) == expected


def test_acronyms_are_told_by_their_capitals() -> None:
    """Two to six characters, all letters capital."""
    assert all(map(is_like_acronym, ["US", "NASA", "B2B", "UNESCO"]))
    assert not any(map(is_like_acronym, ["I", "Us", "us", "PCs", "WONDERFUL", "2019"]))
    assert plain("US") == "us"


@each_row(["PARIS", "JAMES", "ITALY", "LOVE", "KEYS", "BUS", "DAY", "LAS"])
def test_a_word_in_capitals_has_the_name_of_the_word(word: str) -> None:
    """Capitals are emphasis in a word with a vowel."""
    assert name_in_capitals(word) == stem(word)


@each_row(["US", "IT", "NASA", "GPS", "CBS", "AIDS", "SARS", "IRS", "B2B"])
def test_the_name_of_an_acronym_is_not_stemmed(word: str) -> None:
    """Without a vowel, listed, or no other word's plural."""
    assert name_in_capitals(word) == word.lower()


def test_a_text_in_capitals() -> None:
    """It has several words and no small letter; a single word may be an acronym."""
    assert is_all_capitals("I LOVE CATS")
    assert not is_all_capitals("NASA")
    assert not is_all_capitals("NASA flies")
    assert not is_all_capitals("123 456")


EXTRACTOR = Extractor(RecallConfig())


def marks(form: str) -> int:
    return word_of(form).marks


@each_row(
    [
        ("Brandon ate an apple.", "What did Brandon eat?", "eat"),
        ("Her uncle died in Rome.", "Where did her uncle die?", "die"),
        ("Maria went home.", "Where did Maria go?", "go"),
        ("Ingrid lives in Rome.", "Where does Ingrid live?", "live"),
        ("Three children sang.", "Which child did sing?", "child"),
    ]
)
def test_a_question_and_its_answer_have_the_term_in_common(
    told: str, asked: str, term: str
) -> None:
    statement = EXTRACTOR.extract(told).statements[0]
    assert term in statement.terms
    assert term in EXTRACTOR.question(asked).terms


def test_the_stem_of_an_irregular_form_depends_on_its_tag() -> None:
    """Leaves of a tree are no departures."""
    assert "leaf" in EXTRACTOR.extract("The leaves of the tree are red.").statements[0].terms
    assert "leav" in EXTRACTOR.extract("He leaves tomorrow.").statements[0].terms


def test_concepts_keep_their_own_names() -> None:
    concepts = EXTRACTOR.extract("The children left.").statements[0].concepts
    assert [concept.name for concept in concepts] == [stem("children")]


def test_only_plurals_that_the_stemmer_does_not_join_are_listed() -> None:
    assert not [form for form, base in SINGULARS.items() if stem(form) == stem(base)]


@each_row(sorted({*PASTS, *VERBS} - {"dies", "dying", "goes", "lies"}))
def test_every_form_but_a_present_is_past(form: str) -> None:
    present = form in ("lying", "ties", "tying")
    assert bool(marks(form) & Mark.PAST) is not present


@each_row(
    [
        ("rebuilt", "rebuild"),
        ("overheard", "overhear"),
        ("understood", "understand"),
        ("outgrew", "outgrow"),
        ("misread", "misread"),
        ("mistook", "mistake"),
        ("foresaw", "foresee"),
        ("withheld", "withhold"),
        ("upheld", "uphold"),
        ("rewound", "rewind"),
        ("undone", "undo"),
        ("overcame", "overcome"),
        ("unknown", "unknown"),
        ("resent", "resent"),
        ("relied", "relied"),
        ("overlay", "overlay"),
        ("re", "re"),
        ("", ""),
    ]
)
def test_a_prefix_makes_a_verb_with_the_same_forms(form: str, base: str) -> None:
    assert verb_base(form) == base


def test_every_form_takes_a_prefix() -> None:
    """All but the forms that make another verb with a prefix."""
    forms = {*PASTS, *BARE_PASTS} - {"lied", "lay", "lent", "bound", "sent"}
    past = Mark.PAST | Mark.BARE_PAST
    assert {form for form in forms if without_prefix(f"re{form}") != form} == set()
    assert {form for form in forms if not marks(f"re{form}") & past} == set()


@each_row(
    [
        ("Who rebuilt the shed?", "neutral"),
        ("Who overthrew the king?", "neutral"),
        ("Who rang Anna?", "neutral"),
        ("Who babysat the twins?", "neutral"),
        ("Who slew the dragon?", "neutral"),
        ("Who had sublet the flat?", "neutral"),
        ("What does Anna read?", "current"),
        ("Where does Anna live?", "current"),
    ]
)
def test_a_question_is_read_in_its_verbs_tense(question: str, intent: str) -> None:
    assert EXTRACTOR.question(question).time.intent == intent


def test_the_lists_of_words_are_in_lower_case() -> None:
    """Words are looked up in lower case: a capital would never be found."""
    tables = {
        **ENGLISH,
        **read_table("data/coreference/words.toml"),
        "syntax": read_table("syntax/data/english.toml"),
        "rules of time": read_table("data/temporal_rules.toml")["words"],
    }
    for section, lists in tables.items():
        for key, words in lists.items():
            found = words.values() if isinstance(words, dict) else words
            for text in [found] if isinstance(found, str) else found:
                assert text == text.lower(), f"{section}.{key}"


@each_row(
    [
        ("tapped planned referred modelled", "tap plan refer model"),
        ("adding calling missed buzzing", "add call miss buzz"),
        ("hiking waking typed using shining", "hike wake type use shine"),
        ("solving noticed argued sizing juggled", "solve notice argue size juggle"),
        ("raised choosing rinsed browsed judging", "raise choose rinse browse judge"),
        ("managed changing plunged belonging hanged", "manage change plunge belong hang"),
        ("celebrating created treated formatted", "celebrate create treat format"),
        ("prepared provided combined required", "prepare provide combine require"),
        ("edited visiting invited focused", "edit visit invite focus"),
        ("exploring monitored breathing tasted posted", "explore monitor breathe taste post"),
        ("opened discovered training shouted", "open discover train shout"),
        ("studied identifying feed bring eating", "study identify feed bring eat"),
    ]
)
def test_regular_forms_give_their_base(forms: str, bases: str) -> None:
    assert " ".join(map(regular_base, forms.split())) == bases
