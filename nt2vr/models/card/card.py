"""The card of a model: its sections, and the two keys of its embeddings."""

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, ValidationError

from nt2vr.errors import ConfigError, quoted
from nt2vr.extension import composers, text_sides, video_inputs
from nt2vr.files import JsonObject
from nt2vr.models.capabilities import Capabilities
from nt2vr.models.card.names import MEAN, QUERY_SCORED, RAW_MEAN
from nt2vr.models.card.sections import (
    CardEntry,
    CardSection,
    ClipSection,
    ComposersSection,
    DifferenceSection,
    FramingSection,
    OrNothing,
    PoolingSection,
    TextSection,
    TrainingSection,
    VisualSection,
)
from nt2vr.models.framing import CENTRES, Config, Framing, text_settings, visual_settings
from nt2vr.sections import check_names

# Characters of a card's summary, which stands below the model's name.
MAX_SUMMARY = 40


class Card(BaseModel):
    """Metadata of a model, in sections by subject.

    Whoever makes a card names values flat, by keys that no two sections share: `Card("mine",
    frames=4)` and `card.replace(frames=8)` set `card.framing.frames`. So does nt2vr.json: it has
    the keys of version 0.2.0 in their order, so that files of either version are read by the other,
    and stay byte-equal. Values whose description begins with "derived" are not stored: they come from
    open_clip_config.json, and from the device.
    """

    model_config = ConfigDict(frozen=True)

    name: Annotated[str, Field(min_length=1)] = Field(description="name of the model")
    base: str = Field(
        default="",
        description="name of the model that training started from; empty for random weights. Of an imported model "
        "whose files do not say it, IMPORTED and the name of the file",
    )
    visual: VisualSection
    framing: FramingSection
    pooling: PoolingSection
    text: TextSection
    composers: ComposersSection
    training: TrainingSection
    clip: OrNothing[ClipSection] = Field(
        default=None, description="of a model that takes whole clips"
    )
    difference: OrNothing[DifferenceSection] = Field(
        default=None, description="of a checkpoint that is stored as its difference from a base"
    )
    metrics: Mapping[str, float] = Field(
        default_factory=dict, description="measured values, such as validation/original/MIR to 0.7"
    )
    exclusion: Mapping[str, FiniteFloat | list[str]] = Field(
        default_factory=dict,
        description="settings of nt2vr.search.strategies, chosen on validation clips: lambda, t, beta (α of "
        "rectified), tau, and anchor, a list of neutral texts",
    )
    composition: Mapping[str, FiniteFloat] = Field(
        default_factory=dict,
        description="weights of a picture and a text, chosen on validation data; see nt2vr.search.references.Weights",
    )
    notes: str = Field(default="", description="what a person must know of the model")
    summary: Annotated[str, Field(max_length=MAX_SUMMARY)] = Field(
        default="", description="what it learnt, in two or three words, for the page"
    )
    # The page links to it, so a card from elsewhere must not name another address.
    explained_in: Annotated[str, Field(pattern=r"^(docs/[\w.#-]+)?$")] = Field(
        default="", description="page of the documentation that explains what it learnt"
    )
    created: str = Field(default="", description="ISO 8601, UTC")
    precision: str = Field(default="", description="derived: of the arithmetic; empty for float32")

    def __init__(self, name: str, **values: Any) -> None:
        """Build a card from values by flat key; a ConfigError names one that is unknown or invalid."""
        place_of = places()
        check_names(values, place_of, " on a card")
        of_card = {"name": name}
        by_section: dict[str, JsonObject] = {section: {} for section in SECTIONS}
        by_section["text"].update(dict.fromkeys(text_sides()))
        by_section["composers"].update(dict.fromkeys(composers()))
        by_section["visual"].update(dict.fromkeys(video_inputs(), ""))
        for key, value in values.items():
            section, _ = place_of[key]
            by_section.get(section, of_card)[key] = value
        try:
            super().__init__(**of_card, **by_section)
        except ValidationError as error:
            problem = error.errors()[0]
            place = problem["loc"]
            flat_key = place[1] if place[0] in SECTIONS else place[0]
            raise ConfigError(
                f"A card has an invalid “{flat_key}” ({problem['msg']}). Correct it."
            ) from error

    def flat(self) -> JsonObject:
        """Return all values by flat key."""
        values = {}
        for key, (section, attribute) in places().items():
            holder = getattr(self, section) if section else self
            value = getattr(holder, attribute)
            if value is None:
                value = {}
            elif isinstance(value, CardEntry):
                value = value.as_stored()
            values[key] = value
        return values

    def replace(self, **values: Any) -> "Card":
        """Return a card with other values by flat key."""
        return Card(**{**self.flat(), **values})

    @property
    def capabilities(self) -> Capabilities:
        """What the model can do, as far as that is known before it is loaded."""
        takes_whole_clips = self.clip is not None
        has_given_queries = bool(self.text.queries)
        video_input = self.visual.input
        sees_frames = video_input is None and not takes_whole_clips
        return Capabilities(
            scores_frames=sees_frames and not has_given_queries,
            reads_seconds=takes_whole_clips,
            is_slow=takes_whole_clips,
            weighs_frames=self.pooling.name == QUERY_SCORED,
            video_input=video_input,
            given_queries_only=has_given_queries,
            has_text_tower=not (takes_whole_clips or has_given_queries or self.text.side),
        )

    @property
    def input_framing(self) -> Framing:
        """How videos become the encoder's input."""
        section = self.framing
        framing = Framing(
            section.image_size,
            resize_mode=section.resize_mode,
            interpolation=section.interpolation,
            fill_color=section.fill_color,
            positions=section.positions,
        )
        if self.clip is None or self.clip.framing is None:
            return framing
        of_clips = self.clip.framing
        return replace(framing, resize_mode=of_clips.resize_mode, width=of_clips.width)

    def framed(self, framing: Framing, **values: Any) -> "Card":
        """Return the card of a model that takes frames of this size and form, with other values by flat key too."""
        return self.replace(
            image_size=framing.size,
            resize_mode=framing.resize_mode,
            interpolation=framing.interpolation,
            fill_color=framing.fill_color,
            **values,
        )

    def check_frames(self) -> None:
        """Raise a ConfigError if the model reads another input than frames, which no frame can give it."""
        video_input = self.visual.input
        if video_input is not None:
            raise ConfigError(
                f"{self.name} reads {video_input.kind} {quoted(video_input.name)} of videos, and sees no frames. "
                "Evaluate it on a dataset that has them, or choose another model."
            )

    @property
    def visual_key(self) -> str:
        """Identify everything that the embedding of a video depends on; models with equal keys share embeddings.

        The text is the one of version 0.2.0, so that everything that it stored is found as it is.
        `StoredNames` tells its parts, by which folders, files and indexes are named.
        """
        return f"{self._tower_key} {self.framing.frames} {self._pooling_key}"

    @property
    def text_key(self) -> str:
        """Identify everything that the embedding of a text depends on, by the text of version 0.2.0."""
        side_fingerprint = self.text.side.fingerprint if self.text.side else ""
        parts = (
            self.text.fingerprint,
            self.text.settings,
            self.precision,
            side_fingerprint,
            self._clip_key,
        )
        return " ".join(filter(None, parts))

    @property
    def unpooled(self) -> "Card":
        """The card of videos as their frames' embeddings, with one `visual_key` whatever pools these."""
        pooling = MEAN if self.pooling.normalises_frames else RAW_MEAN
        return self.replace(pooling=pooling, head={"fingerprint": "frames"})

    @property
    def in_any_precision(self) -> "Card":
        """The card whose keys do not tell devices apart."""
        return self.replace(precision="")

    def embeds_like(self, other: "Card") -> bool:
        """Return True if two models give equal embeddings of videos and of texts, in the same precision."""
        mine = self.in_any_precision
        others = other.in_any_precision
        return (mine.visual_key, mine.text_key) == (others.visual_key, others.text_key)

    @property
    def as_base(self) -> DifferenceSection:
        """The entry by which the card of what differs from this whole model names it."""
        return DifferenceSection(
            model=self.name, fingerprint=f"{self.visual.fingerprint} {self.text.fingerprint}"
        )

    def stands_on(self, base: "Card") -> bool:
        """Return True if the checkpoint holds only what differs from `base`."""
        return (
            self.difference is not None and self.difference.fingerprint == base.as_base.fingerprint
        )

    @property
    def fingerprints(self) -> dict[str, str]:
        """Hashes of the weights of both towers, by their names in files and reports, and on an encoder."""
        return {
            "visual_fingerprint": self.visual.fingerprint,
            "text_fingerprint": self.text.fingerprint,
        }

    def for_reports(self) -> JsonObject:
        """Describe the model in reports. Results of evaluations are stored under it, those of version 0.2.0 too."""
        described: JsonObject = {"base": self.base, **self.fingerprints}
        described["frames"] = self.framing.frames
        if self.visual.settings:
            described["settings"] = f"{self.visual.settings} {self.text.settings}"
        if self.pooling.name != MEAN:
            described["pooling"] = self._pooling_key
        side = self.text.side
        if side:
            described[side.name] = side.stored
        video_input = self.visual.input
        if video_input:
            described[video_input.kind] = video_input.name
        if self.clip:
            described["clip"] = self._clip_key
        if self._positions_key:
            described["positions"] = self._positions_key
        return described

    @property
    def _positions_key(self) -> str:
        positions = self.framing.positions
        return "" if positions == CENTRES else positions

    @property
    def _tower_key(self) -> str:
        """Identify what the embeddings of single frames depend on."""
        raw = "" if self.pooling.normalises_frames else "raw"
        visual = self.visual
        input_name = visual.input.name if visual.input else ""
        parts = (
            visual.fingerprint,
            visual.settings,
            self.precision,
            self._positions_key,
            raw,
            input_name,
            self._clip_key,
        )
        return " ".join(filter(None, parts))

    @property
    def _pooling_key(self) -> str:
        """Identify the pooling; fit to be the name of a file."""
        fingerprint = self.pooling.head.fingerprint if self.pooling.head else ""
        return "_".join(filter(None, (self.pooling.name, fingerprint)))

    @property
    def _clip_key(self) -> str:
        if self.clip is None:
            return ""
        return json.dumps([self.clip.as_stored(), self.framing.image_size], sort_keys=True)


SECTIONS: dict[str, type[CardSection]] = {
    "visual": VisualSection,
    "framing": FramingSection,
    "pooling": PoolingSection,
    "text": TextSection,
    "composers": ComposersSection,
    "training": TrainingSection,
}


@cache
def stored_keys() -> tuple[str, ...]:
    """Return the keys in nt2vr.json, in the order of 0.2.0's files."""
    return (
        "name",
        "objective",
        "base",
        "frames",
        "image_size",
        "pooling",
        "head",
        *text_sides(),
        "clip",
        *video_inputs(),
        "positions",
        "losses",
        "data",
        "epoch",
        "metrics",
        "exclusion",
        "composition",
        *composers(),
        "difference",
        "shifts",
        "changes",
        "notes",
        "summary",
        "explained_in",
        "created",
        "visual_fingerprint",
        "text_fingerprint",
        "queries",
    )


@cache
def places() -> Mapping[str, tuple[str, str]]:
    """Return the name of a value's section, "" for the card itself, and of its field, by flat key."""
    of_fields = {name: ("text", name) for name in text_sides()}
    of_fields |= {name: ("composers", name) for name in composers()}
    of_fields |= {name: ("visual", name) for name in video_inputs()}
    of_fields |= {field: ("", field) for field in Card.model_fields if field not in SECTIONS}
    for section, kind in SECTIONS.items():
        for field, info in kind.model_fields.items():
            of_fields[info.alias or field] = section, field
    return of_fields


def configured(card: Card, model_cfg: Config, preprocess_cfg: Config) -> Card:
    """Return the card with the fields that follow from an open_clip configuration."""
    framing = Framing.of(preprocess_cfg, card.framing.image_size)
    return card.framed(
        framing,
        visual_settings=visual_settings(model_cfg, preprocess_cfg),
        text_settings=text_settings(model_cfg),
    )
