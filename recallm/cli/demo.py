"""``recallm demo``: somebody who moves, the paper's own examples and a real text in one memory.

The statements about Ingrid and Brandon (RecallM, Figure 7) are written between the paragraphs of
five travel guides, so that more than a hundred unrelated statements lie between them. Then the demo
asks about all.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from importlib.resources import files
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from recallm import RecallM
from recallm.cli.app import app, errors_in_one_line
from recallm.cli.serving import show_page

FIGURE_7 = (
    "Brandon wants to go to Paris for his next vacation.",
    "Brandon quit his current job after just 2 weeks of working there.",
    "Brandon is still looking forward to his vacation in Paris.",
    "Brandon is unemployed.",
    "Brandon just ate a salad.",
    "Carter just ate some chicken.",
    "Brandon cancelled his Paris trip, and is now planning on going to Brazil instead.",
    "Brandon just ate a banana.",
    "Brandon found a new job at Cisco and is no longer unemployed.",
)

STATEMENTS = ("Ingrid lives in Malaga.", *FIGURE_7, "Ingrid moved to Porto.")

ANSWERS = {
    "Where does Ingrid live now?": "moved to Porto",
    "Where does Brandon plan on traveling for his next vacation?": "going to Brazil",
    "Is Brandon currently employed?": "found a new job at Cisco",
    "What was the last thing Brandon ate before the banana?": "ate a salad",
    "What did the Romans call York?": "Eboracum",
    "Who designed the Sheikh Lotf Allah Mosque?": "Sheikh Bahai",
    "How many inhabitants does Socotra have?": "40,000 inhabitants",
    "How did the dragon's blood tree get its name?": "dark red liquid",
    "When did Athens host the Olympic Games?": "2004",
    "When is the best time to visit Athens?": "Spring and late autumn",
}
"""Questions, and words of the statement that answers each."""


@app.command()
def demo(
    *,
    view: Annotated[
        bool, typer.Option("--view", help="Then open the viewer (needs the extra 'viewer').")
    ] = False,
) -> None:
    """See the memory at work on a real text: no server, no key, no network, nothing stored.

    Exit code 1 if an answer was not recalled.
    """
    console = Console(highlight=False, soft_wrap=True)
    began = time.perf_counter()
    with errors_in_one_line(), RecallM() as memory:
        if view:
            import recallm.viewer  # noqa: F401 - fails without the extra, before all else
        memory.recall("Who?")
        console.print(f"memory and language pipeline ready in {time.perf_counter() - began:.2f} s")
        words, seconds = _remember(memory)
        size = memory.stats()
        console.print(
            f"{words:,} words in {size.passages} knowledge updates remembered in {seconds:.2f} s "
            f"({words / seconds:,.0f} words/s): {size.statements} statements, "
            f"{size.concepts} concepts, {size.relations} relations"
        )
        results = [_ask(memory, console, *each) for each in ANSWERS.items()]
        first, vacation, job, *_ = ANSWERS
        console.print("\n[bold]Why? (one question explained)[/bold]")
        console.print(Text(memory.recall(vacation, limit=3).explain()))
        console.print("\n[bold]As it stood when Brandon had no job[/bold]")
        unemployed = next(each for each in memory.history("Brandon") if "unemployed" in each.text)
        earlier = memory.recall(job, limit=5, as_of=unemployed.t_index)
        console.print(Text(earlier.text))
        found = sum(is_found for is_found, _ in results)
        median = statistics.median(seconds for _, seconds in results) * 1000
        console.print(
            f"\n[bold]{found} of {len(ANSWERS)} answers recalled[/bold] among 5 statements each, "
            f"{median:.1f} ms a question (median)"
        )
        if view:
            show_page(memory, question=first)
        else:
            console.print("[dim]recallm demo --view shows the memory; recallm init: your own[/dim]")
    if found < len(ANSWERS):
        raise typer.Exit(1)


def _paragraphs() -> Iterator[dict[str, str]]:
    """The paragraphs of the guides, as items of ``update_many``; each guide is a source."""
    folder = files("recallm.cli").joinpath("travel")
    for name in sorted(each.name for each in folder.iterdir() if each.name.endswith(".txt")):
        for paragraph in folder.joinpath(name).read_text(encoding="utf-8").split("\n\n"):
            yield {"text": paragraph.strip(), "source": name.removesuffix(".txt")}


def _remember(memory: RecallM) -> tuple[int, float]:
    """Write everything; return how many words that were, and how many seconds it took."""
    unrelated = list(_paragraphs())
    per_statement = -(-len(unrelated) // len(STATEMENTS))
    words = sum(len(item["text"].split()) for item in unrelated)
    words += sum(len(text.split()) for text in STATEMENTS)
    began = time.perf_counter()
    for place, text in enumerate(STATEMENTS):
        memory.update(text)
        memory.update_many(unrelated[place * per_statement : (place + 1) * per_statement])
    return words, time.perf_counter() - began


def _ask(memory: RecallM, console: Console, question: str, answer: str) -> tuple[bool, float]:
    """Print what is recalled; return whether the answer is in it, and how many seconds it took."""
    began = time.perf_counter()
    context = memory.recall(question, limit=5)
    seconds = time.perf_counter() - began
    console.print(f"\n[bold]{question}[/bold]  [dim]{seconds * 1000:.1f} ms[/dim]")
    for statement in context.statements:
        text = Text(statement.text)
        text.highlight_words([answer], style="bold green")
        if statement.superseded_by is not None:
            text = Text(f"{statement.text} [no longer]", style="dim")
        console.print(Text(f"  t={statement.t_index:<3} ").append_text(text))
    found = any(answer in statement.text for statement in context.statements)
    if not found:
        console.print(f"  [red]not recalled: {answer}[/red]")
    return found, seconds
