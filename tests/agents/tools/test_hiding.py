"""What commands can see of the machine, tested from inside the real sandbox."""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import caesura
from caesura.agents.tools import hiding
from caesura.agents.tools.hiding import Hidden, hidden
from caesura.agents.tools.sandbox import Sandbox
from caesura.resources import sandbox_of
from caesura.settings import Settings, secret_of
from tests.programs import needs, needs_root

BWRAP = needs("bwrap")
ROOT = needs_root("only root may make folders of the system")
SYSTEM = ("/usr/src", "/usr/share", "/usr/lib", "/usr/local/lib", "/etc/alternatives")
OTHERS = ("/opt", "/srv", "/home", "/tmp", "/etc", "/var/lib", "/usr/local")


def run(command: str, workspace: Path, hide: Hidden | None = None) -> str:
    return asyncio.run(Sandbox(hide=hide).run(command, workspace)).output


@pytest.fixture
def name() -> Iterator[str]:
    """A name to use below system folders; everything with this name is removed at the end."""
    name = f"caesura-test-{secrets.token_hex(8)}"
    yield name
    for folder in (*SYSTEM, *OTHERS):
        path = Path(folder) / name
        path.unlink() if path.is_symlink() else shutil.rmtree(path, ignore_errors=True)


@BWRAP
@ROOT
def test_the_servers_folders_are_hidden_wherever_they_are(tmp_path: Path, name: str) -> None:
    content = secrets.token_hex(16)
    folders = [Path(folder) / name / "app/data" for folder in (*SYSTEM, *OTHERS)]
    for folder in folders:
        folder.mkdir(parents=True)
        (folder / f"{name}.secret").write_text(content)
    hide = hidden(*folders)
    (tmp_path / "seen").mkdir()
    places = " ".join(str(folder) for folder in folders)
    output = run(
        f"cat {' '.join(f'{folder}/{name}.secret' for folder in folders)} 2>/dev/null; "
        f"grep -rsl {content} {places} /tmp /etc /dev/shm; find {places} -type f 2>/dev/null; "
        f"for found in $(find / -maxdepth 4 -name {name} 2>/dev/null); do find $found -type f; done; "
        f"touch {places} 2>/dev/null && echo WROTE",
        tmp_path / "seen",
        hide,
    )
    assert output == ""
    # Without hiding the folder would be visible: this shows that the test looks at the right place.
    shown = f"/usr/share/{name}/app/data/{name}.secret"
    assert run(f"cat {shown}", tmp_path / "seen", Hidden()) == content


@BWRAP
@ROOT
def test_paths_in_the_settings_are_hidden(tmp_path: Path, name: str) -> None:
    data, agents, elsewhere = (Path(folder) / name for folder in ("/usr/share", "/usr/lib", "/usr/local/lib"))
    for folder in (agents, elsewhere):
        folder.mkdir()
        (folder / "kept.db").write_text("private")
    Path(f"/etc/alternatives/{name}").symlink_to(data)
    settings = Settings.load(
        data_dir=f"/etc/alternatives/{name}", agents_dir=agents, database_url=f"sqlite:///{elsewhere}/kept.db"
    )
    data.mkdir()
    secret = secret_of(settings)
    sandbox = sandbox_of(settings)
    command = (
        f"cat {data}/secret /etc/alternatives/{name}/secret {agents}/kept.db {elsewhere}/kept.db; echo end"
    )
    output = asyncio.run(sandbox.run(command, tmp_path)).output
    assert output.endswith("end\n")
    assert secret not in output
    assert "private" not in output


@BWRAP
@ROOT
def test_a_bind_mount_does_not_expose_hidden_paths(tmp_path: Path, name: str) -> None:
    """Both cases: the folder appears below /usr, or it is below a mount of a part of /usr."""
    code = (
        "import asyncio, pathlib, subprocess, sys\n"
        "from caesura.agents.tools.hiding import hidden\n"
        "from caesura.agents.tools.sandbox import Sandbox\n"
        "real, seen, workspace = map(pathlib.Path, sys.argv[1:])\n"
        "(real / 'data').mkdir(parents=True); seen.mkdir()\n"
        "(real / 'data/secret').write_text('private')\n"
        "subprocess.run(['mount', '--bind', real, seen], check=True)\n"
        "for hide in (real / 'data', seen / 'data'):\n"
        "    for place in (real, seen):\n"
        "        run = Sandbox(hide=hidden(hide)).run(f'cat {place}/data/secret', workspace)\n"
        "        print(asyncio.run(run).output)\n"
    )
    for real, seen in ((f"/srv/{name}", f"/usr/share/{name}"), (f"/usr/lib/{name}", f"/opt/{name}")):
        arguments = ["unshare", "-m", sys.executable, "-c", code, real, seen, str(tmp_path)]
        done = subprocess.run(arguments, capture_output=True, text=True, check=True)
        assert "No such file" in done.stdout
        assert "private" not in done.stdout


def test_a_folder_below_one_that_is_shown_is_covered(tmp_path: Path) -> None:
    shown, data = tmp_path / "lib", tmp_path / "lib/app/data"
    data.mkdir(parents=True)
    (shown / "log").write_text("x")
    (tmp_path / "link").symlink_to(data)
    arguments = hiding.arguments(Hidden((tmp_path / "link", shown / "log"), (tmp_path,)), [str(shown)])
    assert arguments == [
        *("--ro-bind", str(shown), str(shown)),
        *("--tmpfs", str(data), "--remount-ro", str(data)),
        *("--ro-bind", "/dev/null", str(shown / "log")),
    ]


def test_a_folder_of_the_system_in_the_data_folder_is_not_shown(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    assert hiding.arguments(Hidden((tmp_path,)), [str(tmp_path / "lib")]) == []


@BWRAP
def test_the_program_of_the_server_and_its_home_are_not_seen(tmp_path: Path) -> None:
    places = [
        Path(caesura.__file__).parent,
        sys.prefix,
        Path.cwd(),
        Path.home(),
        "/run",
        "/var",
        "/sys",
        "/root",
    ]
    output = run(f"ls -A {' '.join(map(str, places))} 2>/dev/null", tmp_path)
    listed = [line for line in output.splitlines() if line and not line.endswith(":")]
    assert listed == []


@BWRAP
def test_the_name_of_the_machine_its_users_and_its_processes_are_not_seen(tmp_path: Path) -> None:
    output = run(
        "cat /proc/sys/kernel/hostname; hostname; cat /etc/passwd /etc/hostname /etc/hosts 2>/dev/null; "
        "ls -d /proc/[0-9]* | wc -l; ls /var/run/docker.sock /run/docker.sock 2>/dev/null",
        tmp_path,
    )
    assert output.split()[:2] == ["sandbox", "sandbox"]
    assert socket.gethostname() not in output
    assert int(output.split()[2]) < 10
    assert len(output.split()) == 3


@BWRAP
def test_the_arguments_of_bubblewrap_contain_no_paths(tmp_path: Path) -> None:
    workspace = tmp_path / "a-telling-name"
    output = run("cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ | tr '\\0' ' '; ls -l /proc/1/fd", workspace)
    assert "bwrap --args" in output
    assert "telling" not in output
    assert str(Path.cwd()) not in output


@BWRAP
def test_input_is_empty_and_no_file_of_the_server_is_open(tmp_path: Path) -> None:
    with open(tmp_path / "open", "w") as file:
        os.set_inheritable(file.fileno(), True)
        output = run("cat; ls -l /proc/self/fd", tmp_path)
    targets = [line.partition(" -> ")[2] for line in output.splitlines() if " -> " in line]
    assert all(target == "/dev/null" or target.startswith(("pipe:", "/proc/")) for target in targets), targets


def test_a_log_that_the_server_cannot_look_up_by_its_name_does_not_stop_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As in `sudo -u caesura caesura doctor > /root/report`. The kernel refuses a name of this length too."""
    monkeypatch.setattr(os, "readlink", lambda _: f"/{'x' * 300}")
    assert hidden().below
