"""Export and load as JSON Lines, from any store to any other, without loss.

``files`` opens the file, ``strict_json`` reads and writes its lines, ``records`` gives each value
its JSON form, ``contents`` says which records make an archive.
"""

from __future__ import annotations

from recallm.memory.archive.contents import read_archive, write_archive
from recallm.memory.archive.files import open_for_reading, open_for_writing

__all__ = ["open_for_reading", "open_for_writing", "read_archive", "write_archive"]
