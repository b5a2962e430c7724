"""Refusals in many wordings are recognised; negations in statements are none."""

from __future__ import annotations

from recallm.hybrid.features import refusal_start

REFUSALS = """
I don't know.
I do not know who killed Bob.
Not mentioned.
N/A
Unknown
Unanswerable
no idea
None given in the text.
It's unclear who he is.
The context doesn't say.
There is no mention of a dog in the passage.
I couldn't find any information about that.
I'm not sure.
I can't tell from what you've shared.
You haven't told me where she lives.
Based on the conversation so far, we never discussed her job.
My notes do not cover this.
That isn't something I have a record of.
No information available.
Insufficient context.
This cannot be determined from the statements.
The text is silent on this point.
I have no memory of that.
Sorry, I can't help with that.
Nothing in the provided text indicates when she left.
It is impossible to say.
Her occupation is not specified.
Unfortunately, the document does not contain an answer.
The name of the dog was never revealed.
There isn't enough detail to answer.
Could you provide more context?
As a large language model, I have no access to this.
The passage lacks details on his age.
No relevant memories found.
None of the statements mention Paris.
I am unable to answer this question.
The answer is not in the context.
The memory holds nothing about her birthday.
The plot summary makes no reference to a sword.
We are not told.
It doesn't say.
I wasn't able to find that.
Nothing is said about his father.
"""

STATEMENTS = """
Bob did not leave the house.
He never found the treasure.
Nobody survives.
No.
An unknown man shoots her.
He cannot swim.
Because he did not love her.
She told him not to go.
He is unable to walk.
Paris
The unidentified killer is Frank.
No, he does not marry her.
He lost his memory.
She finds the missing child.
They have no children.
It is difficult to climb because of the snow.
He did not know that she was dead.
Jack does not tell her about the money.
Nothing, she walks away.
I love Paris.
The police cannot find him.
He is not sure about the wedding.
The code of the safe.
Their mother was lacking money.
He refuses to answer.
"""


def test_refusals_are_recognised_in_any_wording_and_statements_are_none() -> None:
    missed = [text for text in REFUSALS.strip().splitlines() if refusal_start(text.lower()) is None]
    wrong = [
        text for text in STATEMENTS.strip().splitlines() if refusal_start(text.lower()) is not None
    ]
    assert (missed, wrong) == ([], [])


def test_the_place_where_a_refusal_begins() -> None:
    text = "she was a nurse, but it is not specified where."
    assert refusal_start(text) == text.index("not")
