"""Settings from flags and environment variables, and the project's version. Only this module reads the environment."""

import ipaddress
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit, urlunsplit

from nt2vr.errors import ConfigError, quoted
from nt2vr.files import AnyPath, check_writable, expanded

T = TypeVar("T")

PACKAGE = Path(__file__).parent
# In a wheel, assets are in the package; in a checkout, beside it.
IS_WHEEL = (PACKAGE / "assets").is_dir()
ASSETS = (PACKAGE if IS_WHEEL else PACKAGE.parent) / "assets"
DOCS = ASSETS.parent / "docs"
# Of an environment, by name: to be read, or to be changed.
Variables = Mapping[str, str]
Environment = MutableMapping[str, str]

# Set before the libraries that read it are imported: no telemetry; and idle torch threads sleep,
# since while they spin, with one other busy process, encoding a text took 392 ms instead of 7.
ENVIRONMENT = {
    "GRADIO_ANALYTICS_ENABLED": "False",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "OMP_WAIT_POLICY": "PASSIVE",
}
# What not every visitor may do, and who may.
ACTIONS = ("train", "import", "download", "delete", "paths", "review")
RULES = ("nobody", "owner", "everyone")
# Each also in lower case, which counts first.
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
NO_PROXY = ("NO_PROXY", "no_proxy")
OWN_NAMES = ("localhost", "127.0.0.1", "::1")
# Characters of an owner's token: 96 random bits as base64.
MIN_TOKEN = 16
MAX_UPLOAD_GB = 8.0
ROOT_PATH = re.compile(r"(/[A-Za-z0-9._~-]+)*")
DATA_DIR = "~/.cache/nt2vr"
# As Debian names the home of users that have none.
NO_HOME = "/nonexistent"


@dataclass(frozen=True)
class Settings:
    """How nT2VR runs; a ConfigError names a value that cannot be used.

    Attributes:
        data_dir: caches, runs, reports, and downloaded or imported models.
        device: where models run and are trained: auto (CUDA, then MPS, then CPU), cpu, cuda,
            cuda:1 or mps.
        port: to listen on; None takes the first free one from 7860.
        index: name or address of the index, as for `--index`; empty for the default.
        index_token: of a vector database: "user:password", or an API key.
        models: of open_clip, to download at the start, in the background.
        rules: by action, where one is set; see `ui.web.permissions`.
        owner_token: proves that a visitor is the owner; empty for the data folder's.
        space_owner: on a Hugging Face Space, the user whose it is.
        space: its name there.
        host_names: beyond this machine's addresses, under which the app is reached; "*" is any.
        root_path: below which the app is reached, "/nt2vr", without a last slash; empty at the top.
        public_address: at which others open the page, if the settings name it whole.
        max_upload_gb: in 10^9 bytes, for those who may import.
        roots: folders in which libraries may be named over the page, where the settings name some.
    """

    data_dir: Path
    device: str = "auto"
    host: str = "127.0.0.1"
    port: int | None = None
    index: str = ""
    index_token: str = field(default="", repr=False)
    models: tuple[str, ...] = ()
    rules: Mapping[str, str] = field(default_factory=dict)
    owner_token: str = field(default="", repr=False)
    space_owner: str = ""
    space: str = ""
    host_names: tuple[str, ...] = ()
    root_path: str = ""
    public_address: str = ""
    max_upload_gb: float = MAX_UPLOAD_GB
    roots: tuple[Path, ...] = ()

    def __post_init__(self) -> None:
        if not re.fullmatch(r"auto|cpu|cuda(:\d+)?|mps", self.device):
            raise ConfigError(
                f"Unknown device {quoted(self.device)}. Choose auto, cpu, cuda or mps."
            )
        for action, rule in self.rules.items():
            if rule not in RULES:
                raise ConfigError(
                    f"NT2VR_ALLOW_{action.upper()} is {quoted(rule)}: choose {', '.join(RULES)}."
                )
        if self.owner_token and len(self.owner_token) < MIN_TOKEN:
            raise ConfigError(
                f"NT2VR_OWNER_TOKEN is too short. Choose at least {MIN_TOKEN} characters."
            )
        if not 0 < self.max_upload_gb < float("inf"):
            raise ConfigError(
                f"NT2VR_MAX_UPLOAD_GB is {self.max_upload_gb}: choose a positive number."
            )
        for root in self.roots:
            if not root.is_dir():
                raise ConfigError(
                    f"{root} is not a folder, so no library can be named in it. Name another root."
                )

    @classmethod
    def read(
        cls,
        data_dir: AnyPath | None = None,
        device: str | None = None,
        host: str | None = None,
        port: int | None = None,
        host_names: Sequence[str] = (),
        roots: Sequence[Path] = (),
        index: str | None = None,
        environment: Variables = os.environ,
    ) -> "Settings":
        """Complete the given values from the environment; docs/deployment.md lists its variables."""

        def variable(name: str) -> str:
            return environment.get(name) or ""

        on_space = environment.get("SYSTEM") == "spaces" or "SPACE_ID" in environment
        default_host = "0.0.0.0" if on_space else "127.0.0.1"
        named_host = host or variable("GRADIO_SERVER_NAME") or default_host
        space_hosts = _split_list(variable("SPACE_HOST"))
        named_roots: list[AnyPath] = [
            *roots,
            *_split_list(variable("NT2VR_ALLOW_ROOT"), os.pathsep),
        ]
        return cls(
            data_dir=_data_folder(data_dir or variable("NT2VR_DATA") or DATA_DIR),
            device=device or variable("NT2VR_DEVICE") or "auto",
            # An address of IPv6 may be in brackets.
            host=named_host.strip("[]"),
            port=_number(environment, "GRADIO_SERVER_PORT", int, None) if port is None else port,
            index=index or variable("NT2VR_INDEX"),
            index_token=variable("NT2VR_INDEX_TOKEN"),
            models=_split_list(variable("NT2VR_MODELS")),
            rules=_rules(environment),
            owner_token=variable("NT2VR_OWNER_TOKEN"),
            space_owner=variable("SPACE_AUTHOR_NAME") if on_space else "",
            space=variable("SPACE_ID"),
            host_names=(
                *host_names,
                *_split_list(variable("NT2VR_ALLOW_HOST")),
                *space_hosts,
            ),
            root_path=_root_path(variable("GRADIO_ROOT_PATH")),
            public_address=_public_address(variable("GRADIO_ROOT_PATH"), space_hosts),
            max_upload_gb=_number(environment, "NT2VR_MAX_UPLOAD_GB", float, MAX_UPLOAD_GB),
            roots=tuple(expanded(root).resolve() for root in named_roots),
        )

    @property
    def allow_roots(self) -> tuple[Path, ...]:
        """Folders in which libraries may be named.

        Without any in the settings, it is the home folder if nobody else can ask.
        """
        if self.roots:
            return self.roots
        if is_loopback(self.host) and has_home():
            return (Path.home().resolve(),)
        return ()


def _rules(environment: Variables) -> dict[str, str]:
    """Return who may do what, where the environment says so."""
    rules = {}
    for action in ACTIONS:
        rule = environment.get(f"NT2VR_ALLOW_{action.upper()}")
        if rule:
            rules[action] = rule
    if on_zero_gpu(environment):
        # It lends its GPUs to no child process.
        rules["train"] = "nobody"
    return rules


def _number(environment: Variables, name: str, kind: Callable[[str], T], default: T) -> T:
    text = environment.get(name)
    if not text:
        return default
    try:
        return kind(text)
    except ValueError:
        raise ConfigError(f"{name} is {quoted(text)}, which is not a number.") from None


def _data_folder(path: AnyPath) -> Path:
    """Return the data folder, which need not exist; a ConfigError refuses one that cannot be made."""
    if path == DATA_DIR and not has_home():
        raise ConfigError(
            "There is no home folder for the data here. Name a folder: --data-dir, or NT2VR_DATA."
        )
    folder = expanded(path)
    try:
        # A read-only one will do for searching.
        if not folder.is_dir():
            check_writable(folder)
    # An OSError is raised by too long a name.
    except (OSError, ConfigError) as error:
        remedy = "Name another: --data-dir, or NT2VR_DATA."
        raise ConfigError(
            f"The data folder {quoted(str(path))} cannot be made. {remedy}"
        ) from error
    return folder


def _root_path(text: str) -> str:
    """Return the path of a GRADIO_ROOT_PATH, which may be a whole address, without a last slash."""
    path = text
    # It is raised for a port that is not a number, or for half a pair of brackets.
    with suppress(ValueError):
        if _is_address(text):
            address = urlsplit(text)
            has_place = bool(address.hostname) and (address.port is None or address.port > 0)
            if has_place:
                # A query or a fragment stays in the path, and is refused with it.
                path = urlunsplit(address._replace(scheme="", netloc=""))

    path = path.removesuffix("/")
    if not ROOT_PATH.fullmatch(path) or not {".", ".."}.isdisjoint(path.split("/")):
        choices = (
            "Write a path such as /nt2vr, of letters, digits, - . _ ~ and single "
            "slashes, or an address with one."
        )
        raise ConfigError(
            f"GRADIO_ROOT_PATH is {quoted(text)}, below which the app cannot be reached. {choices}"
        )
    return path


def _is_address(text: str) -> bool:
    return text.lower().startswith(("http://", "https://"))


def _public_address(root_path: str, space_hosts: Sequence[str]) -> str:
    """Return the address in GRADIO_ROOT_PATH, if that is a whole one, otherwise the Space's; "" without both."""
    if _is_address(root_path):
        return f"{root_path.removesuffix('/')}/"
    if space_hosts:
        return f"https://{space_hosts[0]}/"
    return ""


def has_home() -> bool:
    """Return whether this process has a home folder.

    There is none in a container with a user id without a name, and without HOME.
    """
    return os.path.expanduser("~") != "~"


@contextmanager
def some_home() -> Iterator[None]:
    """Name a home folder, which does not exist, for the import of a library that fails without one."""
    if has_home():
        yield
        return
    os.environ["HOME"] = NO_HOME
    try:
        yield
    finally:
        del os.environ["HOME"]


def project_version() -> str:
    return _project()[0]


def code_address(settings: Settings) -> str:
    """Return where the code can be read, its Space or the project's repository; "" if unknown."""
    if settings.space:
        return f"https://huggingface.co/spaces/{settings.space}"
    return _project()[1].get("Repository", "")


def _project() -> tuple[str, dict[str, str]]:
    """Return version and URLs: of the installed package, or of pyproject.toml in a checkout."""
    # Both imports take longer than all else that a command's help needs.
    if IS_WHEEL:
        from importlib import metadata  # noqa: PLC0415

        about = metadata.metadata("nt2vr")
        urls = dict(line.split(", ", 1) for line in about.get_all("Project-URL") or ())
        return about["Version"], urls

    import tomllib  # noqa: PLC0415

    pyproject = (PACKAGE.parent / "pyproject.toml").read_text(encoding="utf-8")
    project = tomllib.loads(pyproject)["project"]
    return project["version"], project.get("urls", {})


def _split_list(text: str, separator: str = ",") -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(separator) if part.strip())


def is_loopback(host: str) -> bool:
    """Whether an address or name is this machine's own, reached by nobody else."""
    try:
        address = ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return host.lower().rstrip(".") == "localhost"
    # An address of IPv6 may stand for one of IPv4: ::ffff:127.0.0.1
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback


def resolve_path(path: AnyPath) -> Path:
    """Expand "~", and find shipped files under "assets/…" from any working directory."""
    path = expanded(path)
    shipped = ASSETS.parent / path
    if path.parts[:1] == (ASSETS.name,) and shipped.exists():
        return shipped
    return path


def prepare_environment(variables: Variables = ENVIRONMENT) -> None:
    """Set environment variables of libraries, except those that the user has set."""
    for name, value in variables.items():
        os.environ.setdefault(name, value)


@contextmanager
def without_proxies(environment: Environment = os.environ) -> Iterator[None]:
    """Use no proxy within the block, whichever the environment or the system names."""
    before = {name: environment.get(name) for name in NO_PROXY}
    environment.update(dict.fromkeys(NO_PROXY, "*"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                environment.pop(name, None)
            else:
                environment[name] = value


def reach_directly(host: str, environment: Environment = os.environ) -> None:
    """Make requests to an address of this machine bypass the environment's proxies, if any."""
    has_proxy = any(environment.get(name) or environment.get(name.lower()) for name in PROXIES)
    if not has_proxy:
        return
    exempt = environment.get("no_proxy") or environment.get("NO_PROXY") or ""
    names = [*_split_list(exempt), *OWN_NAMES, host]
    environment.update(dict.fromkeys(NO_PROXY, ",".join(dict.fromkeys(names))))


def leave_address_to_app() -> None:
    """Remove an IPv6 address that Gradio would read from the environment.

    Gradio looks for free ports of IPv4 alone.
    """
    if ":" in os.environ.get("GRADIO_SERVER_NAME", ""):
        del os.environ["GRADIO_SERVER_NAME"]


def on_zero_gpu(environment: Variables = os.environ) -> bool:
    return environment.get("SPACES_ZERO_GPU", "").lower() in ("1", "true")


def process_rank() -> int:
    """Return this process's rank under torchrun; 0 for a process on its own."""
    if "TORCHELASTIC_RUN_ID" in os.environ:
        return int(os.environ["RANK"])
    return 0


def use_device(device: str, environment: Environment = os.environ) -> None:
    """Leave one device visible before torch looks for any: "cpu", or one of the visible GPUs.

    "auto" changes nothing.
    """
    if not re.fullmatch(r"auto|cpu|cuda(:\d+)?", device):
        raise ConfigError(f"Cannot train on {quoted(device)}. Choose auto, cpu, cuda or cuda:1.")
    if device == "auto":
        return
    if device == "cpu":
        environment["CUDA_VISIBLE_DEVICES"] = ""
        return

    number = int(device.partition(":")[2] or 0)
    visible = environment.get("CUDA_VISIBLE_DEVICES")
    if visible is None:
        environment["CUDA_VISIBLE_DEVICES"] = str(number)
        return
    gpus = _split_list(visible)
    if number >= len(gpus):
        raise ConfigError(f"There is no {device}: {len(gpus)} GPUs are visible. Choose another.")
    environment["CUDA_VISIBLE_DEVICES"] = gpus[number]


def training_environment(device: str) -> dict[str, str]:
    """Return the environment of a process that trains on a device, and sees no other GPU.

    "mps" is treated as "auto".
    """
    changed = dict(os.environ)
    use_device("auto" if device == "mps" else device, changed)
    return changed


def training_devices(environment: Variables = os.environ) -> tuple[str, ...]:
    """Name the devices of a training with this environment: "cpu", or n "cuda:N" under torchrun."""
    import ctypes  # noqa: PLC0415  needed by trainings only

    try:
        ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
    except OSError:
        return ("cpu",)

    count = 1
    if "TORCHELASTIC_RUN_ID" in environment:
        count = int(environment.get("LOCAL_WORLD_SIZE", 1))
    gpus: Sequence[str] = [str(number) for number in range(count)]
    if "CUDA_VISIBLE_DEVICES" in environment:
        gpus = _split_list(environment["CUDA_VISIBLE_DEVICES"])
    if not gpus or gpus[0] == "-1":
        return ("cpu",)
    return tuple(f"cuda:{gpu}" for gpu in gpus[:count])
