"""Export and load as JSON Lines: one line says what the archive is, one line for each knowledge
update in order of t, one for each summary, and a last line that counts them, so that an archive
that was cut short is known as such. From any store to any other, without loss.
"""

from __future__ import annotations

from recallm.archive.files import open_for_reading, open_for_writing
from recallm.archive.reading import read_archive
from recallm.archive.writing import write_archive

__all__ = ["open_for_reading", "open_for_writing", "read_archive", "write_archive"]
