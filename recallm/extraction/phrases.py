"""Words that the rules of time look for, as patterns over a text in lower case."""

from __future__ import annotations

__all__ = [
    "ASKING",
    "BE",
    "BECOMING",
    "CHANGED",
    "FILLING",
    "HABITS",
    "OUTGROWN",
    "PLURAL",
    "PRONOUNS",
    "ROLES",
    "SITUATED",
    "SPELLS",
    "STATES",
]

STATES = (
    "was|were|be|been|live|lived|work|worked|stay|stayed|reside|resided|have|had|own|owned|drive|"
    "drove|date|dated|study|studied|teach|taught|use|used|call|called|belong|belonged|play|played|"
    "keep|kept|follow|followed|like|liked|love|loved|prefer|preferred|volunteer|volunteered|"
    "commute|commuted|rent|rented|train|trained|serve|served|support|supported|learn|learned"
)
"""Verbs that tell of a state, which another takes the place of."""
ROLES = (
    "wife|husband|boyfriend|girlfriend|partner|spouse|fiance|fiancee|boss|roommate|flatmate|"
    "colleague|bandmate|teammate|employer|president|soldier|marine|cop|policeman|convict|manager|"
    "captain|player|teacher|coach"
)
"""Whom one may have been: "ex-wife"."""
OUTGROWN = "job|address|house|home|apartment|flat|school|phone|number|employer|company|boss|car"
"""What one has had one of after another: "her old address"."""
HABITS = (
    "be|live|work|have|own|do|go|like|love|hate|play|drive|think|believe|stay|drink|smoke|eat|"
    "feel|see|visit|teach|study|read|watch|wear|run|date|dream|say|want|call|spend"
)
"""What one used to do, not used something to do."""
CHANGED = "moved|joined|started|became|switched|changed|married|settled|began|met"
"""How a state began."""
SPELLS = r"(?:night|day|week|weekend|month|year|morning|evening|moment)s?"
"""Lengths of time."""
BE = "is|are|was|were|be|been|being|am|'m|'s|'re"
"""Forms of "be"."""
ASKING = (
    "is|are|was|were|do|does|did|has|have|had|'s|'ve|can|could|will|would|should|may|might|must"
)
"""Verbs that a question begins its main part with."""
PRONOUNS = "i|you|he|she|it|we|they|this|that|these|those"
"""What stands for a noun."""
FILLING = rf"(?:(?!(?:{ASKING}|{PRONOUNS})\b)\w+ )"
"""A word between "which" and its noun."""
PLURAL = (
    rf"(?:(?!(?:{ASKING}|{PRONOUNS}|his|its|as|yes|news|always|perhaps|besides|afterwards|"
    r"sometimes|series|days|times|happens|makes|causes|leads|keeps|means|comes|goes|gives|brings|"
    r"takes|gets|becomes|starts|helps|inspires|motivates|worries|bothers)\b)\w+[^\Wsui]s|people|"
    r"children|men|women)(?!\w)"
)
"""A noun in the plural, as far as its form tells."""
SITUATED = (
    "married|divorced|engaged|located|situated|based|called|named|employed|enrolled|retired|"
    "interested|involved|titled|known|registered|signed|scheduled|stationed|housed|buried|made|"
    "written|used|spelled|pronounced|kept|owned|dedicated|related|connected|addicted|scared|worried"
)
"""Participles that tell how something is: "is married"."""
BECOMING = "decided|become|moved|settled|changed|switched|chosen|happened"
"""Participles that tell how something became what it is."""
