"""The errors of recallm, in one tree. Each says what to do and carries its data as attributes."""

from __future__ import annotations

from recallm import distribution

__all__ = [
    "ArchiveError",
    "ClosedError",
    "ConflictError",
    "DimensionError",
    "EmbeddingError",
    "EmbeddingModelError",
    "InvalidInputError",
    "LLMError",
    "LLMRequiredError",
    "MissingDependencyError",
    "PipelineError",
    "RecallMError",
    "SchemaVersionError",
    "StoreBusyError",
    "StoreCorruptError",
    "StoreCredentialsError",
    "StoreError",
    "StoreFullError",
    "StoreReadOnlyError",
    "StoreUnavailableError",
    "UnknownArgumentError",
    "UnknownEntityError",
    "UnknownPassageError",
]


class RecallMError(Exception):
    """The root of every error that recallm raises on purpose."""


class InvalidInputError(RecallMError, ValueError):
    """An argument cannot be used; nothing was written.

    ``argument`` is its name, ``index`` the place of the bad item in a batch (None without a
    batch).
    """

    def __init__(self, message: str, *, argument: str, index: int | None = None) -> None:
        super().__init__(message if index is None else f"item {index}: {message}")
        self.message = message
        self.argument = argument
        self.index = index


class UnknownArgumentError(InvalidInputError, TypeError):
    """A call, or an item, names an argument that does not exist."""


class ConflictError(RecallMError):
    """An id already belongs to a passage with another text; nothing was written.

    If ``forget`` removed a statement of a passage, the passage has another text than before.
    """

    def __init__(self, id: str, *, index: int | None = None) -> None:
        where = "" if index is None else f"item {index}: "
        super().__init__(
            f"{where}id {id!r} already belongs to a passage with another text; "
            "use a new id, or forget(id=…) the old passage first"
        )
        self.id = id
        self.index = index


class UnknownEntityError(RecallMError, LookupError):
    """A triplet names an entity that does not exist; nothing was written."""

    def __init__(self, id: str) -> None:
        super().__init__(f"no entity has the id {id!r}; add it with the triplet, or before it")
        self.id = id


class UnknownPassageError(RecallMError, LookupError):
    """An update of the graph names a passage that does not exist; nothing was written."""

    def __init__(self, id: str) -> None:
        super().__init__(f"no passage has the id {id!r}; add it with update first")
        self.id = id


class DimensionError(InvalidInputError):
    """An embedding has another dimension than the namespace's vectors of its model; nothing was
    written."""

    def __init__(self, model: str, *, expected: int, found: int) -> None:
        super().__init__(
            f"the embeddings of {model!r} have {expected} dimensions in this namespace, not {found}"
            "; use the embedding model that they were made with, or another namespace",
            argument="embedding",
        )
        self.model = model
        self.expected = expected
        self.found = found


class EmbeddingError(RecallMError):
    """The embedding model failed, or did not return one vector for each text; nothing was
    written."""


class EmbeddingModelError(EmbeddingError):
    """The statement vectors of the namespace come from another embedding model, and vectors of two
    models cannot be compared. Nothing was written.

    ``stored`` is the name of the namespace's model, ``given`` that of the memory's model.
    """

    def __init__(self, *, stored: str, given: str) -> None:
        super().__init__(
            f"the statement vectors of this namespace were made by {stored!r}, not by {given!r}; "
            "open it with that model (or, if it is the same one under another name, with "
            f"Embedding(name={stored!r}, …)), or without embeddings, or use another namespace"
        )
        self.stored = stored
        self.given = given


class ClosedError(RecallMError):
    """The memory was closed."""

    def __init__(self) -> None:
        super().__init__("this memory is closed; open it again with RecallM(…)")


class PipelineError(RecallMError):
    """A spaCy pipeline is missing, or lacks a component that recallm needs."""

    def __init__(self, message: str, *, model: str) -> None:
        super().__init__(message)
        self.model = model


class MissingDependencyError(RecallMError, ImportError):
    """An optional package is not installed."""

    def __init__(self, package: str, *, extra: str) -> None:
        super().__init__(
            f"{package} is not installed; install it with: {distribution.install(extra)}"
        )
        self.package = package
        self.extra = extra


class LLMRequiredError(RecallMError):
    """A call needs a language model, and none was given."""


class LLMError(RecallMError):
    """The language model failed, or did not return text."""


class ArchiveError(RecallMError):
    """An archive cannot be loaded, and the memory is unchanged; or it cannot be exported, and the
    file is unchanged. ``line`` is the line of a bad archive, from 1."""

    def __init__(self, message: str, *, line: int | None = None) -> None:
        super().__init__(message if line is None else f"line {line}: {message}")
        self.line = line


class StoreError(RecallMError):
    """The store failed; the transaction was rolled back."""


class StoreUnavailableError(StoreError):
    """The store cannot be reached, or the connection was lost."""


class StoreCredentialsError(StoreError):
    """The server refused the user name or the password."""


class StoreBusyError(StoreError):
    """Another writer held the store for longer than ``timeout``."""


class StoreReadOnlyError(StoreError):
    """The store cannot be written."""


class StoreFullError(StoreError):
    """No space is left for the store."""


class StoreCorruptError(StoreError):
    """The file is not a recallm database, or it is damaged."""


class SchemaVersionError(StoreError):
    """Another version of recallm wrote the store, with other tables.

    ``found`` is the schema version of the store, ``known`` that of this recallm.
    """

    def __init__(self, found: int, known: int) -> None:
        advice = (
            "upgrade recallm"
            if found > known
            else "export it with the recallm that wrote it, and load the archive into a new store"
        )
        super().__init__(
            f"the store has schema version {found}, this recallm knows {known}; {advice}"
        )
        self.found = found
        self.known = known
