"""Facts that change: what holds, what held before, and what each fact rests on."""

from recallm import RecallM
from recallm.facts import FactMemory

with RecallM() as memory:
    facts = FactMemory(memory)
    facts.write("Ada", "works for", "Cisco")
    facts.write("Bo", "works for", "Opera")
    facts.write("Ada", "is employed by", "Opera")  # supersedes Cisco; nothing is deleted

    print("now:", [fact.object for fact in facts.read("Ada", "works for")])
    print("before:", [fact.object for fact in facts.read("Ada", "works for", as_of=1)])
    print(
        "at Opera:",
        sorted(fact.subject for fact in facts.read(relation="works for", object="Opera")),
    )
    for change in facts.changes("Ada", "works for"):
        print(change.object, "since", change.since_t, "until", change.until_t)

    # Recall sees facts beside what was said.
    memory.update("Ada is travelling to Oslo next week.")
    print(memory.recall("Where does Ada work?").text)
