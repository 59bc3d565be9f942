"""Which certificate authorities are trusted."""

from __future__ import annotations

import os
import ssl
from collections.abc import Mapping


class Untrusted(Exception):
    """The environment names certificates that cannot be read."""


def context(environ: Mapping[str, str]) -> ssl.SSLContext:
    """Those that the environment names, else those of the system, else those of `certifi`. Reads files."""
    file = environ.get("SSL_CERT_FILE") or environ.get("REQUESTS_CA_BUNDLE") or environ.get("CURL_CA_BUNDLE")
    folder = environ.get("SSL_CERT_DIR")
    if file and os.path.isdir(file):
        file, folder = None, folder or file  # REQUESTS_CA_BUNDLE may name either
    try:
        if file or folder:
            return ssl.create_default_context(cafile=file or None, capath=folder or None)
        return ssl.create_default_context(cafile=None if _system_has_some() else _bundled())
    except (OSError, ssl.SSLError) as error:
        raise Untrusted(
            f"the certificates in {file or folder} cannot be read: {type(error).__name__}"
        ) from None


def _system_has_some() -> bool:
    paths = ssl.get_default_verify_paths()
    if paths.cafile:
        return True
    try:
        return bool(paths.capath and os.listdir(paths.capath))
    except OSError:
        return False


def _bundled() -> str | None:
    try:
        import certifi  # only systems without certificates of their own need it
    except ImportError:
        return None
    return certifi.where()
