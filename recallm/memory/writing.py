"""The part of a memory that writes: updates, vectors for statements that have none, forgetting."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Sized
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, Unpack

from tqdm import tqdm

from recallm.errors import InvalidInputError
from recallm.ground import checks
from recallm.ground.documents import file_text
from recallm.memory.open_namespace import OpenNamespace
from recallm.memory.update_request import UpdateArguments, UpdateRequest, checked_requests
from recallm.memory.updating import Updater, batches
from recallm.model import (
    Extraction,
    Forgotten,
    Moment,
    Selection,
    SelectionKind,
    SetExpiry,
    Withdraw,
)
from recallm.recall.neighbourhood import known_name
from recallm.recall.results import KnowledgeUpdate, Receipt


class Writing:
    """Writes to one namespace through ``updater``. ``RecallM`` has these methods."""

    def __init__(self, namespace: OpenNamespace, updater: Updater) -> None:
        self._namespace = namespace
        self._updater = updater

    def update(self, text: str, **arguments: Unpack[UpdateArguments]) -> KnowledgeUpdate:
        """Add ``text``: one knowledge update, one transaction (paper, Knowledge Update).

        ``timestamp`` (aware): when it was said; ``speaker``: by whom; ``session``: in which
        conversation or document; ``source``: where it comes from. Without a session, the updates of
        a source without a speaker are one; messages (a source, a speaker and a timestamp) and
        updates with a timestamp alone are one where less than an hour apart. The same ``id`` with
        the same text changes nothing; with ``replace``, a passage with this ``id`` and another text
        is forgotten first. ``metadata`` holds JSON values. ``expires_at`` (aware): from then on
        nothing of the text is shown. It still counts (in strengths, ``stats``) until a sweep
        forgets it: each write first forgets up to 256 expired passages, ``forget(expired=True)``
        forgets all. ``entities`` and ``triplets`` are facts of the text in exact form, as in
        ``graph.upsert``: they are forgotten with it. With some, the text may be blank.

        Raises:
            InvalidInputError: an argument cannot be used.
            ConflictError: ``id`` belongs to a passage with another text, and ``replace`` is False.
            UnknownEntityError: a triplet names an entity that is neither stored nor in
                ``entities``.
            StoreError: the store failed; nothing was written.

        """
        return self.write(UpdateRequest.of_arguments({"text": text, **arguments}))

    def update_from_file(
        self,
        path: str | os.PathLike[str],
        *,
        encoding: str | None = None,
        **update: Unpack[UpdateArguments],
    ) -> KnowledgeUpdate:
        """Add the text of a file as one knowledge update.

        ``update`` are the arguments of ``update``; ``source`` is the name of the file where none is
        given. ``encoding``: that of the file; the default is UTF-8.

        Raises:
            DocumentError: the file cannot be read, has no text, or is not in this encoding.
            InvalidInputError: it holds rows of a table or a web page (give the page's text to
                ``update``), or an argument cannot be used.
            ConflictError, UnknownEntityError, StoreError: as in ``update``.

        """
        self._namespace.check_open()
        file = Path(checks.file_path(path, "path"))
        text = file_text(file, encoding=checks.optional(checks.string, encoding, "encoding"))
        arguments: UpdateArguments = {"source": file.name, **update}
        return self.update(text, **arguments)

    def write(self, request: UpdateRequest) -> KnowledgeUpdate:
        """Write one checked knowledge update, for the packages that stand on the memory.

        Raises:
            InvalidInputError: ``request`` is no UpdateRequest.

        """
        if not isinstance(request, UpdateRequest):
            raise InvalidInputError("request must be an UpdateRequest", argument="request")
        self._namespace.check_open()
        return self._updater.update(self._namespace.name, (None, [request]))[0]

    def update_many(
        self,
        items: Iterable[str | Mapping[str, Any]],
        *,
        batch_size: int = 1000,
        progress: bool = False,
    ) -> list[KnowledgeUpdate]:
        """Add many texts, each as a knowledge update of its own, in one transaction for each batch.

        An item is a text, a mapping of ``update``'s arguments, or a message of a chat API: ``role``
        and ``content`` (a text, or a list of parts, of which those of text are taken), and perhaps
        ``name`` (the speaker; "Human" or "AI" without), ``created_at`` (seconds since 1970, or ISO
        8601), ``id``, ``session``, ``source`` and ``metadata``; what else it has is left out.
        Messages of the system, the developer and tools are nobody's words: they, and messages
        without text, write nothing and have no result. ``progress`` shows a bar on standard error.

        >>> from recallm import RecallM
        >>> memory = RecallM()
        >>> chat = [{"role": "user", "content": "I keep bees."}, {"role": "system", "content": "…"}]
        >>> len(memory.update_many(chat)), memory.passages()[0].speaker
        (1, 'Human')

        Raises:
            InvalidInputError, ConflictError: item ``index`` cannot be used. Its batch was rolled
                back, the batches before it are written. Items with ids can be given again.
            StoreError: the store failed; the batch was rolled back.

        """
        size = checks.count(batch_size, "batch_size") or 1
        given = checks.listed(items, "items")
        self._namespace.check_open()
        done: list[KnowledgeUpdate] = []
        total = len(given) if isinstance(given, Sized) else None
        with tqdm(total=total, disable=not progress, unit="update") as bar:
            requests = checked_requests(given, self._checked)
            for results in self._updater.update_many(self._namespace.name, batches(requests, size)):
                done += results
                bar.update(len(results))
        return done

    def extract(self, texts: Iterable[str], *, triplets: bool = True) -> list[Extraction]:
        """The statements of each text, their concepts, the pairs of neighbours, and (with
        ``triplets``, which takes a parse) the facts that the text states: what ``update`` would
        write for a text without a speaker and a session. Nothing is written. An ``update``
        with one of these texts does not run the pipeline again.

        Raises:
            InvalidInputError: a text cannot be used.

        """
        self._namespace.check_open()
        return self._updater.extract(texts, triplets=checks.flag(triplets, "triplets"))

    def embed(self, *, batch_size: int = 1000, progress: bool = False) -> int:
        """Give a vector to every statement that has none, ``batch_size`` in a transaction; return
        how many statements got one. Such statements were written by a memory without embeddings, or
        come from an archive. After an interruption, another call goes on where this one stopped.
        ``progress`` shows a bar on standard error.

        Raises:
            InvalidInputError: the memory was opened without embeddings.
            EmbeddingModelError: the namespace's vectors are of another model.
            EmbeddingError: the model failed; the batches before are written.
            StoreError: the store failed; the batches before are written.

        """
        size = checks.count(batch_size, "batch_size") or 1
        self._namespace.check_open()
        return self._updater.embed(self._namespace.name, size, progress=progress)

    def forget(
        self,
        *,
        id: str | None = None,
        statement: str | None = None,
        source: str | None = None,
        session: str | None = None,
        concept: str | None = None,
        before: Moment | None = None,
        expired: bool = False,
        everything: bool = False,
        dry_run: bool = False,
    ) -> Forgotten:
        """Forget for good what exactly one argument selects; return how much was forgotten (all
        counts are 0 where nothing is stored under a name). With ``dry_run``, nothing changes: the
        result counts what would go.

        ``id``: a passage; ``statement``: one statement, by its id; ``source``; ``session``: by its
        name (or the source, where no session was given); ``concept``: each statement, fact and cell
        of a table that mentions it, by its label or name; ``before``: what arrived before a t,
        or was said before a moment (as in ``recall``; of a day its start); ``expired``: what has
        expired by now. Each goes with all that it alone brought (docs/namespaces.md has the table).
        Afterwards the memory is as if the text had never been added; only t does not go back.
        ``erasure_pending`` in the result: the bytes leave the file later (``Forgotten``).

        Raises:
            InvalidInputError: not exactly one argument, or one that cannot be used.
            StoreError: the store failed; nothing was forgotten.

        """
        self._namespace.check_open()
        kind, value = _selected(
            id=id,
            statement=statement,
            source=source,
            session=session,
            concept=concept,
            before=before,
            expired=expired,
            everything=everything,
        )
        if kind == "expired":
            value = self._namespace.clock()
        if kind == "concept":
            with self._namespace.reader() as reader:
                value = known_name(reader, str(value), self._namespace.concept_name)
        selection = Selection(kind=kind, value=value, dry_run=checks.flag(dry_run, "dry_run"))
        return self._updater.forget(self._namespace.name, selection)

    def expire(self, moments: Mapping[str, datetime | None]) -> int:
        """Set when passages expire: passage id → aware moment, or None for never. Return how many
        of the passages exist.

        Raises:
            InvalidInputError: a moment cannot be used; nothing was changed.
            StoreError: the store failed; nothing was changed.

        """
        self._namespace.check_open()
        checked = {
            checks.string(id, "moments"): checks.timestamp(moment, "moments")
            for id, moment in checks.mapping(moments, "moments").items()
        }
        return self._namespace.store.amend(self._namespace.name, SetExpiry(expires_at=checked))

    def withdraw(self, ids: Collection[str], *, undo: bool = False) -> int:
        """Withdraw the passages with these ids: what was said and does not stand any more, such as
        a message that was edited. Return how many passages changed.

        From the next t on they are not recalled, and nothing shows what only they say; with
        ``as_of`` an earlier t, or a moment at which the latest update had an earlier t, they are
        recalled as before. With ``undo``, or where such a passage is written again, they are as if
        they had never been withdrawn. Nothing is forgotten: ``forget`` and ``stats`` reach them.

        >>> from recallm import RecallM
        >>> memory = RecallM()
        >>> red = memory.update("My bike is red.")
        >>> memory.withdraw([red.id])
        1
        >>> memory.recall("What colour is my bike?").text
        ''
        >>> memory.recall("What colour is my bike?", as_of=red.t_index).text
        'My bike is red.'

        Raises:
            InvalidInputError: an argument cannot be used.
            StoreError: the store failed; nothing was changed.

        """
        self._namespace.check_open()
        amendment = Withdraw(ids=checks.strings(ids, "ids"), undo=checks.flag(undo, "undo"))
        return self._namespace.store.amend(self._namespace.name, amendment)

    def erase_namespace(self, namespace: str) -> Receipt:
        """Forget everything that ``namespace`` holds, such as the data of one user who asks for
        that; return the receipt. Other namespaces stay.

        Raises:
            InvalidInputError: ``namespace`` cannot be used.
            StoreError: the store failed; nothing was forgotten.

        """
        erased = self._namespace.named(namespace)
        everything = Selection(kind="everything", value=True)
        forgotten = self._updater.forget(erased.name, everything)
        return Receipt.of(forgotten, action="erase", namespace=erased.name, at=erased.clock())

    def _checked(self, item: object) -> UpdateRequest | None:
        self._namespace.check_open()
        return UpdateRequest.of_item(item)

    def put(self, requests: Sequence[UpdateRequest]) -> list[KnowledgeUpdate]:
        """Write checked knowledge updates, all in one transaction."""
        self._namespace.check_open()
        return self._updater.update(self._namespace.name, (range(len(requests)), requests))


_SELECTIONS: Mapping[SelectionKind, Callable[[object, str], str | int | datetime | None]] = {
    "id": checks.optional_name,
    "statement": partial(checks.optional, checks.string),
    "source": checks.optional_name,
    "session": checks.optional_name,
    "concept": partial(checks.optional, checks.string),
    "before": checks.moment,
    "expired": checks.flag,
    "everything": checks.flag,
}
"""One check for each argument of ``forget``."""


def _selected(**given: object) -> tuple[SelectionKind, str | int | datetime]:
    """The arguments of ``forget``, of which exactly one is given. ``concept`` is a label, not yet a
    concept's name; ``expired`` is True, not yet a moment."""
    chosen: list[tuple[SelectionKind, str | int | datetime]] = []
    for kind, check in _SELECTIONS.items():
        value = check(given[kind], kind)
        if value is not None and value is not False:
            chosen.append((kind, value))
    if len(chosen) != 1:
        raise InvalidInputError(
            f"forget takes exactly one of {', '.join(list(_SELECTIONS)[:-2])}, "
            f"expired=True, everything=True; {len(chosen)} were given",
            argument="forget",
        )
    return chosen[0]
