"""The examples in docstrings run, and every public name has one."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
import warnings
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from langchain_core._api.deprecation import LangChainDeprecationWarning

import langchain_recallm
import llama_index_recallm
import recallm
from tests.tables import each_row

PACKAGES = (recallm, langchain_recallm, llama_index_recallm)


def modules_with_examples() -> Iterator[str]:
    for package in PACKAGES:
        yield package.__name__
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            source = find_spec(found.name)
            assert source is not None
            assert source.origin is not None
            if "__main__" not in found.name and ">>> " in Path(source.origin).read_text("utf-8"):
                yield found.name


@pytest.mark.slow
def test_examples_run() -> None:
    wrong = []
    with warnings.catch_warnings():
        # The classic classes say so when they are built.
        warnings.simplefilter("ignore", LangChainDeprecationWarning)
        for name in modules_with_examples():
            module = importlib.import_module(name)
            options = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
            if doctest.testmod(module, optionflags=options).failed:
                wrong.append(name)
    assert not wrong


@each_row(
    (package, name)
    for package in (langchain_recallm, llama_index_recallm)
    for name in package.__all__
)
def test_a_public_name_says_what_it_is_and_shows_it(package: object, name: str) -> None:
    public = getattr(package, name)
    documented = inspect.getdoc(public) or ""
    assert ">>> " in documented
    if inspect.isclass(public):
        own = {
            member: value
            for member, value in vars(public).items()
            if not member.startswith("_") and callable(value)
        }
        assert {member for member, value in own.items() if not inspect.getdoc(value)} == set()


def test_what_is_public_is_there() -> None:
    for package in PACKAGES:
        for public in package.__all__:
            assert getattr(package, public) is not None
            assert public in dir(package)
        with pytest.raises(AttributeError):
            _ = package.nothing
