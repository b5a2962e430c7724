"""Sessions that follow from time: messages, documents, threads, and updates without a source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from recallm.model import (
    NO_SESSION,
    Filter,
    Horizon,
    OpenSession,
    PreparedUpdate,
    Withdraw,
    statement_key,
)
from tests.store_suite.marked_text import prepared
from tests.store_suite.topics.base import Space, StoreTests, at


def _message(id: str, source: str, minute: int, speaker: str = "Ann") -> PreparedUpdate:
    return prepared(id, "[Ann]", source=source, speaker=speaker, timestamp=at(minute))


def _document(id: str, source: str, minute: int) -> PreparedUpdate:
    return prepared(id, "[Ann]", source=source, timestamp=at(minute))


def _keys(space: Space, where: Filter | None = None) -> Sequence[tuple[str, str | None]]:
    """The passages with the keys of their sessions."""
    with space.reader() as reader:
        found = reader.passages(where or Filter())
        rows = reader.statements([statement_key(statement.t_index, 0) for statement in found])
        return [(row.passage_id, row.session_key) for row in rows]


class SessionTests(StoreTests):
    """Which session an update belongs to where none is given."""

    def test_messages_with_own_sources(self, space: Space) -> None:
        """Messages less than an hour apart are one session, and follow each other in it."""
        space.write(
            *(_message(str(n), f"m{n}", minute) for n, minute in enumerate([0, 59, 100, 160, 110]))
        )
        assert _keys(space) == [
            ("0", "=m0"), ("1", "=m0"), ("2", "=m0"), ("3", "=m3"), ("4", "=m3"),
        ]  # fmt: skip
        with space.reader() as reader:
            row = reader.statements([statement_key(2, 0)])[0]
            assert (row.previous, row.next) == (statement_key(1, 0), statement_key(3, 0))
            assert reader.sizes(["=m0", "=m1"]).sessions.keys() == {"=m0"}
        assert [id for id, _ in _keys(space, Filter(session="m0"))] == ["0", "1", "2"]
        assert _keys(space, Filter(session="m1")) == []

    def test_a_reader_says_which_session_is_open(self, space: Space) -> None:
        """Also where its passage is withdrawn; not where it has expired. Passages are found by the
        key of their session, and by having none."""

        def opened(horizon: Horizon) -> OpenSession | None:
            with space.reader(horizon) as reader:
                return reader.open_session()

        assert opened(Horizon()) is None
        space.apply(
            [
                prepared("0", "[Ann]"),
                prepared("1", "[Ann]", timestamp=at(0)),
                replace(_message("2", "m2", 5), expires_at=at(60)),
                _document("3", "d", 9),
            ]
        )
        assert opened(Horizon(now=at(59))) == OpenSession(3, "@2", at(5), "m2")
        assert opened(Horizon(now=at(60))) is None
        space.amend(Withdraw(ids=["2"]))
        assert opened(Horizon(as_of=1)) == OpenSession(3, "@2", at(5), "m2")
        for key, ids in ((NO_SESSION, ["0"]), ("@2", ["1"]), ("=d", ["3"]), ("=m2", [])):
            where = Filter(session_key=key)
            assert [id for id, _ in _keys(space, where)] == ids
        space.forget("id", "2")
        assert opened(Horizon()) is None

    def test_one_batch_is_as_single_updates(self, space: Space) -> None:
        """A batch decides as single updates do, also where it replaces a passage."""
        space.apply(
            [
                _message("1", "a", 0),
                _message("2", "b", 1),
                replace(_message("1", "c", 2), text="Ann!", replaces=True),
                _message("3", "a", 3),
                _message("4", "a", 4),
                _message("5", "a", 5),
                _message("6", "d", 6),
            ]
        )
        assert _keys(space) == [
            ("2", "=a"), ("1", "=a"), ("3", "=a"), ("4", "=a"), ("5", "=a"), ("6", "=d"),
        ]  # fmt: skip

    def test_documents_and_messages(self, space: Space) -> None:
        """A source without a speaker is a session, whatever is open; time joins the others."""
        space.write(
            _document("1", "book", 0),
            _message("2", "m1", 1),
            _document("3", "book", 2),
            _document("4", "page", 3),
            _message("5", "m2", 4),
            prepared("6", "[Ann]", timestamp=at(5)),
            prepared("7", "[Ann]", source="m3", speaker="Ann"),
            replace(_message("8", "m4", 6), session="s"),
            _message("9", "m5", 7),
        )
        assert dict(_keys(space)) == {
            "1": "=book", "2": "=m1", "3": "=book", "4": "=page", "5": "=m1", "6": "=m1",
            "7": "=m3", "8": "=s", "9": "=m1",
        }  # fmt: skip

    def test_threads(self, space: Space) -> None:
        """A source with several messages is a session, which later sources do not join."""
        sources = ["a", "a", "b", "b", "a", "c", "a"]
        space.write(*(_message(str(n), source, n) for n, source in enumerate(sources)))
        assert [key for _, key in _keys(space)] == [f"={source}" for source in sources]

    def test_sessions_are_listed(self, space: Space) -> None:
        """Each session with its visible passages, the latest first; a name, or none."""
        with space.reader() as reader:
            assert reader.sessions() == []
        space.write(
            _message("1", "m1", 10),
            _message("2", "m2", 5),
            prepared("3", "", source="empty"),
            prepared("4", "[Ann]", timestamp=at(300)),
            prepared("5", "[Ann]"),
            prepared("6", "[Ann]", session="", source="m1"),
            replace(_message("7", "m3", 306), expires_at=at(400)),
        )

        def listed(horizon: Horizon) -> list[tuple[str | None, int, int, int]]:
            with space.reader(horizon) as reader:
                found = reader.sessions()
            return [
                (session.name, session.passages, session.first_t, session.t_index)
                for session in found
            ]

        every = [(None, 2, 4, 7), ("", 1, 6, 6), ("empty", 1, 3, 3), ("m1", 2, 1, 2)]
        assert listed(Horizon()) == every
        assert listed(Horizon(now=at(400))) == [every[1], (None, 1, 4, 4), *every[2:]]
        assert listed(Horizon(as_of=3)) == every[2:]
        assert listed(Horizon(as_of=at(7))) == [("m1", 1, 2, 2)]
        with space.reader() as reader:
            times = {session.name: (session.began, session.ended) for session in reader.sessions()}
        assert times == {
            None: (at(300), at(306)), "": (None, None), "empty": (None, None),
            "m1": (at(5), at(10)),
        }  # fmt: skip

    def test_forgetting(self, space: Space) -> None:
        """A session's name selects what was given it; nothing continues a forgotten message."""
        space.write(*(_message(str(n), f"m{n}", n) for n in range(3)))
        assert space.forget("session", "m0").passages == 1
        assert space.forget("session", "m2").passages == 1
        space.write(_message("3", "m3", 3), _message("4", "m0", 4))
        assert _keys(space) == [("1", "=m0"), ("3", "=m3"), ("4", "=m0")]

    def test_archives_keep_sessions(self, space: Space) -> None:
        """A restored message has the session that it was written to."""
        updates = [_message("1", "a", 0), _message("2", "b", 1), _message("3", "c", 99)]
        space.write(*updates)
        records = space.dump()
        assert [getattr(record, "session_key", "") for record in records] == [None, "=a", None]
        copy = space.copied()
        assert _keys(copy) == _keys(space)
        assert copy.dump() == records
