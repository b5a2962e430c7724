"""The model card that ships beside the weights."""

from __future__ import annotations

from recallm.english.syntax.confidence import TreeModel
from training.triplets.fitting import Measured

_CARD = """# Model card: the confidence of open triplets
`confidence.json`: {trees} boosted regression trees over {features} features of a triplet (the
construction that states it, its lengths, the relations of its clause in the parse, negation and
modality). Written by `python -m training.triplets CARB_DIR`.

**Fitted on** the development sentences of CaRB ({sentences} sentences with gold extractions, MIT
licence; Bhardwaj, Aggarwal, Mausam, EMNLP 2019): news and encyclopedia, {triplets:,} triplets that
the rules found. The target of a triplet is how well it agrees with what people found in its
sentence: the F-measure of its precision, against the one gold extraction that it is matched with,
and of its best recall. CaRB's test sentences had no part in it, nor in the rules.

**Measured** with {folds} folds of sentences, each triplet by trees that its sentence had no part
in, and scored as CaRB scores. The rules were developed on half of these sentences, so that the
scores flatter them a little.

{table}

**Read it so:** the confidence is the expected agreement with what people would write down, not the
truth of the statement. CaRB's people wrote names in place of pronouns, so that a triplet about
"she" has a lower one. Chat was not among the sentences.
"""


def model_card(measured: Measured, model: TreeModel) -> str:
    """The card's text."""
    return _CARD.format(
        trees=len(model.trees),
        features=len(model.names),
        sentences=measured.sentences,
        triplets=measured.triplets,
        folds=measured.folds,
        table=measured.table(),
    )
