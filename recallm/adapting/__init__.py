"""What adapters of frameworks share: conversations as sessions of a memory, recalled text as data
in a prompt, and checks of arguments.

The module knows neither LangChain nor LlamaIndex; both adapters build on it.
"""

from recallm.adapting.arguments import (
    Order,
    RecallOptions,
    check_budget,
    checked_memory,
    checked_namespace,
    checked_roles,
    checked_scope,
    checked_session,
    gives_probabilities,
)
from recallm.adapting.conversation import Conversation, Scope
from recallm.adapting.failures import FailureGuard, answer_without_text, not_a_model
from recallm.adapting.messages import (
    DEFAULT_ROLES,
    SPEAKER_NAMES,
    Accept,
    Message,
    MessageFilter,
    Redact,
    Role,
    digest,
    joined_text,
    latest_question,
    speaker_name,
    speaker_names,
    storable,
)
from recallm.adapting.postponing import (
    POSTPONED_PATH,
    extract_postponed,
    extract_some_postponed,
    has_postponed,
    is_long,
    is_postponed,
    postpone,
)
from recallm.adapting.recalled_text import (
    data_within,
    delimiter_tokens,
    shortened_question,
    statement_metadata,
    text_separator,
)
from recallm.forking import new_lock
from recallm.untrusted_text import CLOSING, OPENING, as_content, as_data, shown_name

__all__ = [
    "CLOSING",
    "DEFAULT_ROLES",
    "OPENING",
    "POSTPONED_PATH",
    "SPEAKER_NAMES",
    "Accept",
    "Conversation",
    "FailureGuard",
    "Message",
    "MessageFilter",
    "Order",
    "RecallOptions",
    "Redact",
    "Role",
    "Scope",
    "answer_without_text",
    "as_content",
    "as_data",
    "check_budget",
    "checked_memory",
    "checked_namespace",
    "checked_roles",
    "checked_scope",
    "checked_session",
    "data_within",
    "delimiter_tokens",
    "digest",
    "extract_postponed",
    "extract_some_postponed",
    "gives_probabilities",
    "has_postponed",
    "is_long",
    "is_postponed",
    "joined_text",
    "latest_question",
    "new_lock",
    "not_a_model",
    "postpone",
    "shortened_question",
    "shown_name",
    "speaker_name",
    "speaker_names",
    "statement_metadata",
    "storable",
    "text_separator",
]
