"""The words that the features of answers count (``features``), in lower case."""

from __future__ import annotations

from recallm.extraction import word_set

__all__ = [
    "FILLERS",
    "GENERIC",
    "HEDGES",
    "KNOWING",
    "NEGATIONS",
    "NUMBERS",
    "PEOPLE",
    "PLACE_PREPOSITIONS",
    "PRONOUNS",
    "REASONS",
    "SELF",
    "SOURCES",
    "VAGUE",
    "YES_NO",
]

NEGATIONS = word_set(
    "no not n't never none nothing nobody nowhere neither nor cannot without cant dont doesnt "
    "didnt isnt wasnt arent werent wont unable"
)
SOURCES = word_set(
    "statement statements context contexts passage passages text texts document documents source "
    "sources content contents excerpt excerpts extract extracts information info conversation "
    "conversations memory memories record records notes snippet snippets material materials data "
    "database knowledge prompt input question questions article story plot transcript messages"
)
"""Names for the context that an answerer was given."""

KNOWING = word_set(
    "mention mentions mentioned mentioning specify specifies specified specific specifically "
    "provide provides provided providing state states stated detail details detailed clear clearly "
    "know known determine determined answer answers answered indicate indicates indicated "
    "indication describe describes described explain explains explained explicit explicitly reveal "
    "reveals revealed given available access identify identified disclose disclosed evident enough "
    "sufficient insufficient evidence reference references include includes included contain "
    "contains contained discuss discussed confirm confirmed certain sure unclear unknown "
    "unspecified unsure uncertain incomplete lack lacks lacking missing n/a relevant additional "
    "further accurate accurately regarding about based according"
)
"""Words about knowing and not knowing."""

HEDGES = word_set(
    "may might possibly perhaps maybe likely probably presumably apparently seems seem appears "
    "appear suggest suggests suggesting implied implies imply inferred assume assumed assuming "
    "however although though could unsure uncertain think believe guess"
)
GENERIC = word_set(
    "typically usually generally often commonly various vary varies depends depending individuals "
    "people person many several common certain factors such important general different individual "
    "multiple numerous type types kind kinds"
)
"""Words of answers that do not speak of the case in question."""

VAGUE = word_set("someone somebody something unnamed unknown unidentified unspecified somewhere")
SELF = word_set("i i'm i'd i've i'll my me ai assistant model")
"""Words for the answerer itself."""

PLACE_PREPOSITIONS = word_set("in at to from near inside outside into on under")
REASONS = word_set("because to so since for due order as")
YES_NO = word_set("yes no yeah nope true false correct incorrect")
NUMBERS = word_set("one two three four five six seven eight nine ten several both all none no")
PRONOUNS = word_set("he she they it")
FILLERS = word_set(
    "a an the this that these those and or but if then than as because while until of in on at to "
    "from by with for about into onto over under after before between through during against up "
    "out off again once no not nor both each all any some only own so since though although also "
    "whether upon within without toward towards per via"
)
PEOPLE = word_set(
    "man woman boy girl father mother son daughter brother sister wife husband friend girlfriend "
    "boyfriend doctor captain king queen police officer agent professor detective group family "
    "people leader child kids children uncle aunt men women student soldiers parents"
)
