"""The table of first names' genders: which share of a name's bearers is female.

The names are those of faker's generators (MIT licence): for each locale, the first names of women
and of men, in some locales with their frequencies. A name in both lists of a locale is as female as
its frequencies say; a name of several locales gets their mean, where locales that English text
draws on most count more.
"""

from __future__ import annotations

import importlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from faker.config import AVAILABLE_LOCALES

_LOCALE_WEIGHTS = {"en": 2.0, "en_US": 8.0, "en_GB": 4.0, "en_IE": 2.0, "en_NZ": 2.0}
_STEPS = 10
"""Shares are rounded to tenths: the lists say no more than that."""


def female_shares() -> dict[str, float]:
    """The share of women (0 to 1) among the bearers of each first name, in lower case."""
    women: defaultdict[str, float] = defaultdict(float)
    bearers: defaultdict[str, float] = defaultdict(float)
    for locale in sorted(AVAILABLE_LOCALES):
        weight = _LOCALE_WEIGHTS.get(locale, 1.0)
        female, male = (_frequencies(locale, gender) for gender in ("female", "male"))
        for name in female.keys() | male.keys():
            of_women, of_men = female.get(name, 0.0), male.get(name, 0.0)
            women[name] += weight * of_women / (of_women + of_men)
            bearers[name] += weight
    return {name: women[name] / bearers[name] for name in bearers}


def common_names() -> tuple[list[str], list[str]]:
    """Usual first names of women and of men in the United States and the United Kingdom."""
    women, men = (
        sorted(
            {
                name
                for locale in ("en_US", "en_GB")
                for name in _frequencies(locale, gender)
                if _frequencies(locale, other).get(name) is None
            }
        )
        for gender, other in (("female", "male"), ("male", "female"))
    )
    return [name.capitalize() for name in women], [name.capitalize() for name in men]


def gender_table(shares: Mapping[str, float]) -> str:
    """The shares as TOML: one list of names for each tenth."""
    names: defaultdict[int, list[str]] = defaultdict(list)
    for name, share in shares.items():
        names[round(share * _STEPS)].append(name)
    lines = [
        "# First names by the share of women among their bearers, in tenths.",
        "# Written by `python -m training.coreference` out of the names of faker (MIT licence).",
        "[names]",
        *(f'{tenth} = "{" ".join(sorted(names[tenth]))}"' for tenth in sorted(names)),
    ]
    return "\n".join(lines) + "\n"


def _frequencies(locale: str, gender: str) -> dict[str, float]:
    """How often women (or men) of a locale bear each name; equal where the lists do not say."""
    try:
        provider = importlib.import_module(f"faker.providers.person.{locale}").Provider
    except ModuleNotFoundError:
        return {}
    listed = provider.__dict__.get(f"first_names_{gender}", ())
    entries: Iterable[tuple[str, float]] = (
        listed.items() if isinstance(listed, Mapping) else ((name, 1.0) for name in listed)
    )
    frequencies: defaultdict[str, float] = defaultdict(float)
    for name, frequency in entries:
        for lowered in _usable(name):
            frequencies[lowered] += frequency
    most = sum(frequencies.values()) or 1.0
    return {name: frequency / most for name, frequency in frequencies.items()}


def _usable(name: str) -> Iterator[str]:
    """A name in lower case, if it is one word of letters that Latin script writes."""
    lowered = name.strip().lower()
    if len(lowered) > 1 and lowered.replace("-", "").isalpha() and ord(lowered[0]) < 0x250:
        yield lowered
