"""The forms of irregular verbs: the base of a form ("ate" → "eat"), and which forms are past.

One table serves the stems of terms and the tenses. A prefix ("re", "over") makes another verb with
the same forms.
"""

from __future__ import annotations

__all__ = [
    "BARE_PARTICIPLES",
    "BARE_PASTS",
    "PASTS",
    "VERBS",
    "verb_base",
    "without_prefix",
]

_TABLE = """\
agree: agreed
arise: arose arisen
awake: awoke awoken
babysit: babysat
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
dwell: dwelt
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
forsake: forsook forsaken
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
knit: = =
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
plead: pled
proofread: = =
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
shear: shorn
shed: = =
shine: shone
shoot: shot
show: shown
shrink: shrank shrunk
shut: = =
sing: sang sung
sink: sank sunk
sit: sat
slay: slew slain
sleep: slept
slide: slid
sling: slung
slink: slunk
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
sublet: = =
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
"""A line a verb: base, past, participles. "=" stands for the base itself.

A form with "*" is past, but does not share its base's stem: it is often the base of another verb
("found"), or it is no term ("was").
"""

_LINES = tuple(
    (base, forms.split()) for base, forms in (line.split(": ") for line in _TABLE.split("\n"))
)

PASTS: dict[str, str] = {
    form.rstrip("*"): base for base, forms in _LINES for form in forms if form != "="
}
"""The base of each past form and participle that differs from its base."""

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
"""The base of each form that shares its base's stem in terms."""

BARE_PASTS = frozenset(base for base, forms in _LINES if forms[0] == "=")
"""Verbs whose past is their base: "put"."""

BARE_PARTICIPLES = frozenset(base for base, forms in _LINES if forms[-1] == "=")
"""Verbs whose participle is their base: "put", "come"."""

_BARE_FORMS = BARE_PASTS | BARE_PARTICIPLES

_PREFIXES = ("re", "over", "under", "out", "mis", "fore", "with", "inter", "up", "un")
_UNDONE = frozenset(("bend", "bind", "do", "freeze", "learn", "stick", "string", "weave", "wind"))
"""Verbs that "un" reverses. Before the participle of another verb "un" makes an adjective:
"unknown"."""
_OTHER_WORDS = frozenset(
    (
        *("foreground", "mislay", "outbound", "outlay", "overlay", "rebound", "relay", "relent"),
        *("relied", "resent", "underground", "underlay"),
    )
)
"""Words that look like a prefix and a form, but are not."""


def without_prefix(form: str) -> str:
    """A form in lower case without its verb's prefix: "rebuilt" → "built". The form itself if it is
    not a prefix and an irregular form."""
    for prefix in _PREFIXES:
        if form.startswith(prefix) and form not in _OTHER_WORDS:
            rest = form[len(prefix) :]
            base = PASTS.get(rest) or (rest if rest in _BARE_FORMS else "")
            if base and (prefix != "un" or base in _UNDONE):
                return rest
    return form


def verb_base(form: str) -> str:
    """The base of a verb's form in lower case: "ate" → "eat", "rebuilt" → "rebuild". The form
    itself if it is not irregular."""
    rest = without_prefix(form)
    prefix = form.removesuffix(rest)
    return prefix + ((PASTS if prefix else VERBS).get(rest) or rest)
