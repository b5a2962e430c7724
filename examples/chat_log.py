"""A chat that exists already becomes a memory: messages as chat APIs write them."""

from recallm import RecallM

CHAT = [
    {"role": "user", "content": "I moved to Leeds in March.", "created_at": 1709290800},
    {"role": "assistant", "content": "How do you like Leeds?", "created_at": 1709290860},
    {"role": "user", "content": "A lot. My dentist is Dr. Rao.", "created_at": 1709290920},
    {"role": "user", "content": "I moved again, to Hull.", "created_at": 1717230000},
]

with RecallM() as memory:  # or: recallm update --messages chat.jsonl
    memory.update_many({**message, "session": "imported"} for message in CHAT)

    print(memory.recall("Where do I live now?").text)
    print()
    print("In April 2024:", memory.recall("Where do I live?", as_of="2024-04-01").text)
    print("Dentist:", memory.recall("Who is my dentist?").text)
