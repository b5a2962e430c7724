"""Words whose forms no stemmer brings together: "ate" and "eat", "died" and "die"."""

from __future__ import annotations

__all__ = ["NOUNS", "VERBS"]

VERBS: dict[str, str] = {
    form: base
    for base, forms in (
        line.split(": ")
        for line in """\
arise: arose arisen
become: became
begin: began begun
bend: bent
bite: bit bitten
bleed: bled
blow: blew blown
break: broke broken
bring: brought
build: built
burn: burnt
buy: bought
catch: caught
choose: chose chosen
cling: clung
come: came
creep: crept
deal: dealt
die: died dies dying
dig: dug
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
fly: flew flown
forget: forgot forgotten
forgive: forgave forgiven
free: freed
freeze: froze frozen
give: gave given
go: went gone goes
grow: grew grown
hang: hung
hear: heard
hide: hid hidden
hold: held
keep: kept
kneel: knelt
know: knew known
lead: led
learn: learnt
leave: left
lend: lent
lie: lied lies lying
light: lit
lose: lost
make: made
mean: meant
meet: met
mislead: misled
mistake: mistook mistaken
overcome: overcame
pay: paid
prove: proven
rebuild: rebuilt
ride: rode ridden
ring: rang rung
rise: rose risen
run: ran
say: said
see: saw seen
seek: sought
sell: sold
send: sent
sew: sewn
shake: shook shaken
shine: shone
shoot: shot
show: shown
shrink: shrank shrunk
sing: sang sung
sink: sank sunk
sit: sat
sleep: slept
speak: spoke spoken
speed: sped
spend: spent
spin: spun
spring: sprang sprung
stand: stood
steal: stole stolen
stick: stuck
sting: stung
strike: struck stricken
swear: swore sworn
sweep: swept
swim: swam swum
swing: swung
take: took taken
teach: taught
tear: tore torn
tell: told
think: thought
throw: threw thrown
tie: tied ties tying
undergo: underwent undergone
understand: understood
undertake: undertook undertaken
wake: woke woken
wear: wore worn
weave: wove woven
weep: wept
win: won
withdraw: withdrew withdrawn
write: wrote written""".splitlines()
    )
    for form in forms.split()
}
"""The base of each form of a verb that Porter's stemmer keeps apart from it. Left out is what is
as often another verb's base: lay, wound, bound, ground."""

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
