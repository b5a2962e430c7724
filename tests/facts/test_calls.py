"""The text API: what is printed is read unchanged, and the text between calls is kept."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import example, given
from hypothesis import strategies as st

from recallm.facts.calls import (
    BrokenCall,
    Call,
    parse_calls,
    results_text,
)
from tests.facts.scripted import HOSTILE


def write_call(subject: str, relation: str, object: str) -> Call:
    return Call(name="MEM_WRITE", terms=(subject, relation, object))


def read_call(
    subject: str | None = None, relation: str | None = None, object: str | None = None
) -> Call:
    return Call(name="MEM_READ", terms=(subject, relation, object))


# -- calls -------------------------------------------------------------------------------------

PRINTED = {  # the paper's figures
    "[MEM_WRITE{Cyrus Alfred>>customer of>>Pfizer}]": write_call(
        "Cyrus Alfred", "customer of", "Pfizer"
    ),
    "[MEM_READ{>>president of>>United States}:{Joe Biden>>president of>>United States}]": read_call(
        None, "president of", "United States"
    ),
    "[MEM_READ{>>>>BMW}:{Maryjane Bachand>>employed by>>BMW};{Willian Banik>>customer of>>BMW}]": (
        read_call(None, None, "BMW")
    ),
    "[MEM_READ{a>>r>>}:{a>>r>>b};9 more]": read_call("a", "r"),
    "[MEM_READ{a>>r>>}:]": read_call("a", "r"),
}


def test_calls_are_read_without_their_results() -> None:
    assert {text: parse_calls(text) for text in PRINTED} == {
        text: [call] for text, call in PRINTED.items()
    }
    rows = (("a", "r", "b"), ("c", "r", "d"))
    call = replace(read_call(relation="r"), rows=rows, more=9)
    assert str(call) == "[MEM_READ{>>r>>}:{a>>r>>b};{c>>r>>d};9 more]"


def test_forms_of_a_read() -> None:
    for subject in (None, "Dominick Alphonso"):
        for relation in (None, "employed by"):
            for object in (None, "BMW"):
                text = f"[MEM_READ{{{subject or ''}>>{relation or ''}>>{object or ''}}}:"
                assert f"{str(read_call(subject, relation, object))[:-1]}:" == text
                assert parse_calls(text) == [read_call(subject, relation, object)]


def test_several_calls_in_a_line_with_text() -> None:
    text = (
        "Noted: [MEM_WRITE{a>>r>>b}][MEM_WRITE{c>>r>>d}] and [MEM_READ{a>>r>>}: {a>>r>>b}]. Good."
    )
    assert parse_calls(text) == [
        "Noted: ",
        write_call("a", "r", "b"),
        write_call("c", "r", "d"),
        " and ",
        read_call("a", "r"),
        ". Good.",
    ]


TOLERANT = {
    write_call("Ada Lovelace", "works for", "BMW"): [
        "[MEM_WRITE{Ada Lovelace»works for»BMW}]",
        "[MEM_WRITE{Ada Lovelace≫works for≫BMW}]",
        "[ mem_write { Ada Lovelace >> works for >> BMW } ]",
        '[Mem_Write{"Ada Lovelace">>"works for">>"BMW"}]',
        "[MEM_WRITE{“Ada Lovelace” >> 'works for' >> BMW}\n]",
        r"[MEM\_WRITE{Ada Lovelace>>works for>>BMW}]",
        "[MEM_WRITE{Ada Lovelace>>works for>>BMW}",
    ],
    read_call(object="BMW"): [
        "[MEM_READ{_»_»BMW} :",
        "[MEM_READ{?who>>?>>BMW}:",
        "[MEM_READ{*>>*>>BMW}]",
        '[MEM_READ{"">>"">>"BMW"}',
    ],
    read_call("Ada"): ["[MEM_READ{Ada}:"],
    read_call("Ada", "works for"): ["[MEM_READ{Ada>>works for}]"],
}


def test_other_spellings() -> None:
    spelled = [(call, text) for call, texts in TOLERANT.items() for text in texts]
    assert [text for call, text in spelled if parse_calls(text) != [call]] == []


# -- what is no call ---------------------------------------------------------------------------

BROKEN = (
    "[MEM_WRITE{a>>b}]", "[MEM_WRITE{a>>b>>c>>d}]", "[MEM_WRITE{a>>>>c}]", "[MEM_WRITE{?x>>r>>c}]",
    "[MEM_WRITE{a>>r>>c}:", "[MEM_READ{a>>b>>c>>d}:",
    "[MEM_WRITE{a>>b>>c", "[MEM_WRITE{a>>b>>" + "c" * 20_000,
)  # fmt: skip
OTHER_BRACKETS = (
    "no call", "a [link](x) and [MEM] and [MEMORY{a>>b>>c}] {a>>b>>c}", "[[[", "[",
    r"\[MEM_WRITE{a>>b>>c}]", r"[\[MEM_WRITE{a>>b>>c}]", "[MEM_FORGET{a>>b>>c}]",
)  # fmt: skip


def test_a_broken_call_is_text() -> None:
    for text in BROKEN:
        events = parse_calls(text)
        assert "".join(map(str, events)) == text
        assert isinstance(events[0], BrokenCall), text


def test_other_brackets_are_text() -> None:
    for text in OTHER_BRACKETS:
        assert parse_calls(text) == [text]
        assert not isinstance(parse_calls(text)[0], BrokenCall), text


def test_a_broken_call_hides_no_other() -> None:
    assert parse_calls("[MEM_WRITE{a>>b [[MEM_WRITE{a>>r>>b}] c") == [
        "[MEM_WRITE{a>>b [",
        write_call("a", "r", "b"),
        " c",
    ]
    assert parse_calls("[MEM_WRITE{a>>r\nNext.") == ["[MEM_WRITE{a>>r", "\nNext."]
    assert not any(isinstance(found, Call) for found in parse_calls("[MEM_WRITE{a>>r>>x} or y}] z"))


def test_results_that_are_cut_off_are_text() -> None:
    call = "[MEM_WRITE{c>>r>>d}]"
    for behind in ("{a>>r>>b", "{a>>r>>b};", "{a>>r\n>>b}]", "{{a}]", f"so {call}", "x" * 20_000):
        first, *rest = parse_calls(f"[MEM_READ{{a>>r>>}}:{behind}")
        assert first == read_call("a", "r")
        assert rest == parse_calls(behind), behind


# -- properties --------------------------------------------------------------------------------

VALUES = HOSTILE.map(lambda text: " ".join(text.splitlines())).filter(bool)
ROWS = st.lists(st.lists(VALUES, min_size=3, max_size=3).map(tuple), max_size=4).map(tuple)


@given(st.tuples(VALUES, VALUES, VALUES), st.sets(st.integers(0, 2)), ROWS, st.integers(0, 1000))
@example(("a>", ">b", "}]"), set(), (), 0)
def test_any_value_survives_in_a_call(
    values: tuple[str, str, str], left_open: set[int], rows: tuple[tuple[str, ...], ...], more: int
) -> None:
    call = write_call(*values)
    assert "\n" not in str(call)
    assert parse_calls(f"{call}{call}") == [call, call]
    assert parse_calls(f". {call}{values[0]}")[1] == call
    subject, relation, object = (
        None if place in left_open else value for place, value in enumerate(values)
    )
    call = Call(name="MEM_READ", terms=(subject, relation, object), rows=rows, more=more)
    assert parse_calls(str(call)) == [replace(call, rows=None, more=0)]
    # A stored value is no call of its own either, wherever a model repeats the results.
    assert parse_calls(results_text(rows, more)) in ([], [results_text(rows, more)])


def test_a_line_break_in_a_value_is_a_blank() -> None:
    assert parse_calls(str(write_call("a\nb", "r", "c\u2028\r\nd"))) == [
        write_call("a b", "r", "c  d")
    ]


@given(HOSTILE)
def test_the_text_between_calls_is_kept(text: str) -> None:
    place = 0
    for event in parse_calls(text):
        if isinstance(event, Call):
            place = text.index("}", place) + 1
        else:
            place = text.index(event, place) + len(event)


def test_a_long_text_with_many_brackets() -> None:
    text = "[MEM_READ{ [ [MEM_WRITE{a " * 20_000
    events = parse_calls(text)
    assert "".join(map(str, events)) == text
