"""recallm: a long-term memory for LLM applications (RecallM, Kynoch et al. 2023)."""
