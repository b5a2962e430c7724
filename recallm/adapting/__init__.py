"""What adapters of frameworks share: conversations as sessions of a memory, recalled text as data
in a prompt, tools over memories and facts, and checks of arguments.

The package knows neither LangChain nor LlamaIndex; both adapters build on it. What cannot be used
raises ``InvalidInputError``; a store that fails raises ``StoreError``, and nothing is written then.
"""

from recallm.adapting.arguments import *
from recallm.adapting.conversation import *
from recallm.adapting.fact_tools import *
from recallm.adapting.memory_tools import *
from recallm.adapting.messages import *
from recallm.ground import checks as checks
from recallm.ground.forking import new_lock as new_lock
from recallm.ground.methods import in_thread as in_thread
from recallm.ground.methods import sync_in_thread as sync_in_thread
from recallm.ground.methods import unknown_argument as unknown_argument
from recallm.ground.untrusted_text import *
from recallm.memory.recallm import checked_memory as checked_memory
from recallm.model import Moment as Moment
