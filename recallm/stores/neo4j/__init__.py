"""The store on a Neo4j server (5.23 or newer; 5.26 LTS is what the tests run on), for several
machines, writers and tenants.

``schema`` describes the graph. Every query is a ``LiteralString``: values enter as parameters
alone.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from datetime import datetime

from neo4j import Driver

from recallm.errors import SchemaVersionError
from recallm.ground import checks
from recallm.model import Amendment, Forgotten, Horizon, PreparedUpdate, Selection, Summary
from recallm.stores.base import Applied
from recallm.stores.neo4j import reader_queries, schema
from recallm.stores.neo4j.connection import Connection
from recallm.stores.neo4j.reader import Neo4jReader
from recallm.stores.neo4j.rows import Neo4jRows
from recallm.stores.semantics.applying import (
    DryRun,
    amend,
    apply_updates,
    forget,
    restore_records,
)

__all__ = ["Neo4jStore"]

_ALL = Horizon()
_RETRY_TIME = 15.0


class Neo4jStore:
    """A ``GraphStore`` on Neo4j 5.23 or newer.

    A writer locks the node of its namespace, so that writers of one namespace, from any process,
    follow each other; those of different namespaces do not wait for it. ``apply`` holds the lock
    only while the server runs a query, unless another writer wrote between its queries. The server
    ends a transaction that takes more than ten minutes, and with it the lock of a writer whose
    machine is gone.

    Readers hold no transaction and no lock, so that they never wait. They see the updates up to
    the t at which they were opened; what a writer forgets or replaces disappears for open readers
    too. Where a limit cuts between equals, their names are compared by UTF-16 units.

    Args:
        server: ``bolt://`` or ``neo4j://`` URI (with ``+s`` or ``+ssc`` for TLS), or a driver,
            which ``close`` then leaves open.
        auth: user name and password, with a URI.
        database: its name; None: the user's home database.
        retry_time: seconds for which a write waits for another writer of its namespace (3 at
            least), and for which a transaction is tried again after errors that pass. What was
            committed though the reply was lost is not written again.

    Raises:
        StoreUnavailableError: nothing answers at the address, or it has no such database.
        StoreCredentialsError: the user name or the password is wrong.
        SchemaVersionError: another version of recallm wrote the database.
        InvalidInputError: the URI cannot be used, or has a user name or a password in it.
    """

    def __init__(
        self,
        server: str | Driver,
        *,
        auth: tuple[str, str] | None = None,
        database: str | None = None,
        retry_time: float = _RETRY_TIME,
    ) -> None:
        place = server if isinstance(server, str) else repr(server)
        self._place = f"{place}, database={database!r}"
        patience = checks.seconds(retry_time, "retry_time")
        self._connection = Connection(
            server,
            auth=auth,
            database=database,
            timeout=_RETRY_TIME if patience is None else patience,
        )
        try:
            self._prepare_schema()
        except BaseException:
            self._connection.close()
            raise

    def __repr__(self) -> str:
        return f"Neo4jStore({self._place})"

    @property
    def driver(self) -> Driver:
        """The driver in use."""
        return self._connection.driver

    def _prepare_schema(self) -> None:
        run = self._connection.rows
        [version] = run(schema.READ_VERSION, {}, retries=False)
        if version is None:
            for statement in schema.CREATE:
                run(statement, {}, writes=True)
            run(schema.AWAIT_INDEXES, {})
            [version] = run(schema.WRITE_VERSION, {"version": schema.VERSION}, writes=True)
        if version != schema.VERSION:
            raise SchemaVersionError(version, schema.VERSION)

    def apply(
        self,
        namespace: str,
        updates: Sequence[PreparedUpdate],
        *,
        now: datetime | None = None,
    ) -> list[Applied]:
        self._connection.check_open()
        if not updates:
            return []
        return self._connection.write(
            lambda tx: apply_updates(Neo4jRows(tx, namespace, updates), updates, now=now)
        )

    @contextmanager
    def reader(self, namespace: str, horizon: Horizon = _ALL) -> Generator[Neo4jReader, None, None]:
        yield Neo4jReader(self._connection, namespace, horizon)

    def amend(self, namespace: str, amendment: Amendment) -> int:
        return self._connection.write(lambda tx: amend(Neo4jRows(tx, namespace), amendment))

    def forget(self, namespace: str, selection: Selection) -> Forgotten:
        try:
            return self._connection.write(lambda tx: forget(Neo4jRows(tx, namespace), selection))
        except DryRun as dry_run:
            return dry_run.forgotten

    def restore(
        self, namespace: str, t_index: int, records: Iterable[PreparedUpdate | Summary]
    ) -> int:
        records = list(records)  # another try begins with the first
        return self._connection.write(
            lambda tx: restore_records(Neo4jRows(tx, namespace), namespace, t_index, records)
        )

    def namespaces(self) -> list[str]:
        return sorted(self._connection.rows(reader_queries.NAMESPACES, {}))

    def close(self) -> None:
        self._connection.close()
