"""Names of persons and places from a generator, which take the place of names in texts."""

from __future__ import annotations

from random import Random

from faker import Faker

_HOME = "en_US"
_LOCALES = (
    *("cs_CZ", "de_DE", "en_GB", "en_IN", "en_PK", "es_ES", "es_MX", "fi_FI", "fr_FR", "ga_IE"),
    *("hr_HR", "hu_HU", "id_ID", "it_IT", "lt_LT", "nl_NL", "no_NO", "pl_PL", "pt_BR", "ro_RO"),
    *("sv_SE", "tr_TR", "vi_VN", "yo_NG", "zu_ZA"),
)
_HOME_SHARE = 0.5
_LAST_LATIN = "\u024f"


class NameSource:
    """Names in Latin letters; half of them are those of the United States."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)
        self._home = self._seeded(_HOME, seed)
        self._others = [self._seeded(locale, seed) for locale in _LOCALES]

    def _seeded(self, locale: str, seed: int) -> Faker:
        faker = Faker(locale)
        faker.seed_instance(seed)
        return faker

    def _source(self) -> Faker:
        if self._random.random() < _HOME_SHARE:
            return self._home
        return self._random.choice(self._others)

    def person(self, length: int) -> list[str]:
        """A person's name of one word, or of a first name and a family name."""
        faker = self._source()
        first = _plain(str(faker.first_name())) or str(self._home.first_name())
        if length == 1:
            return [first]
        return [first, _plain(str(faker.last_name())) or str(self._home.last_name())]

    def place(self) -> list[str]:
        """A town or a country of one word."""
        faker = self._source()
        town = self._random.random() < 0.6
        name = str(faker.city()) if town else str(self._home.country())
        return [_plain(name) or str(self._home.last_name()) + "ville"]


def _plain(name: str) -> str:
    """The name if it is one word of Latin letters, else an empty string."""
    return name if name.isalpha() and name[0].isupper() and max(name) <= _LAST_LATIN else ""
