"""The twelve templates of nT2VR's composed queries (appendix A.1), each with what it wants and what it does not."""

from typing import NamedTuple


class Template(NamedTuple):
    """Sentences of {S}, the subject, {P}, its pronoun, and the verb phrases A and B, wanted and unwanted.

    {A} agrees with the subject ("plays", "play"), {A_ing} is the participle, {B} the base form after {does_not}.
    """

    text: str
    wanted: str
    unwanted: str


WITH_PRONOUN = (
    Template("{S} {A} and {P} {does_not} {B}", "{S} {A}", "{B}"),
    Template("{S} {does_not} {B} and {P} {A}", "{S} {A}", "{B}"),
    Template("{S} {A_ing} and not {B_ing}", "{S} {A_ing}", "{B_ing}"),
    Template("{S} not {B_ing} and {P} {A_ing}", "{S} {A_ing}", "{B_ing}"),
    Template("{S} {is_} {A_ing} and not {B_ing}", "{S} {is_} {A_ing}", "{B_ing}"),
    Template("{S} {is_not} {B_ing} and {P} {is_} {A_ing}", "{S} {is_} {A_ing}", "{B_ing}"),
)
WITHOUT_PRONOUN = (
    Template("{S} {A} and {does_not} {B}", "{S} {A}", "{B}"),
    Template("{S} {does_not} {B} while {A}", "{S} {A}", "{B}"),
    Template("{S} {A_ing} and not {B_ing}", "{S} {A_ing}", "{B_ing}"),
    Template("{S} not {B_ing} while {A_ing}", "{S} {A_ing}", "{B_ing}"),
    Template("{S} {is_} {A_ing} and not {B_ing}", "{S} {is_} {A_ing}", "{B_ing}"),
    Template("{S} {is_not} {B_ing} while {A_ing}", "{S} {A_ing}", "{B_ing}"),
)
