"""The errors a person can cause: each message is one clear sentence for the page, never a traceback.

Nt2vrError
├── ConfigError        a value that cannot be used (a name, a number, a setting)
├── QueryError         a query that cannot be searched
├── MediaError         a video or picture that cannot be read
├── GalleryError       a gallery or manifest that cannot be used
├── DatasetError       captioned videos that cannot be used
├── CheckpointError    a model folder that cannot be loaded
├── RunError           a training run that cannot be started, stopped or deleted as it is
├── DownloadError      something that must come over the network and did not
└── HubError           something that the Hugging Face Hub refused
"""


class Nt2vrError(Exception):
    """What went wrong, with the value, then what to do; shown to the person as it is."""


class ConfigError(Nt2vrError):
    """A value that cannot be used."""


class QueryError(Nt2vrError):
    """A query that cannot be searched."""


class MediaError(Nt2vrError):
    """A video or picture that cannot be read."""


class GalleryError(Nt2vrError):
    """A gallery that cannot be used."""


class DatasetError(Nt2vrError):
    """Captioned videos that cannot be used."""


class CheckpointError(Nt2vrError):
    """A model folder that cannot be loaded."""


class RunError(Nt2vrError):
    """A run with which this cannot be done now."""


class DownloadError(Nt2vrError):
    """A download that did not happen."""


class HubError(Nt2vrError):
    """A request that the Hugging Face Hub refused."""


def reason_of(error: Exception) -> str:
    """Return what part of a sentence can say of somebody else's error: its first line, or what kind it is."""
    return str(error).splitlines()[0] if str(error) else type(error).__name__
