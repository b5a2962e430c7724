"""With an embedding, paraphrases are found. Needs the extra `embeddings`; nothing else changes."""

from recallm import RecallM

with RecallM(embeddings="default") as memory:  # or a function from texts to vectors
    memory.update("My brother is a physician in Hull.", speaker="Ann")
    memory.update("We are having a barbecue on Sunday.", speaker="Ann")

    context = memory.recall("Which of Ann's relatives is a doctor?")
    print(context.text)
    print(context.explain())
