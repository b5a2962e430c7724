"""What questions ask for."""

from __future__ import annotations

from recallm.extraction.questions import asked_traits
from recallm.extraction.words import Lexicon, Word
from recallm.model import Trait
from tests.tables import each_row

PERSON = Trait.PERSON | Trait.NAME
PLACE = Trait.PLACE | Trait.NAME
ORGANISATION = Trait.ORGANISATION | Trait.NAME
EXTENT = Trait.TIME | Trait.NUMBER


def words(text: str) -> list[Word]:
    lexicon = Lexicon()
    return [lexicon.add(i, word) for i, word in enumerate(text.split())]


@each_row(
    [
        ("When did Anna move", Trait.TIME),
        ("Since when is she here", Trait.TIME),
        ("What time is it", Trait.TIME),
        ("What year was that", Trait.TIME),
        ("In which month did she leave", Trait.TIME),
        ("What is the date of the party", Trait.TIME),
        ("How long did it take", EXTENT),
        ("How often does she run", EXTENT),
        ("How many cats has she", Trait.NUMBER),
        ("How old is Bob", Trait.NUMBER),
        ("Who wants tea", PERSON),
        ("Whose car is it", PERSON),
        ("To whom did he write", PERSON),
        ("Which friend called", PERSON),
        ("Where does she live", PLACE),
        ("Which city did he visit", PLACE),
        ("What other big cities did he see", PLACE),
        ("What company does she work for", ORGANISATION),
        ("Which one is it", Trait.NAME),
        ("What is the name of the dog", Trait.NAME),
        ("What is his dog called", Trait.NAME),
        ("What did she buy", Trait(0)),
        ("What is her job", Trait(0)),
        ("Why did he leave", Trait(0)),
        ("How did he leave", Trait(0)),
        ("Does the man who called live here", Trait(0)),
        ("Do you know where Bob lives", PLACE),
        ("Tell me when Anna left", Trait.TIME),
        ("Anna left", Trait(0)),
        ("How", Trait(0)),
        ("What", Trait(0)),
        ("", Trait(0)),
    ]
)
def test_asked_traits(question: str, expected: Trait) -> None:
    """The first question word decides; questions of yes or no ask for nothing."""
    assert asked_traits(words(question)) == expected
