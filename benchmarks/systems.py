"""The systems of the paper's experiments: each answers a question from the same statements.

- RecallM: recallm with the paper's ranking;
- recallm: its default ranking;
- vectors: the nearest statements by embedding;
- Hybrid-RecallM: the answers of RecallM and of vectors, of which a discriminator chooses one;
- bare model: no memory. The newest statements that fit into a context window, under the paper's
  prompt, as the paper prompts "raw GPT".

One memory holds the statements for all of them, and one language model answers for all of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.answering import Answerer
from recallm import HybridRecallM, RecallM
from recallm.recall.prompts import CHRONOLOGICAL_PREFIX, question_prompt
from recallm.vectors import Embedding

PAPER = "RecallM"
DEFAULT = "recallm"
HYBRID = "Hybrid-RecallM"
VECTORS = "vectors"
BARE = "bare model"


class Systems:
    """All systems over the same statements. Those that need embeddings answer only with one.

    ``tokens`` bounds the contexts of the systems with a memory; None: as each hands them over.
    ``window`` is the context of the bare model, in tokens; None: there is no bare model. A token
    is four characters.
    """

    def __init__(
        self,
        answerer: Answerer,
        embedding: Embedding | None,
        *,
        tokens: int | None = None,
        window: int | None = None,
    ) -> None:
        self._answerer = answerer
        self._tokens = tokens
        self._window = window
        self._texts: list[str] = []
        self._memory = RecallM(embeddings=embedding, llm=answerer)
        self._paper = self._memory.with_ranking("paper")
        self._hybrid = None if embedding is None else HybridRecallM(self._paper, llm=answerer)

    def update(self, texts: Sequence[str]) -> None:
        """Give every system ``texts``, each a knowledge update."""
        self._memory.update_many(texts)
        self._texts += texts

    def answers(self, question: str) -> dict[str, str]:
        """The answer of each system, by its name.

        Raises:
            LLMError: the language model failed.

        """
        found = {DEFAULT: str(self._memory.ask(question, max_tokens=self._tokens))}
        if self._hybrid is None:
            found[PAPER] = str(self._paper.ask(question, max_tokens=self._tokens))
        else:
            # Both branches are systems of their own, too: their answers come along.
            chosen = self._hybrid.ask(question, max_tokens=self._tokens)
            for error in chosen.errors.values():
                raise error
            found[PAPER] = str(chosen.answers["recallm"])
            found[VECTORS] = str(chosen.answers["vectors"])
            found[HYBRID] = str(chosen)
        if self._window is not None:
            newest = self._newest(self._window)
            context = "\n".join([CHRONOLOGICAL_PREFIX, *newest]) if newest else ""
            found[BARE] = self._answerer(question_prompt(question, context)).strip()
        return {
            name: found[name] for name in (PAPER, DEFAULT, HYBRID, VECTORS, BARE) if name in found
        }

    def _newest(self, tokens: int) -> list[str]:
        """The newest statements that fit into ``tokens`` together, in the order of time."""
        fitting: list[str] = []
        for text in reversed(self._texts):
            tokens -= self._memory.count_tokens(f"{text}\n")
            if tokens < 0:
                break
            fitting.append(text)
        return fitting[::-1]
