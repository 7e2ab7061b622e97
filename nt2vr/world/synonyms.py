"""Everyday words missing from the world's captions, with the closest caption words.

Synonyms ("kitty", cat), hypernyms ("policeman", man) and, if the world has no such word, its commonest examples
("vehicle", car or bus). Only phrases that `read_claim` understands: verdicts follow them.
"""

from functools import cache
from typing import Literal

from nt2vr.language.inflect import inflect, inflect_phrase
from nt2vr.world.vocabulary import ACCESSORIES, ACTIVITIES, PLACES, PROPS, SUBJECTS

_SHORT = 2  # letters of words not worth offering
_FORMS: tuple[Literal["VB", "VBZ", "VBG"], ...] = ("VB", "VBZ", "VBG")
_NOUNS = {  # word to read -> words that are read as it
    "person": "adult anybody anyone human people somebody someone grownup performer",
    "boy or girl": "baby child infant kid kiddo schoolchild teen teenager toddler tot youngster youth",
    "man": "actor bloke boyfriend businessman chap cowboy dad daddy dude father fellow fireman gentleman grandfather "
    "grandpa groom husband mister policeman salesman waiter",
    "woman": "actress bride businesswoman girlfriend grandma grandmother mom mommy mother mum policewoman "
    "waitress wife",
    "boy": "lad schoolboy son",
    "girl": "daughter lass schoolgirl",
    "dog or cat": "animal beast creature mammal",
    "dog or cat or rabbit": "pet",
    "dog": "beagle bulldog canine collie corgi dachshund dalmatian doggie doggy hound husky labrador mutt pooch "
    "poodle pug pup retriever spaniel terrier",
    "cat": "feline kitty pussycat tabby tomcat",
    "duck": "duckling mallard",
    "cow": "bull calf cattle heifer ox",
    "rabbit": "hare",
    "monkey": "ape baboon chimp chimpanzee gorilla",
    "pig": "boar hog sow swine",
    "horse": "foal mare pony stallion",
    "car or bus": "vehicle",
    "car": "automobile cab convertible jeep limousine sedan taxi",
    "bus": "minibus",
    "motorbike": "moped",
    "train": "locomotive",
    "plane": "aeroplane airliner jet",
    "plane or helicopter": "aircraft",
    "helicopter": "chopper",
    "bike": "cycle",
    "guitar or piano": "instrument music",
    "saxophone": "sax",
    "drum": "bongo drumset",
    "trumpet": "bugle",
    "burger": "cheeseburger",
    "ice cream": "gelato sundae",
    "coffee": "cappuccino espresso latte",
    "phone": "cellphone iphone mobile smartphone telephone",
    "laptop": "macbook pc",
    "book": "novel",
    "camera": "camcorder",
    "photo": "photograph selfie snapshot",
    "picture": "portrait",
    "umbrella": "brolly parasol",
    "sword": "saber sabre rapier",
    "soccer": "football",
    "weights": "dumbbell",
    "cake": "cupcake gateau",
    "flower": "blossom bouquet daisy lily rose tulip",
    "fire": "bonfire fireplace flame",
    "tent": "teepee tepee",
    "teddy ": "plush",
    "chair": "armchair seat stool",
    "potted plant": "houseplant shrub",
    "trophy": "award prize",
    "bucket": "pail",
    "mushroom": "toadstool",
    "suitcase": "baggage luggage",
    "sun": "sunlight sunshine",
    "crown": "diadem tiara",
    "sunglasses": "eyeglasses shades spectacles",
    "cap": "beanie",
    "beach": "coast coastline ocean sea seashore shore",
    "city": "downtown town",
    "street": "alley avenue boulevard highway road sidewalk",
    "snow": "blizzard",
    "mountain": "alps hill peak slope",
    "living room": "lounge parlor",
    "home": "apartment house",
    "desert": "dune sahara",
    "lake": "pond",
    "farm": "barnyard farmland ranch",
    "forest": "jungle rainforest woodland",
    "person singing": "singer vocalist",
    "person dancing": "ballerina dancer",
    "person running": "jogger runner sprinter",
    "person reading": "reader",
    "person playing the guitar": "guitarist",
    "person playing the violin": "fiddler violinist",
    "person playing the trumpet": "trumpeter",
    "person playing the saxophone": "saxophonist",
    "person playing the drum": "drummer percussionist",
    "person playing the piano": "pianist",
    "person playing the accordion": "accordionist",
    "person riding a bike": "bicyclist biker cyclist",
    "person riding a skateboard": "skateboarder",
    "person riding a horse": "horseman jockey",
    "person skiing": "skier",
    "person snowboarding": "snowboarder",
    "person surfing": "surfer",
    "person swimming": "swimmer",
    "person juggling": "juggler",
    "person lifting weights": "bodybuilder weightlifter",
    "person playing golf": "golfer",
    "person playing soccer": "footballer",
    "person shooting an arrow": "archer",
    "person cooking": "chef",
    "person painting": "painter",
    "person taking a photo": "photographer",
    "person fishing": "angler fisherman",
}
_VERBS = {
    "run": "jog sprint",
    "sleep": "doze slumber snooze",
    "eat": "chew devour dine munch",
    "drink": "sip",
    "cook": "bake grill",
    "sing": "croon vocalize",
    "dance": "tango twirl waltz",
    "ride a bike": "cycle pedal",
    "ride a skateboard": "skate",
    "take a photo of": "photograph",
    "paint": "draw sketch",
}


def offered_words() -> list[str]:
    """Return the words of the captions for people to choose from, verbs in their -ing form, in alphabetical order."""
    things = [word for table in (SUBJECTS, ACCESSORIES, PROPS) for each in table.values() for word in each.words]
    doing = [inflect_phrase(phrase, "VBG") for each in ACTIVITIES.values() for phrase in each.phrases]
    places = [phrase for each in PLACES.values() for phrase in each.phrases]
    return sorted({word for phrase in (*things, *doing, *places) for word in phrase.split() if len(word) > _SHORT})


@cache
def synonyms() -> dict[str, str]:
    """Map words to words of the world's captions; verbs in their present forms, nouns in the singular."""
    found = {word: phrase for phrase, words in _NOUNS.items() for word in words.split()}
    for phrase, words in _VERBS.items():
        for verb in words.split():
            for form in _FORMS:
                found.setdefault(inflect(verb, form), inflect_phrase(phrase, form))
    return found
