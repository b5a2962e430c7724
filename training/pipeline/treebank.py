"""Annotated sentences, and how they are read from CoNLL-U, IOB2 and CoNLL named-entity files.

A `Sentence` keeps the words as the annotators cut them, together with the spaces between
them, so that the raw text can be put together again: the pipeline is trained and scored on
raw text, never on given tokens.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

MISSING = ""
"""The entity label of a word about whose entities nothing is known."""

_TYPE_OF_LABEL = {
    "PER": "PER",
    "ORG": "ORG",
    "LOC": "LOC",
    "person": "PER",
    "location": "LOC",
    "corporation": "ORG",
    "group": "ORG",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """One word of a treebank.

    `head` is the index of the head within the sentence (its own index for the root), or None
    where the tree is unknown; `upos`, `xpos` (the Penn tag), `lemma` and `dep` are empty where
    unknown; `entity` is a BIO label or `MISSING`.
    """

    form: str
    space_after: bool
    upos: str = ""
    xpos: str = ""
    lemma: str = ""
    head: int | None = None
    dep: str = ""
    entity: str = MISSING


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """One annotated sentence.

    `document` tells which sentences follow one another; `new_paragraph` is true where the
    source starts a paragraph. `sent_id` is the treebank's own, or empty.
    """

    words: tuple[Word, ...]
    document: str = ""
    sent_id: str = ""
    new_paragraph: bool = False

    @property
    def text(self) -> str:
        """The sentence as it was written, without the space that follows it."""
        return "".join(w.form + (" " if w.space_after else "") for w in self.words).rstrip()


def blocks(lines: Iterable[str]) -> Iterator[tuple[list[str], list[list[str]]]]:
    """Comment lines and split rows of each block between blank lines."""
    comments: list[str] = []
    rows: list[list[str]] = []
    for line in lines:
        line = line.rstrip("\n")
        if not line:
            if rows:
                yield comments, rows
            comments, rows = [], []
        elif line.startswith("#") and "\t" not in line:
            comments.append(line[1:].strip())
        else:
            rows.append(line.split("\t"))
    if rows:
        yield comments, rows


def _value(comment: str, key: str) -> str | None:
    name, separator, value = comment.partition("=")
    return value.strip() if separator and name.strip() == key else None


def read_conllu(path: Path) -> list[Sentence]:
    """Read the sentences of a CoNLL-U file.

    Words of a multiword token ("do", "n't") stand as words of their own, without a space
    between them; empty nodes ("8.1") are left out.

    Raises ValueError if the words of a multiword token do not spell it.
    """
    sentences: list[Sentence] = []
    document = path.stem
    with path.open(encoding="utf-8") as lines:
        for comments, rows in blocks(lines):
            sent_id, new_paragraph = "", False
            for comment in comments:
                if comment.startswith("newdoc"):
                    document = _value(comment, "newdoc id") or f"{path.stem}-{len(sentences)}"
                    new_paragraph = True
                elif comment.startswith("newpar") and not comment.startswith("newpar_block"):
                    new_paragraph = True
                sent_id = _value(comment, "sent_id") or sent_id
            sentences.append(
                Sentence(
                    words=tuple(_conllu_words(rows, f"{path}: {sent_id}")),
                    document=document,
                    sent_id=sent_id,
                    new_paragraph=new_paragraph,
                )
            )
    return sentences


def _conllu_words(rows: list[list[str]], where: str) -> Iterator[Word]:
    multiword_end, multiword_space, spelled, expected = 0, True, "", ""
    for row in rows:
        number, form, lemma, upos, xpos, _, head, dep, _, misc = row
        space_after = "SpaceAfter=No" not in misc.split("|")
        if "." in number:
            continue
        if "-" in number:
            multiword_end = int(number.partition("-")[2])
            multiword_space, spelled, expected = space_after, "", form
            continue
        index = int(number)
        if index <= multiword_end:
            spelled += form
            space_after = multiword_space if index == multiword_end else False
            if index == multiword_end and spelled != expected:
                raise ValueError(f"{where}: {spelled!r} does not spell {expected!r}")
        yield Word(
            form=form,
            space_after=space_after,
            upos=upos,
            xpos=xpos,
            lemma=lemma if lemma != "_" or form == "_" else form,
            head=int(head) - 1 if head != "0" else index - 1,
            dep=dep if head != "0" else "ROOT",
        )


def read_iob2(path: Path) -> dict[str, tuple[tuple[str, str], ...]]:
    """Read a Universal NER file: (form, BIO label) of each word, by sentence id.

    Labels outside of PER, ORG and LOC (``OTH``, the stray ``B-O``) become ``O``.
    """
    sentences: dict[str, tuple[tuple[str, str], ...]] = {}
    with path.open(encoding="utf-8") as lines:
        for comments, rows in blocks(lines):
            sent_id = next((v for c in comments if (v := _value(c, "sent_id"))), "")
            labels = _bio(row[2] for row in rows)
            sentences[sent_id] = tuple(zip((row[1] for row in rows), labels, strict=True))
    return sentences


def _bio(labels: Iterable[str]) -> list[str]:
    """Known types only, and every entity begun by ``B-`` (IOB1 input is accepted)."""
    clean: list[str] = []
    previous = "O"
    for label in labels:
        prefix, _, kind = label.partition("-")
        kind = _TYPE_OF_LABEL.get(kind, "")
        if not kind:
            clean.append("O")
        elif prefix == "I" and previous.endswith(kind):
            clean.append(f"I-{kind}")
        else:
            clean.append(f"B-{kind}")
        previous = clean[-1]
    return clean


def attach_entities(
    sentences: Iterable[Sentence], entities: dict[str, tuple[tuple[str, str], ...]]
) -> list[Sentence]:
    """Give each sentence its entity labels, by sentence id, else by its very words.

    Where the two files cut a sentence into other words, a word takes the label of the
    character that it starts with; where they spell it differently, or one of them lacks it,
    the labels stay `MISSING`: training skips them there.
    """
    by_words = {"".join(form for form, _ in labelled): labelled for labelled in entities.values()}
    result: list[Sentence] = []
    for sentence in sentences:
        spelled = "".join(word.form for word in sentence.words)
        labelled = entities.get(sentence.sent_id, ())
        if "".join(form for form, _ in labelled) != spelled:
            labelled = by_words.get(spelled, ())
        if labelled:
            sentence = replace(sentence, words=tuple(_labelled(sentence.words, labelled)))
        result.append(sentence)
    return result


def _labelled(words: tuple[Word, ...], labelled: tuple[tuple[str, str], ...]) -> Iterator[Word]:
    labels: list[str] = []
    for form, label in labelled:
        labels.append(label)
        labels.extend([label.replace("B-", "I-")] * (len(form) - 1))
    start = 0
    for word in words:
        yield replace(word, entity=labels[start])
        start += len(word.form)


def read_column_entities(path: Path) -> list[Sentence]:
    """Read a file of ``form label`` lines (IOB1 or BIO) without tags, trees or spaces.

    The spaces are guessed as English puts them. User names ("@name", or "@" and the name
    after it) get no entity label: corpora disagree on whether they are persons.
    """
    sentences: list[Sentence] = []
    pairs: list[tuple[str, str]] = []
    with path.open(encoding="utf-8", errors="replace") as lines:
        for line in [*lines, "\n"]:
            form, _, label = line.strip().replace("\t", " ").rpartition(" ")
            form = form.strip()
            if form and form.isprintable() and " " not in form and not form.startswith("-DOCSTART"):
                pairs.append((form, label))
            elif not form and pairs:
                document = f"{path.name}-{len(sentences)}"
                sentences.append(Sentence(words=_spaced(pairs), document=document))
                pairs = []
    return sentences


_NO_SPACE_BEFORE = frozenset([*".,!?:;)]}%’'", "...", "..", "''", "!!", "??", "!!!", "n't"])
_NO_SPACE_AFTER = frozenset([*"([{@#$£€", "``"])
_CLITICS = frozenset({"'s", "'re", "'ve", "'ll", "'d", "'m", "’s", "’re", "’ve", "’ll", "’d", "’m"})


def _spaced(pairs: list[tuple[str, str]]) -> tuple[Word, ...]:
    labels = _bio(label for _, label in pairs)
    words: list[Word] = []
    open_quote = False
    for index, (form, _) in enumerate(pairs):
        following = pairs[index + 1][0] if index + 1 < len(pairs) else ""
        space_after = not (
            form in _NO_SPACE_AFTER
            or following in _NO_SPACE_BEFORE
            or following.lower() in _CLITICS
            or (form in {"'", "’"} and following.lower() in {"s", "re", "ve", "ll", "d", "m", "t"})
        )
        if form == '"':
            open_quote = not open_quote
            space_after = space_after and not open_quote
        elif following == '"':
            space_after = not open_quote
        name = form.startswith("@") or (index > 0 and pairs[index - 1][0] == "@")
        entity = MISSING if name else labels[index]
        if entity.startswith("I-") and words and words[-1].entity == MISSING:
            entity = MISSING
        words.append(Word(form=form, space_after=space_after, entity=entity))
    return tuple(words)
