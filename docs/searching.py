"""What the documentation's search shows first: pages on use before those on the code.

Their pages repeat the words of all others ("user", "delete") and would stand before the page that
answers. MkDocs calls ``on_page_markdown`` for each page.
"""

from __future__ import annotations

from typing import Any

_BOOST = {"namespaces.md": 2.0, "architecture.md": 0.3, "benchmarks.md": 0.6, "ranking.md": 0.6}
_BOOST_OF_API = 0.4


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Set how much a page weighs in the search."""
    path = page.file.src_uri
    boost = _BOOST_OF_API if path.startswith("api/") else _BOOST.get(path, 1.0)
    page.meta.setdefault("search", {})["boost"] = boost
    return markdown
