"""The config of a training: sections by subject, read, changed and checked here once. Imports no torch."""

from trainer.config.config import (
    CHOICES,
    FIELDS,
    SECTION_OF,
    SECTIONS,
    ConfigChanges,
    TrainConfig,
    changed,
)
from trainer.config.encoder import SMALL_MODEL, EncoderSettings, TrainedPart, deeper
from trainer.config.files import (
    load_config,
    parse_change,
    parse_value,
    preset_or_file,
    save_config,
)
from trainer.config.objective import SENTENCES
from trainer.config.resolve import (
    FOR_CAPTIONS,
    FOR_VIDEOS,
    OF_CAPTIONS,
    OF_WORLD,
    is_captions_file,
    names_files,
    resolved,
)
from trainer.config.validation import METRICS, OF_DENYING, OF_TEXT, OF_VIDEOS

__all__ = [
    "CHOICES",
    "FIELDS",
    "FOR_CAPTIONS",
    "FOR_VIDEOS",
    "METRICS",
    "OF_CAPTIONS",
    "OF_DENYING",
    "OF_TEXT",
    "OF_VIDEOS",
    "OF_WORLD",
    "SECTIONS",
    "SECTION_OF",
    "SENTENCES",
    "SMALL_MODEL",
    "ConfigChanges",
    "EncoderSettings",
    "TrainConfig",
    "TrainedPart",
    "changed",
    "deeper",
    "is_captions_file",
    "load_config",
    "names_files",
    "parse_change",
    "parse_value",
    "preset_or_file",
    "resolved",
    "save_config",
]
