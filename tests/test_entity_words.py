"""Words of entities: names, and codes of vectors that are near where the vectors are."""

from __future__ import annotations

import hashlib

import numpy as np

from recallm.ground.entity_words import BANDS, codes_of, entity_words, probes, whole_name
from recallm.vectors import encode
from tests.tables import each_row

RANDOM = np.random.default_rng(5)


def random_pair(cosine: float, dimension: int = 384) -> tuple[bytes, bytes]:
    """Two vectors with a cosine."""
    one, other = RANDOM.normal(size=(2, dimension))
    one /= np.linalg.norm(one)
    other -= one * (one @ other)
    other /= np.linalg.norm(other)
    return encode(one), encode(cosine * one + np.sqrt(1 - cosine**2) * other)


def test_words_of_a_name() -> None:
    whole = whole_name("new york  city")
    assert entity_words("new york  city", {}) == {"new", "york", "city", whole}
    assert entity_words("", {}) == frozenset()


def test_codes_are_no_words_of_names() -> None:
    blob, _ = random_pair(0.5)
    codes = set(codes_of("m", blob))
    assert len(codes) == BANDS
    assert entity_words("ada", {"m": blob}) == codes | {"ada", whole_name("ada")}
    assert not codes & entity_words(" ".join(codes), {})


def test_models_do_not_share_codes() -> None:
    blob, _ = random_pair(0.5)
    assert not set(codes_of("m", blob)) & set(codes_of("n", blob))


def test_codes_never_change() -> None:
    """Files hold them: another process, machine or version must compute the same."""
    vector = encode([(n * 37 % 101 - 50) / 100 for n in range(64)])
    digest = hashlib.sha256(" ".join(codes_of("m", vector)).encode()).hexdigest()
    assert digest == "b21658e0d905ef6c90cce2dda080fee122408259e1f52585f383bfed98501d45"


@each_row([(0.9, 0.97, 1), (0.85, 0.9, 1), (0.1, 0, 0.05)])
def test_probes_find_near_vectors_alone(cosine: float, least: float, most: float) -> None:
    pairs = [random_pair(cosine) for _ in range(100)]
    found = [bool(set(probes("m", one)) & set(codes_of("m", other))) for one, other in pairs]
    assert least <= np.mean(found) <= most


def test_probes_hold_the_codes_themselves() -> None:
    blob, _ = random_pair(0.5)
    assert set(codes_of("m", blob)) < set(probes("m", blob))


def test_vectors_without_a_direction_have_codes() -> None:
    for blob in (bytes(16), b"\xff" * 16, b"\x00\x7c\x00\xfc"):
        assert len(codes_of("m", blob)) == BANDS
