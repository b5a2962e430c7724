"""What the adapters of frameworks share: conversations as sessions of a memory, remembered text as
data in a prompt, and checks of what users set once.

Neither framework is known here; both adapters stand on it.
"""

from recallm.adapting.admitting import Accept, Admission, Redact
from recallm.adapting.checks import (
    checked_limits,
    checked_memory,
    checked_namespace,
    checked_room,
    checked_scope,
    checked_scores,
    checked_session,
    checked_where,
    checked_within,
)
from recallm.adapting.conversation import Conversation, Said, Scope
from recallm.adapting.data import bounded, overhead
from recallm.adapting.fields import shown_beside
from recallm.adapting.postponing import (
    POSTPONED,
    has_postponed,
    is_long,
    is_postponed,
    postpone,
    settle,
    settle_some,
)
from recallm.adapting.roles import BOTH, NAMES, Role, checked_roles, spoken_name
from recallm.adapting.texts import digest, shortened, storable
from recallm.forking import new_lock
from recallm.untrusted_text import CLOSING, OPENING, as_content, as_data, shown_name

__all__ = [
    "BOTH",
    "CLOSING",
    "NAMES",
    "OPENING",
    "POSTPONED",
    "Accept",
    "Admission",
    "Conversation",
    "Redact",
    "Role",
    "Said",
    "Scope",
    "as_content",
    "as_data",
    "bounded",
    "checked_limits",
    "checked_memory",
    "checked_namespace",
    "checked_roles",
    "checked_room",
    "checked_scope",
    "checked_scores",
    "checked_session",
    "checked_where",
    "checked_within",
    "digest",
    "has_postponed",
    "is_long",
    "is_postponed",
    "new_lock",
    "overhead",
    "postpone",
    "settle",
    "settle_some",
    "shortened",
    "shown_beside",
    "shown_name",
    "spoken_name",
    "storable",
]
