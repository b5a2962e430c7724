"""The examples in docstrings run, and every public name has one."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
import warnings

import pytest
from langchain_core._api.deprecation import LangChainDeprecationWarning

import langchain_recallm
import llama_index_recallm
import recallm

PACKAGES = ["recallm", "langchain_recallm", "llama_index_recallm"]
MODULES = [
    found.name
    for package in (recallm, langchain_recallm, llama_index_recallm)
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    if "__main__" not in found.name
]
PUBLIC = [
    (package, name)
    for package in (langchain_recallm, llama_index_recallm)
    for name in package.__all__
]


@pytest.mark.parametrize("name", [*PACKAGES, *MODULES])
def test_examples_run(name: str) -> None:
    module = importlib.import_module(name)
    with warnings.catch_warnings():
        # The classic classes say so when they are built.
        warnings.simplefilter("ignore", LangChainDeprecationWarning)
        failed, _ = doctest.testmod(
            module, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
        )
    assert failed == 0


@pytest.mark.parametrize(
    ("package", "name"), PUBLIC, ids=[f"{package.__name__}.{name}" for package, name in PUBLIC]
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


@pytest.mark.parametrize("name", PACKAGES)
def test_what_is_public_is_there(name: str) -> None:
    package = importlib.import_module(name)
    for public in package.__all__:
        assert getattr(package, public) is not None
        assert public in dir(package)
    with pytest.raises(AttributeError):
        _ = package.nothing
