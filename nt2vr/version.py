"""The project's version, stated only in pyproject.toml."""

import tomllib
from importlib import metadata

from nt2vr.settings import ASSETS, PACKAGE


def project_version() -> str:
    """Return the installed package's version, or pyproject.toml's in a checkout, which need not be installed."""
    if ASSETS.parent == PACKAGE:
        return metadata.version("nt2vr")
    pyproject = (PACKAGE.parent / "pyproject.toml").read_text(encoding="utf-8")
    return str(tomllib.loads(pyproject)["project"]["version"])
