"""The prompts: after the papers where they print one, our own where they only describe it."""

from __future__ import annotations

__all__ = ["CHRONOLOGICAL_PREFIX", "ement_prompt", "question_prompt", "revision_prompt"]

CHRONOLOGICAL_PREFIX = (
    "Each sentence in the following statements is true when read in chronological order:"
)
"""RecallM, Questioning the System: what the prompt is prefixed with."""

_NOTHING_KNOWN = "(nothing about this is remembered)"


def question_prompt(question: str, context: str) -> str:
    """The prompt of ``ask`` (RecallM; the wording is that of the walk-through).

    ``context`` is the text of a recalled context, with its prefix, or empty.
    """
    statements = context or f"{CHRONOLOGICAL_PREFIX}\n\n{_NOTHING_KNOWN}"
    return (
        "Using the following statements when necessary, answer the question that follows. "
        f"{statements}\n\nquestion:\n{question}\n\nAnswer:"
    )


def ement_prompt(question: str, context: str) -> str:
    """The prompt of ``ask`` with ``ranking="ement"`` (EMENT, Query, step 7).

    ``context`` is the text of a recalled context: the closest embeddings, then the entities'
    sentences; or empty.
    """
    return (
        "You are a smart, knowledgeable, accurate AI with the following information:\n"
        f"{context or _NOTHING_KNOWN}\n"
        "You are sure about your answers. Please answer the following question: "
        f"{question}"
    )


def revision_prompt(concept: str, context: str) -> str:
    """A one-shot prompt for context revision (RecallM, Knowledge Update: summarise the context,
    discard irrelevant and outdated facts). The example is our own."""
    return (
        "Below are statements about a concept, oldest first; later statements replace earlier "
        "ones that they contradict. Rewrite them as a shorter text that keeps every fact which "
        "still holds, says what changed where that matters, and leaves out what was repeated or "
        "is no longer true. Use only what is stated. Answer with the text alone.\n\n"
        "Concept: Marta\n"
        "Statements:\n"
        "Marta lives in Lyon with her sister.\n"
        "Marta works as a nurse.\n"
        "Marta moved to Porto last week.\n"
        "It rained when Marta called.\n"
        "Marta found a job in a bakery in Porto.\n"
        "Revised: Marta used to live in Lyon with her sister and worked as a nurse. She moved to "
        "Porto, where she now works in a bakery.\n\n"
        f"Concept: {concept}\n"
        f"Statements:\n{context}\n"
        "Revised:"
    )
