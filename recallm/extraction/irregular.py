"""Words whose forms no rule of spelling brings together: "ate" and "eat", "children" and "child".

One table of verbs says what the base of a form is and which forms are past; a prefix ("re", "over")
makes another verb with the same forms.
"""

from __future__ import annotations

__all__ = [
    "BARE_PARTICIPLES",
    "BARE_PASTS",
    "NOUNS",
    "PASTS",
    "VERBS",
    "verb_base",
    "without_prefix",
]

_TABLE = """\
agree: agreed
arise: arose arisen
awake: awoke awoken
be: was* were* been*
bear: bore* born* borne
beat: = beaten
become: became =
befall: befell befallen
begin: began begun
behold: beheld
bend: bent
bet: = =
bid: = =
bind: bound*
bite: bit bitten
bleed: bled
blow: blew blown
break: broke broken
breed: bred
bring: brought
broadcast: = =
build: built
burn: burnt
burst: = =
buy: bought
cast: = =
catch: caught
choose: chose chosen
cling: clung
come: came =
cost: = =
creep: crept
cut: = =
deal: dealt
decree: decreed
die: died
dig: dug
disagree: disagreed
do: did* done*
draw: drew drawn
dream: dreamt
drink: drank drunk
drive: drove driven
eat: ate eaten
fall: fell fallen
feed: fed
feel: felt
fight: fought
find: found
flee: fled
fling: flung
fly: flew flown
forbid: forbade forbidden
forget: forgot forgotten
forgive: forgave forgiven
free: freed
freeze: froze frozen
get: got* gotten*
give: gave given
go: went gone
grind: ground*
grow: grew grown
guarantee: guaranteed
hang: hung
have: had*
hear: heard
hide: hid hidden
hit: = =
hold: held
hurt: = =
keep: kept
kneel: knelt
know: knew known
lay: laid
lead: led
lean: leant
leap: leapt
learn: learnt
leave: left
lend: lent
let: = =
lie: lied lay* lain
light: lit
lose: lost
make: made
mean: meant
meet: met
mow: mown
pay: paid
prove: proven
put: = =
quit: = =
read: = =
referee: refereed
rid: = =
ride: rode ridden
ring: rang rung
rise: rose risen
run: ran =
say: said
see: saw seen
seek: sought
sell: sold
send: sent
set: = =
sew: sewn
shake: shook shaken
shed: = =
shine: shone
shoot: shot
show: shown
shrink: shrank shrunk
shut: = =
sing: sang sung
sink: sank sunk
sit: sat
sleep: slept
slide: slid
sling: slung
slit: = =
smell: smelt
sneak: snuck
sow: sown
speak: spoke spoken
speed: sped
spell: spelt
spend: spent
spill: spilt
spin: spun
spit: spat
split: = =
spoil: spoilt
spread: = =
spring: sprang sprung
stand: stood
steal: stole stolen
stick: stuck
sting: stung
stink: stank stunk
stride: strode stridden
strike: struck stricken
string: strung
strive: strove striven
swear: swore sworn
sweep: swept
swell: swollen
swim: swam swum
swing: swung
take: took taken
teach: taught
tear: tore torn
tell: told
think: thought
throw: threw thrown
thrust: = =
tie: tied
tread: trod trodden
use: used*
wake: woke woken
wear: wore worn
weave: wove woven
weep: wept
win: won
wind: wound*
wring: wrung
write: wrote written"""
"""Each verb's past and participles. "=" is the base itself. A form with "*" keeps its own stem:
it is as often another verb's base, or a word that is no term."""

_LINES = tuple(
    (base, forms.split()) for base, forms in (it.split(": ") for it in _TABLE.split("\n"))
)

PASTS: dict[str, str] = {
    form.rstrip("*"): base for base, forms in _LINES for form in forms if form != "="
}
"""The base of each past form and participle that differs from it."""

VERBS: dict[str, str] = {
    **{form: base for base, forms in _LINES for form in forms if form.isalpha()},
    "dies": "die",
    "dying": "die",
    "goes": "go",
    "lies": "lie",
    "lying": "lie",
    "ties": "tie",
    "tying": "tie",
}
"""The base of each form that shares a term with it."""

BARE_PASTS = frozenset(base for base, forms in _LINES if forms[0] == "=")
"""Verbs whose past is their base: "put"."""

BARE_PARTICIPLES = frozenset(base for base, forms in _LINES if forms[-1] == "=")
"""Verbs whose participle is their base: "put", "come"."""

_PREFIXES = ("re", "over", "under", "out", "mis", "fore", "with", "inter", "up", "un")
_UNDONE = frozenset(("bend", "bind", "do", "freeze", "learn", "stick", "string", "weave", "wind"))
"""Verbs that "un" undoes; before the participle of another it makes an adjective: "unknown"."""
_OTHER_WORDS = frozenset(
    (
        *("foreground", "mislay", "outbound", "outlay", "overlay", "rebound", "relay", "relent"),
        *("relied", "resent", "underground", "underlay"),
    )
)
"""Words that only look like a prefix and a form."""


def without_prefix(form: str) -> str:
    """A form in lower case without its verb's prefix: "rebuilt" → "built"; as it is where no
    irregular form follows a prefix."""
    for prefix in _PREFIXES if form not in _OTHER_WORDS else ():
        rest = form.removeprefix(prefix)
        base = PASTS.get(rest) or (rest if rest in BARE_PASTS | BARE_PARTICIPLES else "")
        if rest != form and base and (prefix != "un" or base in _UNDONE):
            return rest
    return form


def verb_base(form: str) -> str:
    """The base of a verb's form in lower case: "ate" → "eat", "rebuilt" → "rebuild"; the form
    itself where none is known."""
    rest = without_prefix(form)
    prefix = form.removesuffix(rest)
    return prefix + ((PASTS if prefix else VERBS).get(rest) or rest)


NOUNS: dict[str, str] = {
    "children": "child",
    "feet": "foot",
    "geese": "goose",
    "halves": "half",
    "knives": "knife",
    "leaves": "leaf",
    "men": "man",
    "mice": "mouse",
    "shelves": "shelf",
    "teeth": "tooth",
    "thieves": "thief",
    "wives": "wife",
    "wolves": "wolf",
    "women": "woman",
}
"""The singular of each plural that Porter's stemmer keeps apart from it. "Lives" keeps to "live": a
short sentence's verb is easily taken for a noun, and who lives where is what memories are asked.
"""
