"""The training of the shipped pipeline: what the converters make of hand-made corpora, and
that a pipeline can be trained, packed and unpacked."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from spacy.language import Language

import recallm
from recallm.english.shipped import KNOWLEDGE, SYNTAX
from tests.tables import each_row
from training import cards
from training.pipeline.clauses import ClauseMaker
from training.pipeline.components import blank_part
from training.pipeline.corpora import with_silver_tags
from training.pipeline.declaratives import StatementMaker, declaratives
from training.pipeline.examples import example_of
from training.pipeline.fitting import Plan, fit
from training.pipeline.lexicon import PLACE, Frame, word_lists
from training.pipeline.names import NameSource
from training.pipeline.packing import pack, unpack
from training.pipeline.passages import Passage, Variation, neighbours, vary
from training.pipeline.scoring import scores
from training.pipeline.treebank import (
    MISSING,
    Sentence,
    Word,
    attach_entities,
    read_column_entities,
    read_conllu,
    read_iob2,
)

CONLLU = """\
# newdoc id = letter
# sent_id = letter-1
# newpar
# text = Don't call Ann's e-mail!
1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\t_
1\tDo\tdo\tAUX\tVB\t_\t3\taux\t_\t_
2\tn't\tnot\tPART\tRB\t_\t3\tadvmod\t_\t_
3\tcall\tcall\tVERB\tVB\t_\t0\troot\t_\t_
4-5\tAnn's\t_\t_\t_\t_\t_\t_\t_\t_
4\tAnn\tAnn\tPROPN\tNNP\t_\t6\tnmod:poss\t_\t_
5\t's\t's\tPART\tPOS\t_\t4\tcase\t_\t_
5.1\tunsaid\t_\tVERB\t_\t_\t_\t_\t_\t_
6\te-mail\te-mail\tNOUN\tNN\t_\t3\tobj\t_\tSpaceAfter=No
7\t!\t!\tPUNCT\t.\t_\t3\tpunct\t_\t_

# sent_id = letter-2
# text = Bob left Oslo
1\tBob\tBob\tPROPN\tNNP\t_\t2\tnsubj\t_\t_
2\tleft\tleave\tVERB\tVBD\t_\t0\troot\t_\t_
3\tOslo\tOslo\tPROPN\tNNP\t_\t2\tobj\t_\t_
"""

IOB2 = """\
# sent_id = letter-1
1\tDo\tO\t-\t-
2\tn't\tO\t-\t-
3\tcall\tO\t-\t-
4\tAnn\tB-PER\t-\tsomeone
5\t's\tO\t-\t-
6\te-mail\tB-OTH\t-\tsomeone
7\t!\tB-O\t-\t-

# sent_id = other-9
1\tBob\tB-PER\t-\t-
2\tleft\tO\t-\t-
3\tOslo\tB-LOC\t-\t-
"""

WORDS = """\
1\tAcme\tAcme\tPROPN\tNNP\t_\t3\tnsubj\t_\t_
2\toften\toften\tADV\tRB\t_\t3\tadvmod\t_\t_
3\tplan\tplan\tVERB\tVB\t_\t0\troot\t_\t_
4\tto\tto\tPART\tTO\t_\t5\tmark\t_\t_
5\tplan\tplan\tVERB\tVB\t_\t3\txcomp\t_\t_
6\tgood\tgood\tADJ\tJJ\t_\t7\tamod\t_\t_
7\tplans\tplan\tNOUN\tNNS\t_\t5\tobj\t_\t_
8\thappy\thappy\tADJ\tJJ\t_\t3\tadvcl\t_\t_
9\there\there\tADV\tRB\t_\t3\tadvmod\t_\t_

1\tTea\ttea\tNOUN\tNN\t_\t3\tnsubj:pass\t_\t_
2\twas\tbe\tAUX\tVBD\t_\t3\taux:pass\t_\t_
3\tplanned\tplan\tVERB\tVBN\t_\t0\troot\t_\t_

1\tAnn\tAnn\tPROPN\tNNP\t_\t2\tnsubj\t_\t_
2\tplanned\tplan\tVERB\tVBD\t_\t0\troot\t_\t_
3\ttea\ttea\tNOUN\tNN\t_\t2\tobj\t_\t_

"""
WORDS_ENTITIES = {
    "": tuple(
        (w, "B-ORG" if w == "Acme" else "O")
        for w in ["Acme", "often", "plan", "to", "plan", "good", "plans", "happy", "here"]
    )
}


def word(form: str, upos: str, *, space: bool = True, entity: str = "O") -> Word:
    return Word(form=form, space_after=space, upos=upos, entity=entity)


@pytest.fixture(scope="module")
def letter(tmp_path_factory: pytest.TempPathFactory) -> list[Sentence]:
    folder = tmp_path_factory.mktemp("letter")
    (folder / "letter.conllu").write_text(CONLLU, encoding="utf-8")
    (folder / "letter.iob2").write_text(IOB2, encoding="utf-8")
    return attach_entities(read_conllu(folder / "letter.conllu"), read_iob2(folder / "letter.iob2"))


def test_conllu_is_read_with_its_text_trees_and_paragraphs(letter: list[Sentence]) -> None:
    assert [s.text for s in letter] == ["Don't call Ann's e-mail!", "Bob left Oslo"]
    assert [w.form for w in letter[0].words] == ["Do", "n't", "call", "Ann", "'s", "e-mail", "!"]
    # Heads count from zero, and the root is its own.
    assert [w.head for w in letter[0].words] == [2, 2, 2, 5, 3, 2, 2]
    assert letter[0].words[2].dep == "ROOT"
    assert [(s.document, s.new_paragraph) for s in letter] == [("letter", True), ("letter", False)]


def test_a_multiword_token_that_its_words_do_not_spell_is_refused(tmp_path: Path) -> None:
    broken = CONLLU.replace("4-5\tAnn's", "4-5\tAnne's")
    (tmp_path / "broken.conllu").write_text(broken, encoding="utf-8")
    with pytest.raises(ValueError, match="does not spell"):
        read_conllu(tmp_path / "broken.conllu")


def test_entities_are_those_of_the_id_or_of_the_words(letter: list[Sentence]) -> None:
    # Other types than the three are dropped.
    assert [w.entity for w in letter[0].words] == ["O", "O", "O", "B-PER", "O", "O", "O"]
    # A sentence of another id takes those of the same words.
    assert [w.entity for w in letter[1].words] == ["B-PER", "O", "B-LOC"]
    # Words that are cut otherwise take the label at their first character.
    sentence = Sentence(words=(word("New", "X"), word("York-", "X"), word("based", "X")))
    labelled = (("NewYork", "B-LOC"), ("-", "O"), ("based", "O"))
    [result] = attach_entities([sentence], {"": labelled})
    assert [w.entity for w in result.words] == ["B-LOC", "I-LOC", "O"]
    # Without labels nothing is known.
    [result] = attach_entities([Sentence(words=(Word(form="Hi", space_after=False),))], {})
    assert result.words[0].entity == MISSING


def test_column_files_get_the_spaces_of_english(tmp_path: Path) -> None:
    lines = [
        *('"\tO', "Ann\tB-person", "'s\tO", "here\tO", '"\tO', ",\tO", "(\tO", "says\tO"),
        *("@ann\tB-person", ")\tO", "Acme\tI-corporation", "Inc\tI-corporation", ""),
        *("Hamlet\tB-creative-work", ""),
    ]
    path = tmp_path / "some.conll"
    path.write_text("\n".join(lines), encoding="utf-8")
    first, second = read_column_entities(path)
    assert first.text == '"Ann\'s here", (says @ann) Acme Inc'
    assert [w.entity for w in first.words if w.entity != "O"] == [
        "B-PER",
        MISSING,
        "B-ORG",
        "I-ORG",
    ]
    assert second.words[0].entity == "O"


def test_runs_stay_within_a_document_and_lose_nothing(letter: list[Sentence]) -> None:
    sentences = letter * 5 + [Sentence(words=(word("End", "NOUN"),), document="other")]
    runs = list(neighbours(sentences, Random(3), 4))
    assert [s for run in runs for s in run] == sentences
    assert all(len({s.document for s in run}) == 1 for run in runs)
    assert {len(run) for run in runs} > {1}


def test_variations_keep_words_and_labels_together(letter: list[Sentence]) -> None:
    always = Variation(
        lower_cased=1, bullet=1, emoji=1, rule=1, no_final_punctuation=1, line_broken=1
    )
    passage = vary(tuple(letter), always, Random(1), NameSource(1))
    example = example_of(blank_part(KNOWLEDGE), passage, trees=False)
    assert example.reference.text == example.predicted.text == example.reference.text.lower()
    assert "!" not in example.reference.text
    assert "\n" in example.reference.text
    tags = {t.text: t.pos_ for t in example.reference}
    assert (tags["bob"], tags["left"]) == ("PROPN", "VERB")


def test_swapped_names_keep_tags_types_and_spaces() -> None:
    words = (
        word("Bob", "PROPN", entity="B-PER"),
        word("Hill", "PROPN", entity="I-PER"),
        word("left", "VERB"),
        word("Oslo", "PROPN", space=False, entity="B-LOC"),
        word(".", "PUNCT", space=False),
    )
    variation = Variation(names_swapped=1, lower_cased=0, no_final_punctuation=0)
    seen = set()
    for seed in range(8):
        passage = vary((Sentence(words=words),), variation, Random(seed), NameSource(seed))
        [sentence] = passage.sentences
        named = [w for w in sentence.words if w.entity not in {"O", MISSING}]
        assert [w.entity for w in named] == ["B-PER", "I-PER", "B-LOC"]
        assert all(w.upos == "PROPN" for w in named)
        seen.add(" ".join(w.form for w in named))
    assert len(seen) > 3


def test_examples_carry_roles_also_for_pieces_of_words(letter: list[Sentence]) -> None:
    passage = Passage(sentences=(letter[0],), separators=("",))
    example = example_of(blank_part(KNOWLEDGE), passage, trees=False)
    assert [(t.text, t.tag_) for t in example.reference][3:] == [
        *(("Ann", "nmod:poss"), ("'s", "case")),
        *(("e", "obj"), ("-", "punct"), ("mail", "obj"), ("!", "punct")),
    ]


def test_word_lists_know_how_words_were_used(letter: list[Sentence]) -> None:
    lists = word_lists(letter)
    verbs = {verb.base: verb for verb in (lists.verbs(Random(seed)) for seed in range(30))}
    assert set(verbs) == {"call", "leave"}
    assert (verbs["leave"].third, verbs["leave"].past) == ("leaves", "left")
    assert verbs["leave"].frames(Random(0)) == Frame(object=PLACE)


@each_row([StatementMaker, ClauseMaker])
def test_made_statements_are_trees_with_tags(maker: type[StatementMaker], tmp_path: Path) -> None:
    path = tmp_path / "words.conllu"
    path.write_text(WORDS * 2, encoding="utf-8")
    lists = word_lists(attach_entities(read_conllu(path), WORDS_ENTITIES))
    made = declaratives(maker(lists, NameSource(1), Random(1)), 300)
    assert made == declaratives(maker(lists, NameSource(1), Random(1)), 300)
    assert len({sentence.text for sentence in made}) > 150
    for sentence in made:
        words = sentence.words
        roots = [i for i, w in enumerate(words) if w.head == i]
        assert [words[i].dep for i in roots] == ["ROOT"]
        assert all(w.upos and w.dep and w.head is not None and w.lemma for w in words)
        assert not sentence.text[0].islower()
        assert sentence.text[-1] in ".!"
        assert ",." not in sentence.text
    tags = {w.upos for sentence in made for w in sentence.words if w.form == "plans"}
    assert tags == {"VERB", "NOUN"}


def test_pieces_of_a_cut_word_do_not_make_marks_nouns_nor_rows_sentences() -> None:
    words = (
        word("====", "SYM"),
        word("well-being", "NOUN"),
        word("al-Ani", "PROPN", space=False, entity="B-PER"),
    )
    passage = Passage(sentences=(Sentence(words=words),), separators=("",))
    example = example_of(blank_part(KNOWLEDGE), passage, trees=False)
    pieces = [(t.text, t.pos_, t.ent_iob_) for t in example.reference]
    assert pieces[-6:] == [
        ("well", "NOUN", "O"),
        ("-", "PUNCT", "O"),
        ("being", "NOUN", "O"),
        ("al", "PROPN", "B"),
        ("-", "PUNCT", "I"),
        ("Ani", "PROPN", "I"),
    ]
    assert [t.i for t in example.reference if t.is_sent_start] == [0]


def test_trees_reach_the_example_where_every_word_has_a_head(letter: list[Sentence]) -> None:
    passage = Passage(sentences=tuple(letter), separators=("\n", ""))
    example = example_of(blank_part(SYNTAX), passage, trees=True)
    assert [t.head.text for t in example.reference if t.dep_ == "ROOT"] == ["call", "left"]
    assert [s.text for s in example.reference.sents] == [
        "Don't call Ann's e-mail!\n",
        "Bob left Oslo",
    ]
    assert [t.lemma_ for t in example.reference][-2:] == ["leave", "Oslo"]
    bare = Sentence(words=(word("!", "PUNCT", space=False),))
    example = example_of(
        blank_part(SYNTAX), Passage(sentences=(bare,), separators=("",)), trees=True
    )
    assert not example.reference.has_annotation("DEP")


def test_a_card_gets_other_figures_and_keeps_its_prose() -> None:
    paths = [*Path(recallm.__file__).parent.rglob(cards.NAME)]
    assert len(paths) == 4
    for path in paths:
        card = path.read_text(encoding="utf-8")
        other = cards.with_figures(card, cards.table(("name", "score"), [("all", "9.5")]))
        assert "| name | score |\n|---|---|\n| all | 9.5 |\n" in other
        figures = card.partition("begin -->\n")[2].partition("<!--")[0]
        assert figures.count("|") > 20, path
        assert cards.with_figures(other, figures) == card, path


def trained(part: str, letter: list[Sentence], *, seed: int = 0, steps: int = 60) -> bytes:
    nlp = blank_part(part)
    passage = Passage(sentences=tuple(letter), separators=(" ", ""))
    examples = (example_of(nlp, passage, trees=part == SYNTAX) for _ in range(10_000))
    labelled = [example_of(nlp, passage, trees=part == SYNTAX)] * 40
    plan = Plan(
        steps=steps, seed=seed, warm_up=5, first_batch=20, last_batch=40, learning_rate=0.01
    )
    log: list[str] = []
    fit(nlp, lambda: labelled, examples, plan, log.append)
    return pack(nlp)


@pytest.fixture(scope="module")
def knowledge(letter: list[Sentence]) -> Language:
    return unpack([trained(KNOWLEDGE, letter)])


@pytest.mark.slow
def test_a_trained_part_survives_packing_and_finds_what_it_was_shown(
    letter: list[Sentence], knowledge: Language
) -> None:
    figures = scores(knowledge, letter)
    kinds = ("UPOS", "roles", "sentences", "entities, spans and types", "PER", "LOC")
    assert {kind: figures[kind] for kind in kinds} == dict.fromkeys(kinds, 100.0)
    assert scores(knowledge, letter, respell=str.upper)["UPOS"] < 100.0


@pytest.mark.slow
def test_training_is_the_same_by_seed(letter: list[Sentence]) -> None:
    first, same, other = (trained(KNOWLEDGE, letter, seed=seed, steps=6) for seed in (0, 0, 1))
    assert first == same
    assert first != other


@pytest.mark.slow
def test_lemmas_and_trees_survive_packing_into_another_vocabulary(letter: list[Sentence]) -> None:
    figures = scores(unpack([trained(SYNTAX, letter)]), [letter[1]], trees=True)
    assert figures == {"UAS": 100.0, "LAS": 100.0, "lemmas": 100.0}


@pytest.mark.slow
def test_silver_tags_cut_sentences_but_never_an_entity(
    letter: list[Sentence], knowledge: Language
) -> None:
    joined = Sentence(
        words=tuple(
            Word(form=w.form, space_after=w.space_after, entity=w.entity)
            for sentence in letter
            for w in sentence.words
        )
    )
    silver = with_silver_tags(knowledge, [joined])
    assert [s.text for s in silver] == [s.text for s in letter]
    assert [w.upos for w in silver[1].words] == ["PROPN", "VERB", "PROPN"]
    assert [w.entity for s in silver for w in s.words] == [w.entity for w in joined.words]
