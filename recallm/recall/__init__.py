"""The road of a question: reading candidates, ranking them, the context that is recalled."""
