"""Context revision: giving a concept a shorter, still true summary of its context."""

from recallm.revision.reviser import Reviser

__all__ = ["Reviser"]
