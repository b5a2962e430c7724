"""What adapters of frameworks share: conversations as sessions of a memory, recalled text as data
in a prompt, tools over memories and facts, and checks of arguments.

The package knows neither LangChain nor LlamaIndex; both adapters build on it. What cannot be used
raises ``InvalidInputError``; a store that fails raises ``StoreError``, and nothing is written then.
"""

from recallm import checks
from recallm.adapting import (
    arguments,
    background,
    conversation,
    fact_tools,
    memory_tools,
    messages,
    postponing,
    recalled_text,
)
from recallm.adapting.arguments import *
from recallm.adapting.background import *
from recallm.adapting.conversation import *
from recallm.adapting.fact_tools import *
from recallm.adapting.failures import FailureGuard, answer_without_text, not_a_model
from recallm.adapting.memory_tools import *
from recallm.adapting.messages import *
from recallm.adapting.postponing import *
from recallm.adapting.recalled_text import *
from recallm.forking import new_lock
from recallm.untrusted_text import (
    CLOSING,
    NOTICE,
    OPENING,
    as_content,
    as_data,
    claimed_roles,
    listed_name,
    shown_name,
    storable,
    without_delimiters,
)

__all__ = [
    "CLOSING",
    "NOTICE",
    "OPENING",
    "FailureGuard",
    "answer_without_text",
    "as_content",
    "as_data",
    "checks",
    "claimed_roles",
    "listed_name",
    "new_lock",
    "not_a_model",
    "shown_name",
    "storable",
    "without_delimiters",
]
__all__ += arguments.__all__
__all__ += background.__all__
__all__ += conversation.__all__
__all__ += fact_tools.__all__
__all__ += memory_tools.__all__
__all__ += messages.__all__
__all__ += postponing.__all__
__all__ += recalled_text.__all__
