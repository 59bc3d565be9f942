"""A certificate authority for tests, and a server's certificate from it."""

from __future__ import annotations

import ssl
import subprocess
from pathlib import Path

_SERVER = """subjectAltName=IP:127.0.0.1,DNS:localhost
basicConstraints=CA:FALSE
"""


class Authority:
    """Needs the program openssl."""

    def __init__(self, folder: Path) -> None:
        self.certificate = folder / "authority.pem"
        key, server = folder / "authority.key", folder / "server"
        curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        _openssl(
            "req",
            "-x509",
            *curve,
            "-keyout",
            key,
            "-out",
            self.certificate,
            "-days",
            "2",
            "-subj",
            "/CN=Authority",
        )
        _openssl("req", *curve, "-keyout", f"{server}.key", "-out", f"{server}.csr", "-subj", "/CN=localhost")
        (folder / "extensions").write_text(_SERVER)
        _openssl(
            *(
                "x509",
                "-req",
                "-in",
                f"{server}.csr",
                "-CA",
                self.certificate,
                "-CAkey",
                key,
                "-CAcreateserial",
            ),
            *("-out", f"{server}.pem", "-days", "2", "-extfile", folder / "extensions"),
        )
        self.context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self.context.load_cert_chain(f"{server}.pem", f"{server}.key")

    def folder(self, path: Path) -> Path:
        """A folder in which the certificate is found by its hash."""
        path.mkdir()
        name = _openssl("x509", "-hash", "-noout", "-in", self.certificate).strip()
        (path / f"{name}.0").write_bytes(self.certificate.read_bytes())
        return path


def _openssl(*arguments: str | Path) -> str:
    done = subprocess.run(["openssl", *map(str, arguments)], capture_output=True, text=True, check=True)
    return done.stdout
