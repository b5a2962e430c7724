"""The viewer: a local web page that shows one namespace of a memory.

``recallm view`` opens it. Rules that every part keeps:

* **Local.** The server listens on the loopback address alone, and answers no other name.
* **A token** is drawn for each start. The page and every answer of the API need it; the files of
  this package (script, style) do not. The script sends it in a header. A cookie would go to every
  other server on this host, because cookies know no ports, and with requests that the page never
  made.
* **Text is text.** The API answers in JSON, the script sets ``textContent`` alone, and the page's
  Content-Security-Policy allows no inline script and no other host.
* **Read-only.**
* **Bounded.** No answer holds all concepts, relations or statements of a memory.
"""

import importlib.util

from recallm.errors import MissingDependencyError

if importlib.util.find_spec("starlette") is None:
    raise MissingDependencyError("starlette", extra="viewer")
if importlib.util.find_spec("uvicorn") is None:
    raise MissingDependencyError("uvicorn", extra="viewer")

from recallm.viewer.app import Viewer

__all__ = ["Viewer"]
