"""Many users in one file: nothing crosses from one to another, and one of them is forgotten."""

from tempfile import TemporaryDirectory

from recallm import RecallM

with TemporaryDirectory() as folder, RecallM(f"{folder}/users.db") as memory:
    # The server chooses the namespace from who is logged in, never from a text.
    ann, bob = memory.in_namespace("ann"), memory.in_namespace("bob")
    ann.update("I am allergic to peanuts.", speaker="Ann")
    ann.update("My phone number is 555 0199.", speaker="Ann")
    bob.update("I love peanut butter.", speaker="Bob")

    print("Ann:", ann.recall("Who is allergic to peanuts?").text)
    print("Bob:", bob.recall("Who is allergic to peanuts?").text or "nothing known")

    number = ann.recall("What is my phone number?", asker="Ann").statements[0].id
    print("would go:", ann.forget(statement=number, dry_run=True))
    print("went:", ann.forget(statement=number))

    memory.export_namespace("ann", f"{folder}/ann.jsonl")  # all that Ann has, to hand over
    print("erased:", memory.erase_namespace("ann").passages, "passage")
    print("Ann holds", ann.stats().passages, "passages, Bob holds", bob.stats().passages)
