"""The values that pass between the parts of recallm, all frozen.

``keys``: how a statement is identified, and to which session an update belongs. ``language``: what
extraction reads, and what it reads out of a text. ``updates``: what a store writes and forgets.
``stored_values``: what a store gives back. Names of concepts are keys (lower-cased Porter stems),
labels are how a text spells them. Timestamps are aware, or None where nobody knows when something
was said.
"""

from __future__ import annotations

from recallm.model.keys import *
from recallm.model.language import *
from recallm.model.stored_values import *
from recallm.model.updates import *
