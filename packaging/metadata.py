"""Version and requirement of a distribution that has no files of its own: those of recallm-memory,
with one of its extras. ``pyproject.toml`` names the extra."""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_CORE = Path(__file__).parents[1] / "recallm" / "__init__.py"


class ExtraOfTheCore(MetadataHookInterface):
    """Says that ``[tool.hatch.metadata.hooks.custom] extra`` is all that is required."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the version and the requirement."""
        [version] = re.findall(r'^__version__ = "(.+)"$', _CORE.read_text("utf-8"), re.MULTILINE)
        metadata["version"] = version
        metadata["dependencies"] = [f"recallm-memory[{self.config['extra']}]=={version}"]
