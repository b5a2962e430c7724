"""The tables of a recallm file, how values stand in their columns, and the check of a file.

The namespace's number is the first part of every key. A column ``at`` is a statement's key
(``t << 20 | position``: the SQL writes ``POSITION_BITS`` of ``recallm.model`` as 20), so that a
range of ``at`` is a range of time.

* ``statement`` holds its own terms and concepts. Which statements hold a stem or mention a concept
  is listed in ``term`` and ``concept`` (``newest``) and in ``term_block`` and ``concept_block``,
  whose ``owner`` is the number of a term or concept (``postings``).
* ``reference`` has a row for each statement and each other passage that its references name, by a
  hash of that passage's id.
* ``evidence`` has one row for each update that shows a relation (``a < b`` by concept number; the
  column ``shown`` is the t).
* ``neighbour`` lists the relations of a concept from both ends by their latest t: the newest
  relations of a hub are the end of a range.
* ``statement.session`` is the session's number, or minus t where the passage has no session: one
  index finds the statements before and after either way.
* ``passage.row`` is ``ns << 32 | t``: the passages of many statements are read without an index.
* ``passage.path`` has a separator after each part, so that all paths below a path are a range.
* ``passage.pairs`` holds the neighbour pairs: flat (a, b, earlier, later).
* ``metadata_entry`` has one row for each entry of a passage's metadata, by a hash of its key and
  value: filters by metadata use it.
* ``element`` holds entities and triplets. An entity has an ``id``, a ``type``, and a ``concept`` if
  it stands on one, by its name; a triplet has the ids of its ``subject`` and ``object``, and a
  ``predicate``.
  The triplets of a subject or an object with a predicate are a range of an index.
* ``predicate`` counts the triplets that have a predicate.
* ``entity_word`` is an inverted index: the entities that bear a word (``ground.entity_words``).
* ``element_evidence`` has one row for each statement (or update) that shows an element, with the
  JSON of its ``properties`` and its ``description`` (``semantics.rows.Evidence``), null for none.
  ``element`` has what all its evidence makes of it.
* ``namespace.model``, ``origin`` and ``revision`` are those of ``VectorState``; ``model`` is null
  before the first statement vector, and after everything is forgotten. ``vector_sizes`` (JSON: the
  size of a vector under each model) outlives the vectors. ``open_t`` is the t of the update whose
  session the next one may continue, 0 for none. ``vocabulary`` is that of ``NamespaceState``.
* ``crc`` is the checksum of the columns before it, or of a vector and the number of its
  statement or entity.
* ``erasure`` has a row while deleted bytes may remain in the file or its log (``erasing``).

A list of strings is one text, with a separator behind each: splitting it costs a tenth of reading
JSON, and recall reads hundreds of statements for a question.

**Checksums.** A damaged row raises an error instead of giving a wrong answer: in each row that
recall reads, the column ``crc`` is the CRC-32 of other columns. SQLite computes it whenever it
writes the row (a stored generated column), with a function that ``register`` adds to a connection.
``verified`` computes it again from the values that were read, or the query that reads does
(``queries``). Records of postings begin with their checksum. Not all damage is found. Other
tables of numbers alone (``reference``, ``evidence``, ``neighbour``, ``metadata_entry``) and indexes
have no checksums: a damaged number there can change a strength or a count. A page that SQLite
itself finds malformed is an error in any table.
"""

from __future__ import annotations

import hashlib
import re
import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from struct import Struct
from typing import Any, LiteralString, cast

import numpy as np
from numpy.typing import NDArray

from recallm.errors import SchemaVersionError, StoreCorruptError
from recallm.model import ConceptKind, ConceptMention, Reference, canonical_json
from recallm.stores.base import SCHEMA_VERSION
from recallm.stores.semantics.reading import literal, passage_fields
from recallm.stores.sqlite.open_files import begin

APPLICATION_ID = 0x52634C4D  # "RcLM"

MAX_T = (1 << 32) - 1
"""The last t of a namespace: ``passage.row`` has room for no more."""

_SCHEMA: LiteralString = """
CREATE TABLE namespace (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, t INTEGER NOT NULL,
    statements INTEGER NOT NULL DEFAULT 0, terms INTEGER NOT NULL DEFAULT 0,
    sessions INTEGER NOT NULL DEFAULT 0{crc}, open_t INTEGER NOT NULL DEFAULT 0, model TEXT,
    origin TEXT, revision INTEGER NOT NULL DEFAULT 0, vocabulary INTEGER NOT NULL DEFAULT 0,
    vector_sizes TEXT NOT NULL DEFAULT '{}');

CREATE TABLE passage (
    ns INTEGER NOT NULL, t INTEGER NOT NULL, id TEXT NOT NULL, text TEXT NOT NULL, source TEXT,
    session TEXT, speaker TEXT, speaker_concept TEXT, timestamp TEXT, metadata TEXT NOT NULL,
    path TEXT NOT NULL, key TEXT, expires_at TEXT, withdrawn INTEGER, pairs TEXT NOT NULL{crc},
    row INTEGER PRIMARY KEY, said INTEGER, expires INTEGER, session_id INTEGER);
CREATE UNIQUE INDEX passage_id ON passage (ns, id);
CREATE UNIQUE INDEX passage_t ON passage (ns, t, said, expires, session_id, withdrawn);
CREATE INDEX passage_expires ON passage (ns, expires) WHERE expires IS NOT NULL;
CREATE INDEX passage_withdrawn ON passage (ns, withdrawn) WHERE withdrawn IS NOT NULL;
CREATE INDEX passage_source ON passage (ns, source) WHERE source IS NOT NULL;
CREATE INDEX passage_session ON passage (ns, session) WHERE session IS NOT NULL;
CREATE INDEX passage_in_session ON passage (ns, session_id) WHERE session_id IS NOT NULL;
CREATE INDEX passage_said ON passage (ns, said) WHERE said IS NOT NULL;
CREATE INDEX passage_speaker ON passage (ns, speaker) WHERE speaker IS NOT NULL;
CREATE INDEX passage_item ON passage (ns, path, key) WHERE key IS NOT NULL;
CREATE TABLE metadata_entry (
    ns INTEGER NOT NULL, entry INTEGER NOT NULL, t INTEGER NOT NULL,
    PRIMARY KEY (ns, entry, t)) WITHOUT ROWID;

CREATE TABLE session (
    ns INTEGER NOT NULL, id INTEGER PRIMARY KEY, key TEXT NOT NULL,
    statements INTEGER NOT NULL, terms INTEGER NOT NULL{crc}, UNIQUE (ns, key));

CREATE TABLE statement (
    ns INTEGER NOT NULL, at INTEGER NOT NULL, session INTEGER NOT NULL, start INTEGER NOT NULL,
    stop INTEGER NOT NULL, length INTEGER NOT NULL, terms TEXT NOT NULL, concepts TEXT NOT NULL,
    traits INTEGER NOT NULL{crc}, PRIMARY KEY (ns, at)) WITHOUT ROWID;
CREATE INDEX statement_session ON statement (ns, session, at, length);

CREATE TABLE term (
    ns INTEGER NOT NULL, id INTEGER PRIMARY KEY, stem TEXT NOT NULL,
    statements INTEGER NOT NULL{crc}, newest BLOB NOT NULL, UNIQUE (ns, stem));
CREATE TABLE term_block (
    ns INTEGER NOT NULL, owner INTEGER NOT NULL, last INTEGER NOT NULL, blob BLOB NOT NULL,
    PRIMARY KEY (ns, owner, last));

CREATE TABLE concept (
    ns INTEGER NOT NULL, id INTEGER PRIMARY KEY, name TEXT NOT NULL, label TEXT NOT NULL,
    kind TEXT NOT NULL, t_index INTEGER NOT NULL, updates INTEGER NOT NULL,
    statements INTEGER NOT NULL{crc}, newest BLOB NOT NULL, UNIQUE (ns, name));
CREATE INDEX concept_t ON concept (ns, t_index);
CREATE TABLE concept_block (
    ns INTEGER NOT NULL, owner INTEGER NOT NULL, last INTEGER NOT NULL, blob BLOB NOT NULL,
    PRIMARY KEY (ns, owner, last));
CREATE TABLE reference (
    ns INTEGER NOT NULL, passage INTEGER NOT NULL, at INTEGER NOT NULL,
    PRIMARY KEY (ns, passage, at)) WITHOUT ROWID;

CREATE TABLE evidence (
    ns INTEGER NOT NULL, a INTEGER NOT NULL, b INTEGER NOT NULL, shown INTEGER NOT NULL,
    PRIMARY KEY (ns, a, b, shown)) WITHOUT ROWID;
CREATE TABLE neighbour (
    ns INTEGER NOT NULL, a INTEGER NOT NULL, t_index INTEGER NOT NULL, b INTEGER NOT NULL,
    PRIMARY KEY (ns, a, t_index, b)) WITHOUT ROWID;

CREATE TABLE summary (
    ns INTEGER NOT NULL, concept TEXT NOT NULL, t_index INTEGER NOT NULL, text TEXT NOT NULL,
    terms TEXT NOT NULL, traits INTEGER NOT NULL{crc}, PRIMARY KEY (ns, concept));
CREATE TABLE vector (
    ns INTEGER NOT NULL, at INTEGER NOT NULL, model TEXT NOT NULL, blob BLOB NOT NULL{crc},
    PRIMARY KEY (ns, at, model));

CREATE TABLE element (
    ns INTEGER NOT NULL, number INTEGER PRIMARY KEY, id TEXT, subject TEXT, predicate TEXT,
    object TEXT, type TEXT NOT NULL, concept TEXT, label TEXT NOT NULL, kind TEXT NOT NULL,
    properties TEXT NOT NULL{crc});
CREATE UNIQUE INDEX entity_id ON element (ns, id) WHERE id IS NOT NULL;
CREATE INDEX entity_concept ON element (ns, concept) WHERE concept IS NOT NULL;
CREATE UNIQUE INDEX triplet ON element (ns, subject, predicate, object) WHERE subject IS NOT NULL;
CREATE INDEX triplet_object ON element (ns, object, predicate) WHERE object IS NOT NULL;
CREATE INDEX triplet_predicate ON element (ns, predicate) WHERE predicate IS NOT NULL;
CREATE TABLE element_evidence (
    ns INTEGER NOT NULL, element INTEGER NOT NULL, at INTEGER NOT NULL, properties TEXT,
    description TEXT{crc}, PRIMARY KEY (ns, element, at)) WITHOUT ROWID;
CREATE INDEX element_evidence_at ON element_evidence (ns, at);
CREATE TABLE entity_vector (
    ns INTEGER NOT NULL, entity INTEGER NOT NULL, model TEXT NOT NULL, blob BLOB NOT NULL{crc},
    PRIMARY KEY (ns, entity, model));
CREATE TABLE entity_word (
    ns INTEGER NOT NULL, word TEXT NOT NULL, entity INTEGER NOT NULL,
    PRIMARY KEY (ns, word, entity)) WITHOUT ROWID;
CREATE TABLE predicate (
    ns INTEGER NOT NULL, predicate TEXT NOT NULL, triplets INTEGER NOT NULL{crc},
    PRIMARY KEY (ns, predicate)) WITHOUT ROWID;

CREATE TABLE erasure (due INTEGER NOT NULL);
"""
"""The script that makes all tables, with the places of checksums: of all columns before them."""

TABLES: list[LiteralString] = [
    definition.partition(" ")[0]
    for definition in _SCHEMA.split("CREATE TABLE ")
    if "(\n    ns " in definition
]
"""Every table that holds the contents of a namespace. Their rows begin with their namespace and
their key."""


@cache
def columns_of(table: LiteralString, *, every: bool = False) -> tuple[LiteralString, ...]:
    """The columns of a table; where it has a checksum, those that the checksum covers, or ``every``
    other one, too."""
    definition = _SCHEMA.partition("CREATE TABLE " + table + " (")[2].partition(";\n")[0]
    covered, _, behind = " ".join(definition.split()).partition("{crc}")
    columns = re.split(r", (?:PRIMARY KEY|UNIQUE) \(", covered + behind if every else covered)[0]
    return tuple([literal(column.split()[0]) for column in columns.split(", ")])


FIND_WITHOUT_INDEX: LiteralString = "SELECT 1 FROM namespace NOT INDEXED WHERE name = :name"
"""Looks for a namespace in the table itself. With a damaged index, a full namespace would read as
empty, be written as a new one, and be erased without its passages."""


def passage_row(ns: int, t_index: int) -> int:
    """The number of the passage row of an update."""
    return ns << 32 | t_index


def passage_fields_of(row: tuple[Any, ...]) -> dict[str, Any]:
    """``passage_fields`` of a row of the table."""
    named: dict[str, Any] = dict(zip(columns_of("passage"), row, strict=True))
    return passage_fields(named, unpack(named["path"]))


def is_new(connection: sqlite3.Connection, name: str) -> bool:
    """Whether the database has no tables yet.

    Raises:
        StoreCorruptError: it is not a recallm database.
        SchemaVersionError: another version of recallm wrote it.
    """
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if application == 0 and tables == 0:
        return True
    if application != APPLICATION_ID:
        raise StoreCorruptError(
            f"{name} is a SQLite database, but not one of recallm; name another file"
        )
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version != SCHEMA_VERSION:
        raise SchemaVersionError(version, SCHEMA_VERSION)
    return False


def create_schema(connection: sqlite3.Connection, name: str) -> None:
    """Create every table in a new database; inside the caller's transaction.

    Raises:
        StoreCorruptError, SchemaVersionError: see ``is_new``.
    """
    if not is_new(connection, name):
        return
    for statement in _SCHEMA.strip().split(";\n"):
        if "{crc}" in statement:
            covered = columns_of(statement.strip().partition(" (")[0].removeprefix("CREATE TABLE "))
            column: LiteralString = ", crc INTEGER NOT NULL AS (" + checksum(covered) + ") STORED"
            statement = statement.replace("{crc}", column)
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    begin(connection)


_SEPARATOR = "\x1f"
_MARK = "\x1e"
"""Begins what stands for itself or for a separator within a string."""

_WITHIN_MENTION = "\x1d"


def pack(parts: Iterable[str], separator: str = _SEPARATOR) -> str:
    """Encode strings as one text, in which the separator stands behind each: the lists that begin
    with these strings are those whose texts begin with the text."""
    parts = tuple(parts)
    text = separator.join((*parts, ""))
    if text.count(separator) == len(parts) and _MARK not in text:
        return text
    return "".join(
        part.replace(_MARK, _MARK + "0").replace(separator, _MARK + "1") + separator
        for part in parts
    )


def unpack(text: str, separator: str = _SEPARATOR) -> tuple[str, ...]:
    """Decode strings."""
    parts = text[:-1].split(separator) if text else ()
    if _MARK in text:
        parts = [p.replace(_MARK + "1", separator).replace(_MARK + "0", _MARK) for p in parts]
    return tuple(parts)


def below(path: Iterable[str]) -> tuple[str, str]:
    """The range [first, end) of the texts of all paths at and below ``path``, which is not
    empty."""
    text = pack(path)
    return text, text[:-1] + chr(ord(_SEPARATOR) + 1)


def pack_mentions(mentions: Iterable[ConceptMention]) -> str:
    """Encode the concepts of a statement as one text: name, label and kind of each; of a reference
    also its span and, where it has one, its antecedent."""
    return pack(pack(_parts_of(mention), _WITHIN_MENTION) for mention in mentions)


def _parts_of(mention: ConceptMention) -> Iterator[str]:
    yield from (mention.name, mention.label, mention.kind)
    yield from (str(part) for part in mention.reference or () if part is not None)


def unpack_mentions(text: str) -> tuple[ConceptMention, ...]:
    """Decode the concepts of a statement."""
    return tuple(map(_mention, unpack(text)))


@lru_cache(maxsize=1 << 14)
def _mention(text: str) -> ConceptMention:
    """A mention; a recall decodes a thousand, most of them known."""
    name, label, kind, *span = unpack(text, _WITHIN_MENTION)
    reference = Reference(int(span[0]), int(span[1]), *span[2:]) if span else None
    return ConceptMention(name=name, label=label, kind=cast(ConceptKind, kind), reference=reference)


RECORD = np.dtype([("key", "<i8"), ("session", "<u4"), ("count", "<u2")])
"""A posting or a mention (``postings``)."""
GREATEST_COUNT = (1 << 16) - 1

pack_record = Struct("<qIH").pack
_CHECKSUM = 4
"""The bytes of a checksum before records."""


def sealed(owner: int, records: bytes) -> bytes:
    """The records of a term or a concept with their checksum."""
    return zlib.crc32(records, owner).to_bytes(_CHECKSUM, "little") + records if records else b""


def unsealed(owner: int, blob: bytes) -> bytes:
    """The records of a term or a concept without their checksum.

    Raises:
        ValueError: the records are damaged, or of another term or concept.
    """
    records = blob[_CHECKSUM:]
    if blob and zlib.crc32(records, owner) != int.from_bytes(blob[:_CHECKSUM], "little"):
        raise ValueError("a list of postings does not have its checksum")
    return records


def keys_of(records: bytes) -> NDArray[np.int64]:
    """The keys of the statements of records."""
    found: NDArray[np.int64] = np.frombuffer(records, RECORD)["key"]
    return found


def _keys_in(blob: bytes) -> str:
    return str(keys_of(blob[_CHECKSUM:]).tolist())


def hash_of(*values: object) -> int:
    """A 64-bit hash of JSON values; equal JSON has the same one."""
    digest = hashlib.blake2b(canonical_json(list(values)).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def register(connection: sqlite3.Connection) -> None:
    """Prepare a connection for checksums and postings."""
    # Some builds of SQLite refuse functions in a table's definition by default.
    connection.execute("PRAGMA trusted_schema = ON")
    # zlib.crc32 is a C function: no Python signal handler runs inside it, whose error SQLite would
    # drop.
    connection.create_function("crc32", 1, zlib.crc32, deterministic=True)
    connection.create_function("keys_in", 1, _keys_in, deterministic=True)


def checksum(columns: tuple[LiteralString, ...], alias: LiteralString = "") -> LiteralString:
    """The checksum of ``columns`` of a table, as SQL.

    The checksum of a vector has the number added of what the vector belongs to: it holds only in
    its own row, so that a damaged index cannot give a vector to another owner.
    """
    of: LiteralString = alias and alias + "."
    if columns[-1] == "blob":
        return "crc32(" + of + "blob) + " + of + columns[1]
    values: list[LiteralString] = ["ifnull(" + of + column + ", 'None')" for column in columns]
    text: LiteralString = " || char(31) || ".join(values)
    return "crc32(CAST(" + text + " AS BLOB))"


def verified(rows: Iterable[tuple[Any, ...]], table: str) -> list[tuple[Any, ...]]:
    """The rows without their last column, which is the checksum of the others.

    Raises:
        ValueError: a row is damaged.
    """
    checked: list[tuple[Any, ...]] = []
    joined = ""
    for row in rows:
        values = row[:-1]
        joined = joined or _SEPARATOR.join(["%s"] * len(values))  # half the time of joining values
        if zlib.crc32((joined % values).encode()) != row[-1]:
            raise ValueError(f"a row of the table {table} does not have its checksum")
        checked.append(values)
    return checked


def check_ascending(keys: Iterable[int], after: int) -> None:
    """Refuse rows of an index that are out of order: paging through them might never end.

    Raises:
        ValueError: a key is not greater than the one before it, the first one than ``after``.
    """
    for key in keys:
        if not key > after:
            raise ValueError("the rows of an index are out of order")
        after = key
