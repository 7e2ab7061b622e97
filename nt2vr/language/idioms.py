"""Words that look like a denial and deny nothing: idioms, counts, titles and signs."""

from nt2vr.language.phrases import Phrases
from nt2vr.language.tokens import VERB_TAGS
from nt2vr.language.wordlists import Runs, words

_DO_NOT = ("do n't", "do not", "does n't", "does not", "did n't", "did not")
_CAN_NOT = ("ca n't", "can not", "could n't", "could not")
_WILL_NOT = ("wo n't", "will not", "would n't", "would not")


def _runs(starts: tuple[str, ...], ends: str) -> set[str]:
    """Return every start followed by each of the ends, which commas separate."""
    return {f"{start} {end}" for start in starts for end in ends.split(", ")}


# "can't" is tokenized as "ca n't".
_IDIOMS = {
    *_runs(
        ("not", "n't"),
        "only, just, merely, far, simply, both, every, all, everyone, everybody, everything, each, always, "
        "necessarily, exactly, missing, lacking, absent, unlike, unusual, uncommon, impossible, bad, too bad, a bad, "
        "half bad, allowed sign, permitted sign, gonna lie, going to lie, kidding, rocket science, a problem, an "
        "issue, least, mention, surprisingly, get better, get any better, let go, see this every day, see that every "
        "day, safe for work, until, your average, your typical, your usual, your everyday, for the faint, "
        "required, necessary, needed, essential, mandatory, "
        "care which, care what, care how, care who, care where, care if, care whether, matter which, matter what, "
        "matter how, matter who, matter if, matter whether",
    ),
    *_runs(_DO_NOT, "mind, hesitate, disappoint, miss a beat, see that coming, see it coming, want to miss"),
    *_runs(
        ("do n't", "do not"),
        "miss, worry, panic, blink, forget, know, ask me, believe me, get me wrong, be shy, be fooled, be afraid, "
        "try this, tell anyone, judge, say no, cry for me, let me down, start now, cry for "
        "me, look back in anger, breathe, speak, worry be happy, worry darling, fear the reaper, you forget about "
        "me, dream it 's over, go breaking my heart",
    ),
    *_runs(
        _CAN_NOT,
        "stop, help, wait, beat, believe, resist, get enough, go wrong, get over, miss, hold us, touch this, "
        "describe, go back, be beat, be beaten, be serious, lose, not, complain, ask for more, ask for a better, be "
        "happier, live without, imagine life without, thank you enough, care less, agree more, be better, decide",
    ),
    *_runs(_WILL_NOT, "believe, regret, mind, be disappointed, want to miss, let you down, hurt, forget, say no, you"),
    *_runs(
        ("never",),
        "guess, seen such, seen a, seen an, seen anything, seen before, before seen, before, "
        "gonna, say never, ending, too late, gets old, get old, looked better, looked so, mind, forget, let "
        "me go, walk alone, been better, been a better, have i ever, been kissed, been so, been easier, been "
        "closer, been happier, back down, "
        "ever seen, too, looked back, thought, knew, rains but it pours, better, disappoints, misses a beat",
    ),
    *_runs(
        ("i have", "i 've", "you have", "you 've", "we 've", "we have", "have you"), "never seen, n't seen, not seen"
    ),
    *_runs(("have",), "n't seen a, n't seen such, n't you seen"),
    *_runs(
        ("no",),
        "filter, doubt, wonder, matter, tomorrow, denying, mistaking, hesitation, stopping, turning back, big deal, "
        "problem, problems, strings attached, pain no gain, question, way, kidding, joke, lie, offense, offence, "
        "worries, thanks, idea, brainer, sweat, biggie, rush, hard feelings, holds barred, contest, end, ordinary, "
        "small feat, mean feat, fuss, frills, nonsense, surprise, surprises, secret, chance, such thing, stranger "
        "to, use crying, use in, laughing matter, pun intended, need to say, need for speed, rest for, mercy, look "
        "pass, bake, knead, "
        "sew, place like home, regrets, shame, guts no glory, risk no reward, time to, time "
        "like, exceptions, two, sooner, hands bike, stone unturned, love lost, picnic, reservations, country "
        "for old men, "
        "way home, man 's sky, man 's land, scrubs, diggity, woman no cry, limits, filter challenge, looking "
        "back",
    ),
    *_runs(
        ("nothing",),
        "wrong with, wrong, beats, compares, compare, like, better, better than, more than, less than, to do with, "
        "can stop, can beat, can go wrong, could go wrong, could be, can be, will stop, could stop, but the best, "
        "else matters, special, to see "
        "here, says, to lose, to fear, to hide, short of, new, fancy, ever",
    ),
    *_runs(
        ("nobody", "no one", "noone"),
        "'s perfect, s perfect, likes, like, does it better, does it like, can stop, can beat, can match, can resist, "
        "can deny, can touch, could resist, could stop, could beat, does n't, is n't, did n't",
    ),
    *_runs(("all", "every", "none", "nothing"), "but one, but two"),
    *_runs(
        ("without", "without a"),
        "doubt, question, equal, limits, further ado, fail, hitch, parallel, rival, trace, delay, warning",
    ),
    *_runs(("sans",), "serif"),
    *_runs(("non", "non-"), "stop"),
    *_runs(("impossible", "hard", "difficult", "tough", "unable"), "not to"),
    *_runs(("no choice", "no option", "no alternative"), "but"),
    *_runs(
        ("is", "are", "was", "does", "do", "ca", "ai", "would", "could", "should", "did", "has", "have"),
        "n't it, n't he, n't she, n't they, n't you",
    ),
    *_runs(("a", "the"), "no, nobody, nothing, minus, zero, lacking"),
    *_runs(("zero",), "gravity, g, waste, to hero, hour, sum, day"),
    *_runs(("ground", "sub", "from", "patient"), "zero"),
    *_runs(("mr", "mr.", "captain"), "nobody, no"),
    *_runs(("minus",), "sign, one, two"),
    *_runs(("say", "says", "said", "saying", "reads", "reading"), "no to, do not, not to"),
    *_runs(("duty", "royalty", "hands", "toll", "care"), "-free"),
    *_runs(
        ("do n't", "do not"), "look up, stop believin, stop believing, stop me now, stop the music, stop the party"
    ),
    *_runs(("if you do", "if you 're", "if you are", "if it 's", "if it is"), "n't, not, n't mind"),
    *_runs(
        ("lost its", "lost their", "lost his", "lost her"),
        "way, minds, mind, game, match, balance, temper, grip, footing, control, job, life, lives, money, cool, voice",
    ),
    *(
        "free of charge, neither here nor there, not one but, skip to, why not, why do n't, whether or not, with or "
        "without, in no time, none other than, no other than, not to mention, last but not least, but not least, "
        "more often than not, believe it or not, like nobody, like no one, like no other, if not, or not, do n't "
        "fix, not a day goes by without, not a dry eye, never a dull moment, nothing stops, ai n't "
        "broke, ai n't no mountain high enough, ai n't no sunshine, ca n't get no satisfaction, ca n't take my eyes "
        "off, how can you not, how could you not, what 's not to, second to none, as if nobody, as if no one, now or "
        "never, all or nothing, for nothing, i did n't know, you never know, i never knew, she said no, he said no, "
        "says no, saying no, no shoes no service, ca n't buy me love, not like us, nothing compares 2 u, never "
        "been kissed, never have i seen, never have we seen, nobody wants this, it "
        "never rains, never mind, what not to wear, how not to, not another teen movie, not today, not again, not "
        "sure, not so fast, not to be missed, never absent, never lacking, missing link, dr no, dr. no, rebel "
        "without a cause"
    ).split(", "),
}
NO_NEGATION = Runs(_IDIOMS)

_SIGNS = words("sign signs signpost poster sticker symbol label signboard notice tape banner mat doormat fence")
_ZONES = words("zone zones area section lane")
_ON_SIGNS = words(
    "entry exit trespassing vacancy access turn u-turn left right pets dogs photos photography phones cameras food "
    "entrance littering stopping standing through outlet trucks"
)
_DENIES_SIGN = words("with has have having is are 's")  # a street with | no parking signs
_MAX_SIGN_WORDS = 4
_ASKING = words("show include want give have play find use like need see care")
_WORKS = words("trailer lyrics karaoke remix soundtrack movie film song cover challenge meme theme parody")
_OPENING = words("never do ca wo nobody nothing ai")  # titles that are clauses: never let me go trailer
_SMALL = words("a an the of to in for and on at")
_MIN_NAME = 2  # capitalised words after the cue


def length_of_sign(phrases: Phrases, i: int) -> int:
    """Return the number of words of "no smoking sign", "do not disturb sign" at word i; 0 if there is none."""
    order = phrases.word(i) == "do" and phrases.word(i + 1) in {"not", "n't"}
    if not order and (phrases.word(i) != "no" or phrases.word(i - 1) in _DENIES_SIGN):
        return 0
    start = i + 2 if order else i + 1
    fits = order or phrases.word(start).endswith("ing") or phrases.word(start) in _ON_SIGNS
    for j in range(start + 1, start + 1 + _MAX_SIGN_WORDS):
        if phrases.word(j) in _SIGNS or (phrases.word(j) in _ZONES and not order):
            return j + 1 - i if fits else 0
    return 0


def length_of_work(phrases: Phrases, i: int) -> int:
    """Return the length of a title that is the query: "never let me go trailer"; 0 if word i starts none."""
    start = i - (phrases.word(i) in {"not", "n't"})
    start -= phrases.tag(start - 1) == "PRON"  # we | don't talk about bruno karaoke
    opens = start == 0 and not _OPENING.isdisjoint(phrases.words[: i + 1])
    if not opens or phrases.words[-1] not in _WORKS or phrases.word(i + 1) in _ASKING:
        return 0
    return len(phrases.words) - i if phrases.tag(i + 1) in VERB_TAGS and len(phrases.words) > i + 2 else 0


def length_of_name(phrases: Phrases, i: int) -> int:
    """Return the number of words of a capitalised title from the cue at word i on: "No Way Home"; 0 if none."""
    texts = [token.text for token in phrases.tokens]
    start = i - 1 if phrases.word(i) == "n't" else i
    if not texts[start][0].isupper() or (texts[start].isupper() and len(texts[start]) > 1):
        return 0
    end = i + 1
    while end < len(texts) and (texts[end][0].isupper() or (texts[end] in _SMALL and texts[end + 1 : end + 2])):
        end += 1
    while end > i + 1 and not texts[end - 1][0].isupper():
        end -= 1
    if texts[i + 1 : i + 2] and phrases.word(i + 1) in _ASKING:
        return 0  # Don't Show Me cats
    capitalised = sum(text[0].isupper() for text in texts[i + 1 : end])
    in_sentence = start > 0 and phrases.tag(start - 1) != "PUNCT" and any(text[0].islower() for text in texts[:start])
    others = texts[:start] + texts[end:]
    if in_sentence:
        return end - i if capitalised else 0
    least = _MIN_NAME + (phrases.word(i) in {"no", "without"})
    if phrases.word(end) in _WORKS or phrases.word(end) == "by":
        least = 1  # Nowhere Boy trailer, Without Me by Eminem
    return end - i if capitalised >= least and any(text[0].islower() for text in others) else 0
