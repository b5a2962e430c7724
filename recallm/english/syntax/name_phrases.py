"""Names in a sentence's tree, and lists of names.

A small parser cuts rare names apart, and takes lists of them for appositions or for sentences of
their own. The words give it away: capitals in a row are one name, and names between commas and
"and" are one list, whose first name stands where the list does.

* "Dorothea Altemus is employed by Pfizer": one subject.
* "Cyrus Alfred, Tia Batres, and Pasquale Ballif are customers": three subjects of one verb.
* "Ada's sister Ingrid lives in Rome": a noun with a subject and no copula is a verb.
* "14 June" is one value.
* "I am allergic to shellfish": behind such an adjective stands a noun.
* "Ada does not like coffee": a preposition with a subject or an auxiliary is a verb.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Final

from spacy.symbols import ADJ, ADP, ADV, AUX, NOUN, NUM, PROPN, VERB, X

from recallm.english.syntax.tree import WORDS, SentenceTree
from recallm.model import Mark

_MISTAKEN: Final = frozenset((ADJ, ADV, NOUN, VERB, X))
"""Tags that names get by mistake."""

_NEVER: Final = Mark.PRONOUN | Mark.TIME | Mark.TIME_NUMBER | Mark.NUMERAL | Mark.AUXILIARY
_PLACES: Final = frozenset(
    ("nsubj", "nsubj:pass", "obj", "iobj", "obl", "obl:agent", "nmod", "nmod:poss")
)
"""Relations of a noun phrase to the word that it belongs to."""

_IN_NAMES: Final = frozenset(("flat", "compound", "nmod", "amod", "nummod", "punct", "case"))
_OF_NOUNS: Final = frozenset(("cop", "det", "nmod:poss", "case", "amod", "aux"))
_COMPLEMENTS: Final = ("obl", "obj", "nmod")
_INSIDE_NOUNS: Final = frozenset(("compound", "nummod", "amod", "nmod:desc"))
_OF_PREDICATES: Final = frozenset(("nsubj", "cop", "case", "advmod", "aux", "punct", "mark"))
_MONTHS: Final = WORDS["months"]
_BEFORE_NOUNS: Final = WORDS["adjectives_before_nouns"]
_BEHIND_SOME: Final = {"to": "ways", "in": "fields", "on": "vague", "about": "vague"}
"""Prepositions, each with the nouns to which a phrase behind them belongs."""
_AND: Final = frozenset(("and", "&", "or"))

Name = tuple[int, int]
"""The first token of a name, and the one behind its last."""


def mend_names(tree: SentenceTree) -> None:
    """Correct what the words of names give away."""
    before = [*tree.heads], [*tree.relations], [*tree.tags]
    _mend(tree)
    if not _is_whole(tree):
        tree.tags = before[2]
        for i, (head, relation) in enumerate(zip(*before[:2], strict=True)):
            tree.move(i, head, relation)
    tree.names = [*_names(tree)]


def _is_whole(tree: SentenceTree) -> bool:
    """Whether each token hangs from a root."""
    found = [i for i, head in enumerate(tree.heads) if head < 0]
    for i in found:
        found += tree.children[i]
    return len(found) == len(tree)


def _mend(tree: SentenceTree) -> None:
    for i in range(len(tree)):
        if tree.bases[i] == "case":
            _mend_preposition(tree, i)
        elif tree.bases[i] == "cop" and tree.relations[tree.heads[i]] in _INSIDE_NOUNS:
            _mend_predicate(tree, tree.heads[i])
        elif tree.relations[i] == "mark" and tree.lowered[i] == "to":
            _mend_infinitive(tree, i)
        elif tree.lowered[i] in _MONTHS:
            _mend_date(tree, i)
        elif tree.tags[i] == NOUN and tree.bases[i] in ("obj", "conj"):
            _mend_compound(tree, i)
    names = list(_names(tree))
    for name in names:
        _join(tree, name)
        _mend_title(tree, name)
    for names_in_row in _lists(tree, names):
        _mend_list(tree, names_in_row)
    for i in range(len(tree)):
        if tree.tags[i] == NOUN and _is_mistaken_noun(tree, i):
            tree.tags[i] = VERB
        elif tree.bases[i] == "conj" and tree.tags[i] == NOUN:
            _mend_second_verb(tree, i)


def _mend_compound(tree: SentenceTree, noun: int) -> None:
    """Make "bedroom" and "walls" one object in "I repainted my bedroom walls". "I told mom stories"
    has two."""
    behind = noun + 1
    is_singular = tree.lemmas[noun].lower() == tree.lowered[noun]
    if behind == len(tree) or tree.bases[behind] not in ("obj", tree.bases[noun]):
        return
    if (
        tree.heads[behind] not in (tree.heads[noun], tree.heads[tree.heads[noun]])
        or not is_singular
    ):
        return
    is_name = tree.tags[behind] == PROPN and tree.words[behind].is_capitalised  # "my dog Rex"
    if not (tree.is_relative(noun) or tree.is_time(behind) or is_name):
        tree.tags[behind] = NOUN
        tree.move(behind, tree.heads[noun], tree.relations[noun])
        tree.move_all(tree.children[noun], behind)
        tree.move(noun, behind, "compound")


def _mend_infinitive(tree: SentenceTree, to: int) -> None:
    """Make "shellfish" a noun in "allergic to shellfish"."""
    verb, adjective = tree.heads[to], to - 1
    if adjective >= 0 and tree.lowered[adjective] in _BEFORE_NOUNS and tree.bases[verb] == "xcomp":
        tree.tags[verb] = NOUN
        tree.move(verb, adjective, "obl")
        tree.move(to, verb, "case")


def _mend_predicate(tree: SentenceTree, modifier: int) -> None:
    """Hang a copula and its subject from the noun, not from a word before it: "my address is 12
    Baker Street"."""
    if (noun := tree.heads[modifier]) > modifier:
        outside = [i for i in tree.children[modifier] if tree.bases[i] in _OF_PREDICATES]
        tree.move_all(outside, noun)


def _mend_date(tree: SentenceTree, month: int) -> None:
    """Hang the day of "14 June" and "June 14" from the month."""
    for day in (month - 1, month + 1):
        if 0 <= day < len(tree) and tree.lowered[day][:1].isdigit():
            if tree.is_below(month, day):
                tree.move(month, tree.heads[day], tree.relations[day])
            tree.move(day, month, "nummod")
            tree.move_all(tree.children[day], month)
            return


def name_around(tree: SentenceTree, token: int) -> list[int]:
    """The tokens of the name that a token belongs to, "Bank of America" as a whole; none where it
    belongs to no name."""
    place = bisect_right(tree.names, (token, len(tree))) - 1
    if place < 0 or tree.names[place][1] <= token:
        return []
    first, behind = tree.names[place]
    is_of = behind + 1 < len(tree) and tree.lowered[behind] == "of"
    if is_of and tree.tags[behind + 1] == PROPN and tree.tags[behind - 1] == PROPN:
        following = name_around(tree, behind + 1)
        behind = following[-1] + 1 if following else behind
    if first and tree.lowered[first - 1] == "-":  # "2-Day Tour"
        first = tree.written_together(first)[0]
    if behind in tree.children[behind - 1] and tree.tags[behind] == NUM:  # "Charge 3"
        behind += 1
    return [*range(first, behind)]


def _names(tree: SentenceTree) -> Iterator[Name]:
    """The runs of words that are names, in textual order."""
    i = 0
    while i < len(tree):
        end = i
        while end < len(tree) and (_is_name(tree, end, inside=end > i) or _is_hyphen(tree, end, i)):
            end += 1
        if end > i:
            yield i, end
        i = max(end, i + 1)


def _is_name(tree: SentenceTree, i: int, *, inside: bool) -> bool:
    word = tree.words[i]
    if not word.is_word or word.marks & _NEVER:
        return False
    if not word.is_capitalised:
        # "Ludwig van Beethoven"
        return inside and i in tree.entity_labels and tree.tags[i] == PROPN
    if tree.tags[i] == PROPN:
        return True
    if tree.tags[i] not in _MISTAKEN or not word.text[1:].islower():
        return False
    behind = i + 1
    begins_name = (
        behind < len(tree) and tree.tags[behind] == PROPN and tree.words[behind].is_capitalised
    )
    if i == 0:
        # Any word begins a sentence with a capital.
        is_flat = begins_name and tree.heads[behind] == i and tree.bases[behind] == "flat"
        return is_flat or (begins_name and {i, behind} <= tree.entity_labels.keys())
    is_attribute = tree.bases[i] == "amod" and not begins_name
    return inside or i in tree.entity_labels or begins_name or not is_attribute


def _is_hyphen(tree: SentenceTree, i: int, first: int) -> bool:
    """Whether a token joins two parts of a name: "Ann-Kathrin", "Ernst & Young"."""
    if tree.tags[i] == NUM and i > first:  # "Pixel 6 Pro"
        return i + 1 < len(tree) and _is_name(tree, i + 1, inside=True)
    if tree.lowered[i] == "&" and i + 1 < len(tree):
        return i > first and _is_name(tree, i + 1, inside=True)
    if tree.lowered[i] != "-" or i == first or i + 1 >= len(tree):
        return False
    together = tree.written_together(i)
    return i - 1 in together and i + 1 in together and _is_name(tree, i + 1, inside=True)


def _join(tree: SentenceTree, name: Name) -> None:
    """Hang the words of a name from one of them, unless they hang together already."""
    words = range(*name)
    outer = [i for i in words if tree.heads[i] not in words]
    if len(words) < 2 or not outer:
        return
    main = _main(tree, outer)
    top = next((i for i in outer if not any(tree.is_below(i, j) for j in outer if j != i)), main)
    tree.move(main, tree.heads[top], tree.relations[top])
    for i in words:
        if i != main and (i in outer or tree.bases[i] not in _IN_NAMES):
            tree.move(i, main, "flat")
        tree.tags[i] = PROPN if tree.words[i].is_capitalised else tree.tags[i]
    for i in words:
        if i != main:
            tree.move_all((j for j in tree.children[i] if j not in words), main)


def _mend_title(tree: SentenceTree, name: Name) -> None:
    """Hang a name from the noun before it that says whose it is ("my brother Tom", "Norway's king,
    Harald,", "the king of Norway, Harald,"), and a company from the role between it and a name
    ("Apple CEO Tim Cook")."""
    outer = [i for i in range(*name) if tree.heads[i] not in range(*name)]
    if not outer:
        return
    own = outer[0]
    above, noun = tree.heads[own], name[0] - 1
    has_comma = noun > 0 and tree.lowered[noun] == ","
    noun -= has_comma
    if tree.bases[own] == "appos" and above >= 0 and tree.bases[above] == "nmod":
        bearer = tree.heads[above]
        if has_comma and tree.tags[bearer] == NOUN and tree.child(bearer, "det") >= 0:
            tree.move(own, bearer, "appos")
        return
    if noun < 1 or tree.tags[noun] != NOUN or tree.is_time(noun):
        return
    before = noun - 1
    if tree.relations[noun] == "nmod:desc" and tree.heads[own] == before:
        tree.move(own, tree.heads[before], tree.relations[before])
        tree.move(before, noun, "compound")
        tree.move(noun, own, "nmod:desc")
        tree.move_all(tree.children[before], own)
    elif tree.child(noun, "nmod:poss") < 0:
        return
    elif tree.heads[noun] == own and not has_comma:
        tree.move(noun, above, tree.relations[own])
        tree.move_all((i for i in tree.children[own] if i not in range(*name)), noun)
        tree.move(own, noun, "flat")
    elif (tree.bases[own] == "nsubj" or _is_one_object(tree, own)) and (
        (tree.heads[noun], tree.bases[noun]) == (above, tree.bases[own])
        or (tree.bases[noun] == "conj" and not has_comma)
    ):
        tree.move(own, noun, "appos" if has_comma else "flat")


def _is_one_object(tree: SentenceTree, name: int) -> bool:
    """Whether a name is the object of a verb that has no second one."""
    verb = tree.heads[name]
    return tree.bases[name] == "obj" and tree.base_form(verb) not in WORDS["of_two_objects"]


def _main(tree: SentenceTree, tokens: Sequence[int]) -> int:
    """The token that stands for others: one in the place of a noun phrase, else the first."""
    return next((i for i in tokens if tree.relations[i] in _PLACES), tokens[0])


def _lists(tree: SentenceTree, names: Sequence[Name]) -> list[list[Name]]:
    """Names in a row: "Ann Alba, Bo Berg, and Cy Cole"."""
    found: list[list[Name]] = []
    begins = {first: (first, behind) for first, behind in names}
    taken = -1
    for name in names:
        if name[0] <= taken:
            continue
        row, is_closed = [name], False
        while not is_closed:
            i = row[-1][1]
            i += i < len(tree) and tree.lowered[i] == ","
            if i < len(tree) and tree.lowered[i] in _AND:
                is_closed, i = True, i + 1
            if i == row[-1][1] or i not in begins:
                is_closed = is_closed and i in begins
                break
            row.append(begins[i])
        if is_closed and len(row) > 1:
            found.append(row)
            taken = row[-1][1]
    return found


def _mend_list(tree: SentenceTree, names: Sequence[Name]) -> None:
    """Coordinate names in a row under the first."""
    begin, end = names[0][0], names[-1][1]
    inside = range(begin, end)
    heads = [
        _main(tree, [i for i in range(*name) if tree.heads[i] not in range(*name)] or [name[0]])
        for name in names
    ]
    outer = [i for i in inside if tree.heads[i] not in inside]
    places = {(tree.heads[i], tree.bases[i]) for i in outer if tree.relations[i] in _PLACES}
    if len(places) > 1 or not outer:
        return  # "In Rome, Ann and Bo met": no list
    first, verb = heads[0], _verb_behind(tree, end, inside)
    placed = [i for i in outer if tree.relations[i] in _PLACES]
    main = placed[0] if placed else outer[0]
    head, relation = tree.heads[main], tree.relations[main]
    if verb >= 0 and tree.heads[verb] in inside:
        relations = [tree.relations[i] for i in inside if tree.heads[i] == verb]
        above = [i for i in outer if tree.heads[i] != verb]
        head, relation = (tree.heads[above[0]], tree.relations[above[0]]) if above else (-1, "root")
        tree.move(verb, head, relation)
        head = verb
        relation = next((place for place in relations if place in _PLACES), "nsubj")
    elif verb >= 0:
        head, relation = verb, relation if relation in _PLACES and head == verb else "nsubj"
    elif relation not in _PLACES or (begin - 1 == head and tree.tags[head] == VERB):
        if head < 0 or head >= begin or tree.tags[head] != VERB:
            return
        relation = "obj"
    for i in inside:
        if tree.lowered[i] in (",", *_AND):
            continue
        for child in [j for j in tree.children[i] if j not in inside and i not in heads]:
            tree.move(child, verb if verb >= 0 and child > verb else first)
    tree.move(first, head, relation)
    for own, name in zip(heads, names, strict=True):
        for i in range(*name):
            if i != own and tree.heads[i] not in range(*name):
                tree.move(i, own, "flat")
            tree.tags[i] = PROPN
        if own != first:
            tree.move(own, first, "conj")
            tree.move_all((i for i in tree.children[own] if i >= end), verb if verb >= 0 else head)
    last = heads[-1]
    for i in inside:
        if tree.lowered[i] in _AND:
            tree.move(i, last, "cc")
        elif tree.lowered[i] == ",":
            tree.move(i, last, "punct")
    if verb >= 0:
        tree.move_all((i for i in tree.children[first] if i > end), verb)


def _verb_behind(tree: SentenceTree, behind: int, names: range) -> int:
    """The verb or the predicate whose subject stands just before it; -1 if there is none."""
    if behind >= len(tree):
        return -1
    if tree.tags[behind] == AUX:
        predicate = tree.heads[behind]
        return predicate if predicate > behind else -1
    if tree.heads[behind] in names or any(
        tree.heads[i] == behind and tree.bases[i] in ("nsubj", "compound") for i in names
    ):
        is_verb = tree.tags[behind] == VERB or (
            tree.tags[behind] == NOUN and tree.child(behind, *_COMPLEMENTS) >= 0
        )
        return behind if is_verb else -1
    return -1


def _is_mistaken_noun(tree: SentenceTree, noun: int) -> bool:
    """Whether a noun has a subject just before it and nothing of a noun."""
    subject = tree.child(noun, "nsubj")
    if subject < 0 or subject > noun or tree.lowered[noun] == tree.lowered[subject]:
        return False
    if any(
        tree.relations[i] in _OF_NOUNS and tree.lowered[i] not in ("no", "longer")
        for i in tree.children[noun]
    ):
        return False
    return tree.child(noun, *_COMPLEMENTS) >= 0


def _mend_second_verb(tree: SentenceTree, noun: int) -> None:
    """Make "lives" a verb in "Ada works for Cisco and lives in Oslo", where the parser coordinates
    it with the name: a bare form in -s behind a conjunction and before a phrase, after a verb in
    -s."""
    root = next((i for i, head in enumerate(tree.heads) if head < 0), 0)
    forms = (tree.lowered[root], tree.lowered[noun])
    is_bare = noun > root and tree.lowered[noun - 1] in ("and", "but")
    if not is_bare or tree.tags[root] != VERB or not all(form.endswith("s") for form in forms):
        return
    phrases = [
        i
        for i, head in enumerate(tree.heads)
        if i > noun + 1
        and tree.tags[noun + 1] == ADP
        and tree.bases[i] in ("obl", "nmod")
        and head in (noun, tree.heads[noun])
    ]
    if not phrases:
        return
    tree.tags[noun] = VERB
    tree.move(noun, root, "conj")
    tree.move(noun - 1, noun, "cc")
    for i in phrases:
        tree.move(i, noun, "obl")


def _mend_preposition(tree: SentenceTree, verb: int) -> None:
    """Make a preposition that has a subject a verb, with the noun behind it as its object; and hang
    a phrase that says which from the noun before it."""
    noun, before = tree.heads[verb], verb - 1
    listed = _BEHIND_SOME.get(tree.lowered[verb])
    is_beside = before >= 0 and tree.heads[noun] == tree.heads[before] and not tree.is_time(noun)
    if listed and is_beside and tree.lowered[before] in WORDS[listed]:
        tree.move(noun, before, "nmod")  # "I love my trip to Japan", "I have a degree in law"
        return
    is_verb = tree.tags[verb] == VERB and 0 <= tree.child(noun, "nsubj") < verb
    if noun < verb or not (is_verb or tree.child(verb, "nsubj", "aux") >= 0):
        return
    head, relation = tree.heads[noun], tree.relations[noun]
    tree.move_all(
        (i for i in tree.children[noun] if i < verb or tree.relations[i] == "punct"), verb
    )
    tree.move(verb, head, relation)
    tree.move(noun, verb, "obj")
    tree.tags[verb] = VERB
