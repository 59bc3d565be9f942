"""nginx and Caddy in front of a server, with TLS, as the files in deploy/ configure them."""

from pathlib import Path

import httpx

from tests.servers.binaries import need
from tests.servers.server import Server

DEPLOY = Path(__file__).parents[2] / "deploy"
ROOT = "/caesura"


class Proxy(Server):
    """Needs the program openssl."""

    program: str

    def __init__(self, upstream: int) -> None:
        self._path, self._upstream = need(self.program), upstream
        super().__init__()

    @property
    def url(self) -> str:
        return f"https://{self.host}:{self.port}{ROOT}"

    def prepare(self) -> None:
        made = ["-keyout", "key.pem", "-out", "cert.pem", "-subj", "/CN=localhost", "-days", "2"]
        curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        names = ["-addext", f"subjectAltName=DNS:localhost,IP:{self.host}"]
        self.run([str(need("openssl")), "req", "-x509", *curve, *made, *names])

    def answers(self) -> bool:
        try:
            found = httpx.get(f"{self.url}/health", verify=False, timeout=5, trust_env=False)  # noqa: S501
        except httpx.HTTPError:
            return False
        return found.status_code == 200

    def configured(self, name: str) -> str:
        """A file of deploy/, with addresses and certificates of the tests."""
        text = (DEPLOY / name).read_text()
        folder = str(self.folder)
        for old, new in (("127.0.0.1:8000", f"127.0.0.1:{self._upstream}"), ("/etc/ssl/caesura", folder)):
            assert old in text
            text = text.replace(old, new)
        return text


class Nginx(Proxy):
    name = program = "nginx"

    def command(self) -> list[str]:
        site = self.configured("nginx.conf").replace("listen 443", f"listen {self.host}:{self.port}")
        places = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        kept = "".join(f"{place}_temp_path {self.folder}/{place};" for place in places)
        whole = f"pid {self.folder}/pid; events {{}} http {{ access_log off; {kept} {site} }}"
        (self.folder / "nginx.conf").write_text(f"error_log stderr; daemon off; worker_processes 1; {whole}")
        return [
            str(self._path),
            "-p",
            str(self.folder),
            "-c",
            str(self.folder / "nginx.conf"),
            "-e",
            "stderr",
        ]


class Caddy(Proxy):
    name = program = "caddy"

    def command(self) -> list[str]:
        address = f"https://{self.host}:{self.port} {{"
        site = self.configured("Caddyfile").replace("chat.example.org {", address)
        own = f"tls {self.folder}/cert.pem {self.folder}/key.pem"
        site = site.replace("redir /caesura", f"{own}\n\tredir /caesura", 1)
        options = f"{{\n\tadmin off\n\tauto_https off\n\tstorage file_system {self.folder}\n}}\n"
        (self.folder / "Caddyfile").write_text(options + site)
        return [str(self._path), "run", "--config", str(self.folder / "Caddyfile"), "--adapter", "caddyfile"]
