"""The synthetic corpus by which RET-LLM fine-tunes a language model (section 3.3)."""
