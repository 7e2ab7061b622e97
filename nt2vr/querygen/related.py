"""Related words: "sing" and "song", "cook" and "recipe". Deliberately broad, to exclude videos."""

from collections.abc import Collection
from functools import lru_cache

from nt2vr.language.wordlists import words

_GROUPS = tuple(
    words(line)
    for line in """
sing song singer rap rapper vocal perform performance concert band karaoke lyric music musical choir duet
play guitar guitarist instrument piano pianist drum drummer music musical musician band concert perform
play game gameplay gamer minecraft match sport
dance dancer ballet choreography routine perform performance
cook food recipe dish prepare ingredient meal kitchen fry boil bake stir chef cooking chop mix pot pan dough
make create build craft assemble prepare
cut chop slice peel dice knife
mix stir blend whisk pour add combine
drive driver ride race racing car vehicle truck steer road
run jog race sprint chase trot gallop runner
walk stroll hike wander ramp runway catwalk march stride enter
fight wrestle wrestler wrestling battle box boxing punch attack beat hit kick war fighter brawl grapple argue tackle
talk speak conversation chat discuss converse interview say tell debate speech conversate argue presentation \
lecture explain describe news report reporter introduce instruct present host narrate review demonstrate \
commentary commentate commentator instruction tutorial information tip
audition contest competition compete judge talent voice idol
laugh smile joke comedy comedian giggle funny fun
cry weep tear sad sob upset
kiss hug love embrace romance romantic cuddle couple
eat taste chew dine bite feed food meal lunch dinner
drink sip beer wine coffee
swim pool dive swimmer underwater ocean sea surf water
jump leap flip hop bounce stunt gymnast gymnastics
shoot gun fire rifle weapon pistol
write draw paint sketch artist pencil
watch look see stare view observe gaze
hold carry grab hand
sit seat chair sofa couch bench lap desk table
stand
phone text call mobile cell cellphone smartphone telephone message
sleep bed lie lay nap rest
throw toss pitch bowl shoot pass ball
wear dress shirt outfit clothes costume fashion
model fashion runway ramp ramp catwalk pose
fold origami paper
apply makeup cosmetic lipstick mascara eyeliner blush
ride bike bicycle motorcycle horse rider
teach tutorial demonstrate demo instruct instruction presentation lecture lesson
open unwrap unbox
fall crash tumble trip wreck
cheer clap applaud celebrate audience crowd
film record camera video videotape shoot
type keyboard computer laptop
score goal shoot win
fun enjoy party celebrate festive entertain joy
fall land drop dive
yell scream shout
rap sing song
protest march banner sign chant demonstrate rally
baby child infant toddler
""".strip().splitlines()
)
_MIN_CHARS = 4  # shortest stem to match: "guitar" in "guitarist", but not "car" in "card"


@lru_cache(10_000)  # Flickr8k's 40,460 captions need 3,605
def related(lemma: str) -> frozenset[str]:
    """Return `lemma` and the words that a caption may use instead."""
    return frozenset((lemma,)).union(*(group for group in _GROUPS if lemma in group))


def derived_from(lemma: str, vocabulary: Collection[str]) -> set[str]:
    """Return the words of `vocabulary` that start with `lemma`: "wrestle" finds "wrestler" and "wrestling"."""
    stem = lemma.removesuffix("e")
    return {word for word in vocabulary if word == lemma or (len(stem) >= _MIN_CHARS and word.startswith(stem))}
