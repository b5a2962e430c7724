"""A memory in a few lines: no server, no key, no download."""

from datetime import UTC, datetime

from recallm import RecallM

with RecallM() as memory:  # RecallM("memory.db") keeps it in a file
    memory.update("Brandon wants to go to Paris for his next vacation.")
    memory.update("Brandon is still looking forward to his vacation in Paris.")
    memory.update("My sister works at the bakery on Mill Street.", speaker="Ada")
    memory.update(
        "Brandon cancelled his Paris trip, and is now planning on going to Brazil instead.",
        timestamp=datetime(2026, 5, 1, 12, tzinfo=UTC),
    )

    context = memory.recall("Where does Brandon plan on traveling for his next vacation?", limit=3)
    print(context.text)  # ready for a prompt
    print()
    print(context.explain())  # why each statement is there
    print()

    for statement in memory.history("Ada"):
        print(statement.t_index, statement.speaker, statement.text)

    print(memory.forget(concept="bakery"))
    print(bool(memory.recall("Where does the sister of Ada work?")))
