"""Examples in docstrings (``>>>``) become code blocks of the reference: an extension of griffe,
which reads the docstrings for mkdocstrings."""

from __future__ import annotations

import re
from typing import Any

import griffe

_EXAMPLE = re.compile(r"^>>> .*(?:\n(?!\s*$).*)*", re.MULTILINE)


class Doctests(griffe.Extension):
    """Fences the examples of every docstring."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Called for each module, class, function and attribute."""
        if obj.docstring is not None:
            obj.docstring.value = _EXAMPLE.sub(r"```python\n\g<0>\n```", obj.docstring.value)
