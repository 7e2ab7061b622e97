"""Negation cues of a sentence and their scopes, as word positions.

Rules, applied to tagged words and phrases (`phrases`):

1. A cue ("not", "without", "instead of" …) negates the phrase after it: a verb with its objects, a
   noun, a place or a quality. Cues with nothing after them are ignored, and so are those in idioms
   ("not only").
2. Lists share a cue: "not wine or beer". A verb with objects of its own after "and" is wanted
   again: "not running around and playing a guitar" (nT2VR, Table 6).
3. A place at the end of a negated phrase stays wanted if the query otherwise wants only a subject:
   "a man is not dancing on the beach". If it wants more (A and not B), or the verb requires its
   place, the place is unwanted too.
4. Modifiers of a negated noun belong to it if it names actors in general, otherwise to the rest of
   the sentence: "a beach without people swimming", but "a woman without a hat dancing".
5. A cue that only says "not in the picture" denies the thing before it: "a cat is not visible".
6. An exception from a denial is wanted, and the denial is taken back.
7. What is denied after a comma or a conjunction reaches to the next one: "a river, no boats passing
   under a bridge". A deed after "and not" is of both: "a man and not a woman playing".
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from nt2vr.negation.parse.cues import LESS, Cues, cues, denied_by_nobody
from nt2vr.negation.parse.editing import Editing
from nt2vr.negation.parse.phrases import Phrase, Phrases
from nt2vr.negation.parse.tokens import FINITE_TAGS, VERB_TAGS
from nt2vr.negation.parse.wanted import CueKind, Negation, WantedFinder
from nt2vr.negation.parse.wordlists import listed, words

Status = Literal["unwanted", "wanted", "none"]


_WATCHING, _US = (
    words("see watch hear want need like"),
    words("me us"),
)  # don't want to see, don't show me


class Denials:
    """Finds what the cues of one sentence deny: after them, before them (absence), and all but an exception."""

    def __init__(self, phrases: Phrases) -> None:
        self.phrases = phrases

    def first(self, kind: CueKind, cue: int, after_cue: int) -> Phrase | None:
        """Return the phrase that a cue denies; it is the cue itself for "nobody" without a verb."""
        phrases = self.phrases
        if kind == "minus":
            return Phrase("noun", after_cue, after_cue + 1, after_cue + 1, after_cue)
        i = self._skip_helpers(kind, after_cue)
        if kind == "nobody":
            does = phrases.verb_phrase(i) and self.phrases.after_tail(after_cue) == after_cue
            is_there = phrases.word(cue) == "none" and (
                i > after_cue or phrases.place_phrase(i)
            )  # none of them | men
            found = phrases.any_phrase(self._after_sign(i)) if does or is_there else None
            return found or Phrase("noun", cue, after_cue, after_cue, cue)
        i = self._after_sign(i)
        i += (
            kind == "not" and phrases.word(i) in listed("shown") and phrases.tag(i + 1) == "VBG"
        )  # not shown | eating
        found = (phrases.noun_phrase(i) if kind in {"no", "order"} else None) or phrases.any_phrase(
            i
        )
        if found and found.kind == "noun" and kind in {"no", "without", "order"}:
            last = found.end - 1
            if found.start < last and phrases.after_predicate(last) > last:  # no person | present
                found = replace(found, end=last, core=last, head=last - 1)
        return found and self._specified(found)

    def _specified(self, found: Phrase) -> Phrase:
        """Add the quality to something vague: "leave out anything | indoors", "don't give me anything | animated"."""
        phrases, end = self.phrases, found.end
        is_vague = phrases.word(end - 1) in listed("anything") and phrases.after_tail(end) == end
        quality = phrases.quality(end) if is_vague else None
        return replace(found, end=quality.end, core=quality.end) if quality else found

    def shown(self, verb: Phrase, cue: int) -> Phrase:
        """Return what is denied to be shown: "does not include | a dog"; any other phrase as it is."""
        phrases, last = self.phrases, verb.end - 1
        if verb.kind != "verb":
            return verb
        depicts = phrases.lemma(verb.head) in listed("depicting")
        asks = (
            phrases.lemma(last) in _WATCHING
            or phrases.word(last) in _US
            or (depicts and verb.head == last)
        )
        if asks and phrases.tag(verb.end) == "VBG" and (deed := phrases.verb_phrase(verb.end)):
            return deed  # does not feature | frying, don't want to see | playing
        if verb.object is None or phrases.word(verb.head) not in listed("showing"):
            return verb
        noun = phrases.noun_phrase(verb.object + (phrases.word(verb.object) in _US))
        means_picture = depicts or self.phrases.says_nothing(phrases.clause_start(cue), cue)
        if noun is None or not means_picture:
            return verb
        is_named = phrases.tag(noun.start) != "PRON" or phrases.word(noun.start) in listed("actors")
        return self._specified(noun) if is_named else verb

    def _after_sign(self, i: int) -> int:
        j = i
        while self.phrases.word(j) in listed("vague_articles"):
            j += 1
        return (
            j + 2
            if self.phrases.word(j) in listed("signs") and self.phrases.word(j + 1) in {"of", "for"}
            else i
        )

    def _skip_helpers(self, kind: CueKind, i: int) -> int:
        phrases = self.phrases
        if phrases.word(i) == "of" and (group := phrases.noun_phrase(i + 1)):  # none of them
            i = group.end
        elif phrases.word(i) == "of" and phrases.tag(i + 1) == "WH":  # none of whom
            i += 2
        while (
            (kind == "nobody" and phrases.tag(i) == "WH")
            or (phrases.is_auxiliary(i) and not phrases.verb_phrase(i))
            or phrases.word(i) in {"gonna", "wanna"}
            or (
                phrases.word(i) in {"really", "actually", "exactly", "quite"}
                and phrases.tag(i + 1) == "DET"
            )
        ):
            i += 1
        return i

    def with_modifiers(self, noun: Phrase, kind: CueKind, wanted_before: bool) -> Phrase:
        """Rule 4: extend a noun that can act by the verbs, places and relative clauses after it."""
        phrases, end, core = self.phrases, noun.end, 0
        relative = (
            phrases.tag(noun.start - 2) == "WH" and phrases.tag(end) in FINITE_TAGS
        )  # where no planes | land
        takes_finite = kind == "no" and (relative or not wanted_before)
        takes_any = takes_finite or not wanted_before or self._acts(noun, kind)
        while takes_any and not self._closes(end, kind):
            if (place := phrases.place_phrase(end)) and self.after_filler(end) == end:
                core = core or (end if self.sets_scene(place, kind) else 0)
                end = place.end
            elif verb := self._modifying_verb(end, takes_finite):
                core = core or (verb.core if verb.core < verb.end else 0)
                end = verb.end
            else:
                break
        vague = phrases.word(noun.head) in listed("anything")  # everything shot | at night
        return replace(noun, end=end, core=end if vague else core or end)

    def _acts(self, noun: Phrase, kind: CueKind) -> bool:
        """Return whether a denied noun is of somebody who may act: "people", but not "the people"."""
        phrases = self.phrases
        if kind == "nobody" or self._says_which(noun, kind):
            return True
        generic = (
            kind == "without"
            or phrases.tag(noun.start) != "DET"
            or phrases.word(noun.start) == "any"
        )
        return generic and phrases.is_actor(noun) and self._denies_all(noun, kind)

    def _says_which(self, noun: Phrase, kind: CueKind) -> bool:
        """Return whether modifiers are of no other noun: "the ones | made of glass", "without the alarm | ringing"."""
        phrases, head = self.phrases, self.phrases.word(noun.head)
        is_clause = phrases.word(noun.start) == "the" or (
            noun.end == noun.start + 1 and head[-1] != "s"
        )
        is_clause &= kind == "without" and phrases.lemma(noun.start - 2) not in listed("actors")
        ends = phrases.tag(noun.end) in {"VBN", "VBD"} and phrases.tag(noun.end + 1) in {
            "",
            "PUNCT",
            "CONJ",
        }
        return (
            head in {"one", "ones", "those"}
            or head.endswith("ing")
            or is_clause
            or (ends and kind == "no")
        )

    def _denies_all(self, noun: Phrase, kind: CueKind) -> bool:
        if kind in {"no", "without"}:  # but not: a bike without a rider | leaning
            return kind == "no" or self.phrases.lemma(noun.start - 2) not in listed("actors")
        before = self.phrases.words[max(0, noun.start - 3) : noun.start]
        excepts = any(
            cues().get(" ".join(before[first:])) == "except" for first in range(len(before))
        )
        shows = before[:1] == ["there"] or not (listed("showing") | _US).isdisjoint(
            before[-1:]
        )  # don't show | kids
        return excepts or shows

    def _closes(self, i: int, kind: CueKind) -> bool:
        """Return whether no modifier may start at word i: "present", another "without"."""
        other = cues().get(self.phrases.word(i)) == "without"  # w/o people | w/o huts
        return (
            other
            or self.phrases.after_tail(i) > i
            or (kind == "order" and self.phrases.word(i) == "from")
        )

    def sets_scene(self, place: Phrase, kind: CueKind) -> bool:
        """Return whether a place may be wanted though what is there is not: "nobody sits on | the bench"."""
        phrases = self.phrases
        if phrases.is_setting(place):
            return True
        definite = place.object is not None and phrases.word(place.object) in {
            "the",
            "a",
            "an",
            "this",
        }
        return (
            kind in {"no", "nobody"} and definite and phrases.word(place.start) in listed("scenes")
        )

    def _modifying_verb(self, i: int, takes_finite: bool) -> Phrase | None:
        """Return "swimming", "dressed in red" or "who swim" at word i, and "swim" if `takes_finite`."""
        phrases = self.phrases
        clause = i + 1 if phrases.tag(i) == "WH" else i
        is_finite = phrases.tag(clause) in FINITE_TAGS
        if phrases.tag(clause) in {"VBG", "VBN"} or (is_finite and (clause > i or takes_finite)):
            return phrases.verb_phrase(clause)
        return None

    def after_filler(self, i: int) -> int:
        """Return the end of "in sight", "is visible in this image" or the "on" of "no shirt on" at word i."""
        phrases = self.phrases
        ends_on = phrases.word(i) == "on" and (
            phrases.tag(i + 1) == "VBG" or not phrases.place_phrase(i)
        )
        return max(phrases.after_tail(i), i + ends_on)

    def items(self, first: Phrase, kind: CueKind, wanted_before: bool) -> list[Phrase]:
        """Return the list items that share the cue of `first`, the first one."""
        items, pending, j = [first], list[Phrase](), first.end
        while following := self._following(first, kind, j):
            item, conjunction = following
            pending.append(item)
            j = item.end
            if conjunction:
                items, pending = items + pending, []
        closes = self.phrases.tag(j) in {
            "",
            "PUNCT",
            "CONJ",
            "ADP",
        }  # not: without snow, farmers | plough
        short = closes and all(item.end - item.start == 1 for item in pending)
        # no dogs, cats, birds; neither dogs, cats nor; but: no dogs, | cats
        cue = self.phrases.word(first.start - 1)
        orders = (
            cue != "no" and cue in listed("denying_things") and first.end == first.start + 1
        )  # avoid rain, snow
        is_run = any((wanted_before, len(pending) > 1, orders, self.phrases.word(j) == "nor"))
        return items + pending if first.kind == "noun" and is_run and short else items

    def _following(self, first: Phrase, kind: CueKind, i: int) -> tuple[Phrase, str] | None:
        k = i + (self.phrases.word(i) == ",")
        conjunction = self.phrases.word(k) if self.phrases.word(k) in {"and", "or"} else ""
        k += bool(conjunction)
        new_deed = (
            first.kind == "verb" and k == i + 2 and conjunction == "and"
        )  # adds no milk, and | hands
        item = (
            self._item(first, k)
            if k > i and self.phrases.word(k) != "no" and not new_deed
            else None
        )
        return (
            (item, conjunction) if item and self._shares(first, item, conjunction, kind) else None
        )

    def _item(self, first: Phrase, i: int) -> Phrase | None:
        phrases = self.phrases
        finders = {
            "verb": phrases.verb_phrase,
            "noun": phrases.noun_phrase,
            "place": phrases.place_phrase,
        }
        item = finders.get(first.kind, phrases.quality)(i)
        if (
            item is None
            and first.kind == "noun"
            and phrases.tag(i) == "VBG"
            and phrases.word(i - 1) == "or"
        ):
            item = phrases.verb_phrase(i)  # no straps or | padding
            item = item and replace(item, kind="noun")
        if item is None and (first.object is not None or first.end == first.start + 1):
            item = phrases.noun_phrase(
                i
            )  # playing the guitar or | the piano; without icing or | sprinkles
        return item

    def _shares(self, first: Phrase, item: Phrase, conjunction: str, kind: CueKind) -> bool:
        phrases, tag = self.phrases, self.phrases.tag(item.start)
        if item.kind == "verb":
            bare = first.end - first.start == 1 == item.end - item.start
            return phrases.tag(first.head) == phrases.tag(item.head) and (
                conjunction != "and" or bare
            )
        acts = phrases.tag(item.end) in FINITE_TAGS and (tag == "DET" or phrases.is_actor(item))
        if any((acts, tag == "PRON", phrases.word(item.end) in {"with", "without", "who"})):
            return False  # a new clause; without horns and | a bull with horns
        if (conjunction, tag) != ("and", "DET"):
            return True
        return kind != "no" and phrases.is_actor(item) == (
            first.kind == "noun" and phrases.is_actor(first)
        )

    def find(self, kind: CueKind, cue: int, after_cue: int, first: int) -> Negation | None:
        """Return a negation whose cue comes after what it denies, or names it; `first`: the words before are taken."""
        match kind:
            case "less":
                item = Phrase("noun", cue, after_cue, after_cue, cue)
                return Negation(
                    kind,
                    cue,
                    after_cue,
                    (item,),
                    cue,
                    after_cue,
                    thing=LESS[self.phrases.word(cue)],
                )
            case "free":
                return self._free(cue, first)
            case "absent":
                return self._absent(cue, after_cue, first)
            case "double":
                said = self.phrases.words[max(0, cue - 1) : after_cue]
                link = " " if {"with", "without", "of", "lacking"}.isdisjoint(said) else " with "
                return Negation(kind, cue, after_cue, (), cue, after_cue, link=link)
            case "not":
                return self._not_present(cue, after_cue, first)
        return None

    def _not_present(self, cue: int, after_cue: int, first: int) -> Negation | None:
        """Return "a cat is not visible", "while a truck is not", "with his face not visible"."""
        end = self.phrases.after_predicate(after_cue)
        after = after_cue + (
            end == after_cue and self.phrases.word(after_cue) in {"on", "in"}
        )  # lights are not | on
        is_said = self.phrases.lemma(cue - 1) == "be" or (
            after > after_cue and self.phrases.tag(cue - 2) == "PUNCT"
        )
        is_elliptic = self.phrases.tag(after) in {"", "PUNCT"} and is_said
        if end == after_cue and not is_elliptic:
            return None
        part = (
            self._with_missing(cue, end, first) if self._before_helpers(cue, first) == cue else None
        )
        return part or self._denied(
            "not", cue, after_cue, self._subject(cue, first), max(after, end)
        )

    def _denied(
        self, kind: CueKind, cue: int, after_cue: int, subject: Phrase | None, end: int
    ) -> Negation | None:
        if subject is None:
            return None
        return Negation(
            kind, cue, after_cue, (subject,), min(subject.start, cue), max(subject.end, end)
        )

    def _free(self, cue: int, first: int) -> Negation | None:
        phrases, start, end = self.phrases, cue, cue + 1
        while start > first and (
            phrases.tag(start - 1) in {"NOUN", "OTHER", "NUM"}
            or phrases.word(start - 1).endswith("ing")
        ):
            start -= 1
        if start == cue:
            return None
        item, excluded = Phrase("noun", start, cue, cue, cue - 1), start
        if phrases.word(end) in listed("frames"):  # in a | car-free scene
            end += 1
            excluded = max(first, phrases.before(start, {"DET", "ADP"}))
        return Negation("free", cue, cue + 1, (item,), excluded, end)

    def _absent(self, cue: int, after_cue: int, first: int) -> Negation | None:
        """Return "a chair is absent", "absent is a chair" or "is missing a chair"."""
        phrases, word, after = (
            self.phrases,
            self.phrases.word(cue),
            self.phrases.after_frame(after_cue),
        )
        if phrases.tag(cue - 1) == "DET":
            return None  # a missing slice
        linked = self._before_helpers(cue, first) < cue
        start, i = max(first, phrases.before(cue, {"ADV"})), after
        while phrases.is_auxiliary(i) or phrases.word(i) in {":", "of"}:
            i += 1
        lost = phrases.noun_phrase(after)  # a man missing | a tooth
        loses = lost is not None and phrases.word(lost.head) in listed("may_be_lost")
        lacks = word == "missing" and (linked or loses)
        inverted = i > after or lacks or phrases.tag(start - 1) in {"", "PUNCT", "CONJ"}
        if inverted and (item := phrases.noun_phrase(i)):
            return Negation(
                "absent", cue, after_cue, (item,), start, self.phrases.after_tail(item.end)
            )
        if linked:
            applies = word != "removed"  # the deed: a tree is removed
        elif left := self._with_missing(cue, after_cue, first):
            return left
        else:
            applies = word == "absent" or self._is_remark(cue, after_cue, first)
        subject = self._subject(cue, first) if applies else None
        return self._denied("absent", cue, after_cue, subject, self.phrases.after_tail(after_cue))

    def _is_remark(self, cue: int, after_cue: int, first: int) -> bool:
        """Return whether "a boy runs, hat missing" says so; not "dog missing, please help"."""
        word = self.phrases.word(cue)
        if word == "missing" and self.phrases.word(after_cue) == "from":
            return True
        phrases, start = self.phrases, self._clause_start(cue, first)
        is_noun = (noun := phrases.noun_phrase(start)) is not None and noun.end == cue
        is_noun |= cue == start + 1 and phrases.tag(start) in {
            "VB",
            "VBP",
            "VBG",
        }  # crochet excluded
        stands_alone = phrases.tag(start - 1) in {"", "PUNCT", "CONJ"} and phrases.tag(
            after_cue
        ) in {"", "PUNCT"}
        return is_noun and stands_alone and (word in listed("afterthoughts") or start > 0)

    def _with_missing(self, cue: int, after_cue: int, first: int) -> Negation | None:
        """Return "with the drummer missing", "has a string missing"."""
        phrases = self.phrases
        i = max(first, phrases.before(cue, {"DET", "NOUN", "ADJ", "NUM", "POS"}))
        noun = phrases.noun_phrase(i)
        is_thing = (
            noun is not None
            and noun.end == cue
            and phrases.lemma(noun.head) not in listed("parts_of_wholes")
        )
        has_part = phrases.word(cue) == "missing" and phrases.noun_phrase(after_cue) is not None
        if (
            phrases.word(i - 1) not in {"with", "has", "have", "had"}
            or noun is None
            or not is_thing
            or has_part
        ):
            return None
        return Negation(
            "absent", cue, after_cue, (noun,), i - 1, self.phrases.after_tail(after_cue)
        )

    def _subject(self, predicate: int, first: int) -> Phrase | None:
        """Return the thing before the predicate that starts at word `predicate`; words before `first` are taken."""
        end = self._before_helpers(predicate, first)
        start = self._clause_start(end, first)
        start = max(self.phrases.after_frame(start), start)
        is_pronoun = end == start + 1 and self.phrases.tag(start) == "PRON"
        if start >= end or is_pronoun or self.phrases.says_nothing(start, end):
            return None
        return Phrase("noun", start, end, end, end - 1)

    def _before_helpers(self, i: int, first: int) -> int:
        phrases = self.phrases
        while i > first and (phrases.is_auxiliary(i - 1) or phrases.tag(i - 1) in {"ADV", "TO"}):
            i -= 1
        return i

    def _clause_start(self, end: int, first: int) -> int:
        i = end
        while i > first and not self._ends_clause(i - 1, end):
            i -= 1
        return i

    def _ends_clause(self, i: int, end: int) -> bool:
        phrases = self.phrases
        if phrases.tag(i) == "PUNCT" or phrases.word(i) in listed("clause_words"):
            return True
        return phrases.tag(i) in FINITE_TAGS and not (phrases.tag(i - 1) == "DET" or i + 1 == end)

    def status(self, cue: int, after_cue: int, found: Sequence[Negation]) -> Status:
        """Return whether the thing after the cue is unwanted, wanted, or the cue is no exception at all."""
        phrases = self.phrases
        if phrases.tag(after_cue) in {"", "PUNCT"} or phrases.word(after_cue) in listed("denials"):
            return "none"
        clause = self._exception_start(cue)
        denied = self._denial(cue, clause, found) is not None
        weak = phrases.word(cue) in listed("weak") and after_cue == cue + 1
        if clause == cue:
            first = phrases.noun_phrase(after_cue)
            besides = (
                phrases.word(cue) == "besides"
                and first is not None
                and phrases.word(first.end) == ","
            )
            denying = listed("denials", "hardly_any", "bare").intersection(
                phrases.words[after_cue:]
            )
            return "none" if weak and not besides else "wanted" if denying else "unwanted"
        universal = next(
            (i for i in range(cue - 1, clause - 1, -1) if phrases.word(i) in listed("universal")),
            cue,
        )
        acts = any(
            phrases.tag(i) in {"PUNCT", "MD", "VB", *FINITE_TAGS} for i in range(universal + 1, cue)
        )
        if weak and (universal == cue or acts) and not (denied and self._is_excepted(cue, found)):
            return "none"  # "every animal | but" excepts; not: all sing | but
        is_kind = universal < cue and phrases.word(universal) not in listed("entities")
        denied = denied or bool(listed("bare").intersection(phrases.words[clause:cue]))
        return "wanted" if denied and not is_kind else "unwanted"

    def excepted(self, cue: int, after_cue: int, found: list[Negation]) -> list[Negation]:
        """Return the negations without the denial from which the exception is made: "no pets except | a dog"."""
        phrases = self.phrases
        denial = self._denial(cue, self._exception_start(cue), found)
        if denial is None:
            link = " with " if phrases.word(cue - 1) == "with" else ", "
            # an empty room except for a chair
            rest = ("anything",) if cue else ()
            return [
                *found,
                Negation("except", cue, after_cue, (), cue, after_cue, link=link, others=rest),
            ]
        item, last = denial.items[0], denial.items[-1]
        named = [
            " ".join(phrases.words[max(i.start, denial.after_cue) : min(i.core, cue)])
            for i in denial.items
        ]
        taken = replace(
            denial, items=(), verb=None, others=tuple(filter(None, (denial.thing, *named)))
        )
        link = (
            " with " if denial.kind == "without" or phrases.word(denial.cue - 1) == "with" else " "
        )
        if item.kind == "verb":  # doesn't | wear | anything except | a hat
            start = item.object if item.object is not None and item.object < cue else cue
            taken = replace(taken, end=max(item.start, denial.after_cue), link=link)
            return [
                *found[:-1],
                taken,
                Negation("except", cue, after_cue, (), start, after_cue, link=" "),
            ]
        taken = replace(taken, end=max(min(last.core, cue), denial.after_cue), link="")
        return [
            *found[:-1],
            taken,
            Negation("except", cue, after_cue, (), cue, after_cue, link=link),
        ]

    def _denial(self, cue: int, clause: int, found: Sequence[Negation]) -> Negation | None:
        last = found[-1] if found else None
        if last is None or last.kind not in {"no", "not", "without", "nobody"} or not last.items:
            return None
        return last if clause <= last.cue and last.after_cue <= cue else None

    def _is_excepted(self, cue: int, found: Sequence[Negation]) -> bool:
        """Return whether "but" after a denial makes an exception: "no one on it but", and not "no dog but"."""
        last, phrases = found[-1], self.phrases
        follows = phrases.noun_phrase(cue + 1) or phrases.quality(cue + 1)
        kinds = listed("entities", "kinds").intersection(phrases.words[last.after_cue : cue])
        ends = follows is not None and phrases.tag(follows.end) in {"", "PUNCT", "ADP"}
        excepts = ends and phrases.word(cue - 1) != "," and (bool(kinds) or last.kind == "nobody")
        return excepts or (last.kind == "nobody" and last.after_cue == cue)

    def _exception_start(self, cue: int) -> int:
        """Return the first word of the clause; a comma right before the exception is inside."""
        i = cue - (self.phrases.word(cue - 1) == ",")
        while self.phrases.tag(i - 1) not in {"", "PUNCT"}:
            i -= 1
        return cue if self.phrases.word(i) == "," else i


_FORWARD = frozenset({"not", "no", "without", "order", "nobody", "minus"})
_ABSENCES = words("absence lack shortage")


class ScopeFinder:
    """Finds the negations in one tagged sentence, and the wanted stretches around them."""

    def __init__(self, phrases: Phrases, editing: bool = False, typed: bool = False) -> None:
        """Prepare to search a sentence, for words of `editing`, too; in a `typed` one every cue denies something."""
        self.phrases, self.num_words, self._typed = phrases, len(phrases.tokens), typed
        self._edits = {edit.start: edit for edit in Editing(phrases).edits()} if editing else {}
        self._cues = Cues(phrases, self._edits)
        self._denials = Denials(phrases)
        self.wanted = WantedFinder(phrases)

    def negations(self) -> list[Negation]:
        found: list[Negation] = []
        for kind, cue, after_cue in self._cues.found():
            found = self._with(found, kind, cue, after_cue)
        found = [self._without_setting(negation, found) for negation in found]
        return [self.wanted.without_rest(negation, found) for negation in found]

    def _with(
        self, found: list[Negation], kind: CueKind, cue: int, after_cue: int
    ) -> list[Negation]:
        first = found[-1].end if found else 0
        if kind == "edit":
            return [*found, self._edits[cue]] if cue >= first else found
        if kind == "except" and (not found or cue >= found[-1].after_cue):
            status = self._denials.status(cue, after_cue, found)
            if status != "unwanted":
                return (
                    self._denials.excepted(cue, after_cue, found) if status == "wanted" else found
                )
            kind = "not"
        if cue < first or (kind == "order" and not self.phrases.starts_clause(cue)):
            return found
        if backward := self._denials.find(kind, cue, after_cue, first):
            return [*found, backward]
        if kind not in _FORWARD:
            return found
        before = self.wanted.words(found, cue)
        negation = self._nothing_else(kind, cue, after_cue) or self._negation(
            kind, cue, after_cue, bool(before)
        )
        if negation is None:
            return found
        return [
            *found,
            self._to_clause_end(negation, self.wanted.acts(before)) if negation.items else negation,
        ]

    def _negation(
        self, kind: CueKind, cue: int, after_cue: int, wanted_before: bool
    ) -> Negation | None:
        phrases = self.phrases
        first = self._first(kind, cue, after_cue)
        if first is None:
            return None
        alone = kind == "minus" or (kind == "nobody" and first.kind != "verb")
        if first.kind == "noun" and kind != "minus":
            first = self._denials.with_modifiers(first, kind, wanted_before)
            noun = phrases.noun_phrase(first.start)
            alone = alone or (noun is not None and first.end > noun.end)
        described = (
            kind == "not" and phrases.tag(cue - 1) == "PUNCT" and phrases.tag(cue - 2) == "ADJ"
        )
        items = [first] if alone or described else self._denials.items(first, kind, wanted_before)
        items = (
            [self._alone(part) for item in items for part in self._each(item)]
            if self._typed
            else items
        )
        thing = (
            denied_by_nobody()[" ".join(phrases.words[cue:after_cue])]
            if first.start < after_cue
            else ""
        )
        start, end = self._start(cue), self._denials.after_filler(items[-1].end)
        holds = self._holds(kind, cue, after_cue, first)
        return Negation(
            kind,
            cue,
            after_cue,
            tuple(items),
            start - holds,
            end,
            start - 1 if holds else None,
            thing,
        )

    def _alone(self, item: Phrase) -> Phrase:
        """Cut off the place of a deed with somebody who does something else: "isn't kneeling | beside a king who"."""
        phrases, end = self.phrases, item.end
        places = filter(
            None,
            map(phrases.place_phrase, range(item.head + 1, end) if item.kind == "verb" else ()),
        )
        place = next(
            (place for place in places if place.end == end and phrases.tag(end) == "WH"), None
        )
        return replace(item, end=place.start, core=place.start) if place else item

    def _each(self, item: Phrase) -> list[Phrase]:
        """Split a list that lacks its commas: "no | taxis | buses"."""
        many = list(filter(self._is_plural, range(item.start, item.core)))
        starts = [item.start, *(i for i in many if i - 1 in many and item.kind == "noun")]
        ends = [*starts[1:], item.core]
        parts = [
            replace(item, start=i, end=j, core=j, head=j - 1)
            for i, j in zip(starts, ends, strict=True)
        ]
        return [*parts[:-1], replace(item, start=starts[-1])]

    def _is_plural(self, i: int) -> bool:
        word = self.phrases.word(i)
        is_noun = self.phrases.tag(i) == "NOUN" and word not in listed("plural_first")
        return is_noun and word.endswith("s") and self.phrases.lemma(i) != word

    def _first(self, kind: CueKind, cue: int, after_cue: int) -> Phrase | None:
        phrases, quality = self.phrases, self.phrases.quality(after_cue)
        if kind == "not" and quality and self._describes(cue, quality):
            return quality  # a not very crowded | beach
        first = self._denials.first(kind, cue, after_cue)
        odd = (
            first is not None
            and first.kind != "noun"
            and phrases.tag(first.start) in {"ADJ", "VBN", *FINITE_TAGS}
        )
        if first is None or (odd and kind == "without"):
            return self._to_mark(kind, after_cue) if self._typed else None
        return self._denials.shown(first, cue)

    def _to_mark(self, kind: CueKind, i: int) -> Phrase | None:
        """Return the words to the next mark, as no phrase fits: "w/out uniform"."""
        phrases, end = self.phrases, i
        while phrases.tag(end) not in {"", "PUNCT", "CONJ", "WH"} or phrases.joins_adjectives(end):
            end += 1
        said = any(
            phrases.tag(j) in {"NOUN", "ADJ", "ADP", "NUM", "OTHER", *VERB_TAGS}
            for j in range(i, end)
        )
        return (
            Phrase("noun", i, end, end, end - 1)
            if said and kind in {"not", "no", "without", "order"}
            else None
        )

    def _holds(self, kind: CueKind, cue: int, after_cue: int, first: Phrase) -> bool:
        """Return whether the verb before the cue is denied, too: "wearing no hat", "eats nothing"."""
        phrases, verb = self.phrases, self.phrases.lemma(cue - 1)
        if phrases.tag(cue - 1) not in VERB_TAGS or phrases.is_auxiliary(cue - 1):
            return False
        is_object = kind == "nobody" and first.start == cue and verb not in {"be", "have"}
        excepts = phrases.word(after_cue) in {"but", "except", "save", "other", "besides"}
        return (is_object and not excepts) or (kind == "no" and verb in listed("held"))

    def _nothing_else(self, kind: CueKind, cue: int, after_cue: int) -> Negation | None:
        """Return "no other dogs", "nobody else" as words that deny nothing: what else there may be is an open set."""
        phrases, i = self.phrases, after_cue + (self.phrases.word(after_cue) in {"any", "the"})
        applies = kind in {"no", "without"} and phrases.word(i) in {"other", "others"}
        if phrases.word(after_cue - 1) == "else":
            i = after_cue - 1
            applies = phrases.word(cue) == "nothing" or not listed("humans").isdisjoint(
                phrases.words
            )
        if not applies or phrases.word(i + 1) in {"than", "but", "except"}:
            return None
        end = noun.end if (noun := phrases.noun_phrase(i)) else i + 1
        rest = "anything" if kind != "nobody" or phrases.word(cue) == "nothing" else "people"
        others = (" ".join(phrases.words[i + 1 : end]) or rest,)
        return Negation(
            kind,
            cue,
            after_cue,
            (),
            self._start(cue),
            self._denials.after_filler(end),
            others=others,
        )

    def _describes(self, cue: int, quality: Phrase) -> bool:
        """Return whether a denied quality is one of a noun's: "a not crowded beach", "an old but not rusty car"."""
        phrases = self.phrases
        if phrases.tag(cue - 1) == "DET" or phrases.word(quality.end) in listed("frames"):
            return True  # not blurry | footage
        end = cue - (phrases.word(cue - 1) in {"yet", "and", ","})
        start = phrases.before(end, {"ADJ", "ADV"})
        joins = phrases.tag(quality.end) == "NOUN" and (end < cue or phrases.word(cue) == "but")
        return joins and start < end and phrases.tag(start - 1) in {"DET", ""}

    def _start(self, cue: int) -> int:
        """Return the first word of "in the complete absence of"; elsewhere the cue."""
        start = cue
        while self.phrases.word(cue) in _ABSENCES and self.phrases.word(start - 1) in listed(
            "before_absence"
        ):
            start -= 1
        return start

    def _to_clause_end(self, negation: Negation, composed: bool) -> Negation:
        """Extend B to the end of its clause in a composed query (A and not B, not B while A)."""
        phrases, last, end = self.phrases, negation.items[-1], negation.items[-1].end
        if last.kind == "noun" or negation.end > last.end:
            return negation
        relative = "WH" in {phrases.tag(negation.cue - 1), phrases.tag(negation.cue - 2)}
        while not self._ends_clause(end, relative):
            end += 1
        follows = phrases.tag(end) == "CONJ" and (
            phrases.word(end) == "while" or phrases.tag(end + 1) == "PRON"
        )
        if end == last.end or not (composed or follows):
            return negation
        return negation.ending(end, last.core if last.core < last.end else end)

    def _ends_clause(self, i: int, relative: bool) -> bool:
        phrases = self.phrases
        if phrases.tag(i) == "CONJ":
            return phrases.word(i) in {"while", "but"} or phrases.tag(i + 1) in {
                "PRON",
                "NEG",
                "ADP",
                *VERB_TAGS,
            }
        return (
            phrases.tag(i) in {"", "PUNCT", "NEG"}
            or cues().get(phrases.word(i), "except") not in {"except", "order"}
            or (relative and phrases.tag(i) in FINITE_TAGS)
        )

    def _says_what_kind(self, cue: int) -> bool:
        """Return whether a denial is of a kind: "animals that don't | hide in trees", but not "a man who isn't"."""
        phrases = self.phrases
        while phrases.is_auxiliary(cue - 1):
            cue -= 1
        start = phrases.before(cue - 1, {"NOUN", "ADJ"})
        many = phrases.word(cue - 2) != phrases.lemma(cue - 2)
        return (
            phrases.tag(cue - 1) == "WH"
            and phrases.tag(start - 1) in {"", "PUNCT", "CONJ"}
            and many
        )

    def _without_setting(self, negation: Negation, found: Sequence[Negation]) -> Negation:
        """Rule 3: assign the place at the end to the wanted or to the unwanted part."""
        last = negation.items[-1] if negation.items else None
        if last is None or last.core == last.end or negation.kind == "edit":
            return negation
        if self._typed and (
            self.phrases.lemma(last.head) in listed("dwelling")
            or self._says_what_kind(negation.cue)
        ):
            return negation.ending(last.end, last.end)
        wanted, is_noun = self.wanted.words(found), last.kind == "noun"
        denies_all = negation.kind in {"no", "nobody"} or self.phrases.word(negation.cue) == "nor"
        is_first = min(wanted, default=negation.end) >= negation.end
        stays = is_noun and denies_all and is_first and self.phrases.word(last.core + 1) == "the"
        placed = any(
            map(self.phrases.is_setting, filter(None, map(self.phrases.place_phrase, wanted)))
        )
        wants_more = (is_noun and wanted) or self.wanted.acts(wanted) or placed
        orders = negation.kind == "order" and self._typed and not self._edits
        if stays or not (wants_more or orders):  # there is no bread on | the table, only fruit
            return replace(negation, end=last.core)
        return negation.ending(last.end, last.end)
