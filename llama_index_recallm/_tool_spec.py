"""What the tool specs of this package share."""

from __future__ import annotations

from llama_index.core.tools.tool_spec.base import SPEC_FUNCTION_TYPE, BaseToolSpec
from llama_index.core.tools.types import ToolMetadata
from llama_index.core.tools.utils import create_schema_from_function

__all__ = ["DescribedToolSpec"]


class DescribedToolSpec(BaseToolSpec):
    """A tool spec whose tools are described by their docstrings alone."""

    def get_metadata_from_fn_name(
        self,
        fn_name: str,
        spec_functions: list[SPEC_FUNCTION_TYPE] | None = None,  # noqa: ARG002
    ) -> ToolMetadata:
        """The description of a tool: LlamaIndex's own repeats the signature."""
        method = getattr(self, fn_name)
        return ToolMetadata(
            name=fn_name,
            description=method.__doc__,
            fn_schema=create_schema_from_function(fn_name, method),
        )
