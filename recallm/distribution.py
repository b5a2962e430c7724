"""Under which name this project is installed. The name ``recallm`` on the package index is another
project's, whose wheel has a folder ``recallm`` as well: pip mixes the two without a word.

Importing this module raises ImportError if that project is installed into the same folder. Its
``recallm/__init__.py`` may have replaced ours; therefore the adapters and the command line import
this module first.
"""

from __future__ import annotations

from pathlib import Path

NAME = "recallm-memory"

REINSTALL = f"pip install --force-reinstall --no-deps {NAME}"


def install(extra: str) -> str:
    """The command that installs what an extra needs.

    >>> install("viewer")
    "pip install 'recallm-memory[viewer]'"
    """
    return f"pip install '{NAME}[{extra}]'"


if any(Path(__file__).parents[1].glob("recallm-*.dist-info")):
    raise ImportError(
        "the project 'recallm' of the package index (a semantic cache) is installed where "
        f"{NAME} is, and both have files in recallm/; uninstall that and install this again: "
        f"pip uninstall --yes recallm && {REINSTALL}"
    )
