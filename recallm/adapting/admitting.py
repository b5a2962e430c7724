"""Which messages may be written, and in which words: what ``redact=`` and ``accept=`` say.

``redact`` sees every text, and the name of who said it, before anything else does; ``accept``
then decides on what would be written. Where one of them fails, nothing is written:
never the text as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from inspect import iscoroutinefunction

from recallm.adapting.conversation import Said
from recallm.adapting.roles import NAMES
from recallm.adapting.texts import storable
from recallm.errors import InvalidInputError

__all__ = ["Accept", "Admission", "Redact"]

Redact = Callable[[str], str]
"""A text, or the name of a speaker → what is written in its place. The same text must always
give the same, or a message that is handed in again is a new message."""

Accept = Callable[[Said], bool]
"""A message (its redacted ``text`` and ``speaker``, its ``role``, ``id``) → whether to write it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """``redact`` and ``accept`` of one adapter; None: every text as it is, every message.

    >>> admission = Admission(
    ...     redact=lambda text: text.replace("4711", "[PIN]"),
    ...     accept=lambda said: said.role == "human",
    ... )
    >>> spoken = [
    ...     Said(text="My PIN is 4711.", speaker="Ann", role="human"),
    ...     Said(text="Noted.", speaker="AI", role="ai"),
    ... ]
    >>> [said.text for said in admission.admitted(spoken)]
    ['My PIN is [PIN].']

    Raises:
        InvalidInputError: one of them is no callable, or an async function.

    """

    redact: Redact | None = None
    accept: Accept | None = None

    def __post_init__(self) -> None:
        given: dict[str, object] = {"redact": self.redact, "accept": self.accept}
        for argument, function in given.items():
            if function is None or (callable(function) and not iscoroutinefunction(function)):
                continue
            raise InvalidInputError(
                f"{argument} must be a plain function, or None, not {function!r}",
                argument=argument,
            )

    def redacted(self, text: str) -> str:
        """The text that may be written in place of ``text``.

        Raises:
            InvalidInputError: ``redact`` gave something else than a str.
            Exception: what ``redact`` raised.

        """
        if self.redact is None or not text:
            return text
        given: object = self.redact(text)
        if not isinstance(given, str):
            raise InvalidInputError(
                f"redact must return a str, not {type(given).__name__}", argument="redact"
            )
        return storable(given)

    def admitted(self, spoken: Iterable[Said]) -> list[Said]:
        """Those of ``spoken`` that may be written, their texts and the names of speakers redacted.

        Raises:
            InvalidInputError: ``redact`` or ``accept`` gave something that cannot be used.
            Exception: what ``redact`` or ``accept`` raised.

        """
        if self.redact is not None:
            spoken = [
                replace(said, text=self.redacted(said.text), speaker=self._redacted_name(said))
                for said in spoken
            ]
        return [said for said in spoken if self._accepts(said)]

    def _redacted_name(self, said: Said) -> str:
        """The name of who said it, redacted; the role's own name needs no redaction, and stands
        where nothing is left of another."""
        usual = next((name for role, name in NAMES.items() if role == said.role), said.role)
        return usual if said.speaker == usual else self.redacted(said.speaker).strip() or usual

    def _accepts(self, said: Said) -> bool:
        if self.accept is None:
            return True
        given: object = self.accept(said)
        if not isinstance(given, bool):
            raise InvalidInputError(
                f"accept must return True or False, not {type(given).__name__}", argument="accept"
            )
        return given
