"""Trust: which certificates the client accepts over https, and what it says about one that it refuses."""

from __future__ import annotations

import os
import ssl

from caesura.client.errors import Unreachable
from caesura.models import certificates

#: OpenSSL's codes for a certificate whose authority is not among those that are trusted.
_UNKNOWN_AUTHORITY = (18, 19, 20, 21)
_REMEDY = "set SSL_CERT_FILE to the file of its authority"


def context(scheme: str) -> ssl.SSLContext:
    """Trusts the authorities that the environment names, as models do. Without https nothing is read, and
    nobody is trusted."""
    if scheme != "https":
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    return certificates.context(os.environ)


def failure(error: BaseException, host: str) -> Unreachable | None:
    """What was wrong with TLS; None if something else was."""
    cause = _cause(error)
    if cause is None:
        return None
    if not isinstance(cause, ssl.SSLCertVerificationError):
        reason = cause.reason or "TLS failed"
        return Unreachable(f"no secure connection to {host}: {reason}", "no_secure_connection")
    remedy = f" ({_REMEDY})" if cause.verify_code in _UNKNOWN_AUTHORITY else ""
    told = f"the certificate of {host} is not trusted: {cause.verify_message}{remedy}"
    return Unreachable(told, "untrusted")


def _cause(error: BaseException | None) -> ssl.SSLError | None:
    """The error of TLS behind those of the HTTP library."""
    while error is not None and not isinstance(error, ssl.SSLError):
        error = error.__cause__ or error.__context__
    return error
