"""docs/deploy.md and deploy/: what they name exists, and the programs that read the files accept them."""

import getpass
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from caesura.http.metrics import Metrics
from caesura.settings import PREFIX, Settings

TOP = Path(__file__).parents[1]
DEPLOY = TOP / "deploy"
PAGE = (TOP / "docs" / "deploy.md").read_text()
FILES = {path.name: path.read_text() for path in DEPLOY.iterdir()}


def test_every_setting_that_is_named_exists() -> None:
    known = {f"{PREFIX}{name.upper()}" for name in Settings.model_fields}
    for name, text in {"the page": PAGE, **FILES}.items():
        assert set(re.findall(rf"\b{PREFIX}[A-Z_]+", text)) <= known, name


def test_every_metric_that_is_named_exists_and_every_one_is_named() -> None:
    families = Metrics().registry.collect()
    known = {f"{item.name}_total" if item.type == "counter" else item.name for item in families}
    told = set(re.findall(r"`(caesura_[a-z_]+)", PAGE))
    assert told == known
    assert set(re.findall(r"\bcaesura_[a-z_]+", FILES["alerts.yml"])) <= known


def test_every_file_and_test_that_is_named_exists() -> None:
    named = re.findall(r"`((?:deploy|tests)/[\w./-]+)`|\]\(\.\./([\w./-]+)\)", PAGE)
    assert len(named) > 5
    for first, second in named:
        assert (TOP / (first or second)).exists(), first or second


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not installed")
@pytest.mark.parametrize(
    "command", ["promtool check rules alerts.yml", "promtool test rules alerts.test.yml"]
)
def test_the_alerts_fire_when_they_should(command: str) -> None:
    done = subprocess.run(command.split(), cwd=DEPLOY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_the_unit_is_one_that_systemd_understands(tmp_path: Path) -> None:
    program = tmp_path / "caesura"
    program.touch(0o755)
    unit = tmp_path / "caesura.service"
    unit.write_text(FILES["caesura.service"].replace("/opt/caesura/.venv/bin/caesura", str(program)))
    verify = ["systemd-analyze", "verify", "--man=no", str(unit)]
    done = subprocess.run(verify, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_unit_sets_nothing_that_keeps_agents_from_running_commands() -> None:
    """Each of these was seen to break bubblewrap or the groups that bound a command."""
    names = "RestrictNamespaces ProtectKernelTunables ProtectKernelLogs ProtectProc ProcSubset"
    names += " ProtectHostname RestrictSUIDSGID ProtectControlGroups"
    for name in names.split():
        assert not re.search(rf"^{name}=", FILES["caesura.service"], re.MULTILINE), name
        assert f"`{name}=`" in PAGE, name


UNIT_SETS = dict(re.findall(r"^Environment=(\w+)=(.*)$", FILES["caesura.service"], re.MULTILINE))


def told(tmp_path: Path, settings: str, user: str) -> subprocess.CompletedProcess[str]:
    """What `deploy/caesura` gives to the program, or says, if this user runs it with these settings."""
    program, file, script = tmp_path / "program", tmp_path / "environment", tmp_path / "caesura"
    program.write_text('#!/bin/sh\nenv | grep -E "CAESURA|KEY"\necho "arguments: $*"\n')
    file.write_text(settings)
    text = FILES["caesura"].replace("user=caesura\n", f"user={shlex.quote(user)}\n")
    for old, new in (
        ("/opt/caesura/.venv/bin/caesura", program),
        ("settings=/etc/caesura/environment", f"settings={file}"),
    ):
        assert old in text
        text = text.replace(old, str(new))
    script.write_text(text)
    for path in (program, script):
        path.chmod(0o755)
    ran = [str(script), "user", "add", "alice"]
    return subprocess.run(ran, capture_output=True, text=True, check=False, env={"PATH": "/usr/bin:/bin"})


def test_the_command_line_of_the_installation_has_the_settings_of_the_unit(tmp_path: Path) -> None:
    settings = "# the model\n\nCAESURA_MODEL=openai:gpt-4o\nKEY=a$b;c 'd' #e\n  CAESURA_DRAIN=3"
    done = told(tmp_path, settings, getpass.getuser())
    expected = UNIT_SETS | {
        "CAESURA_MODEL": "openai:gpt-4o",
        "KEY": "a$b;c 'd' #e",
        "CAESURA_DRAIN": "3",
    }
    *lines, arguments = done.stdout.splitlines()
    assert dict(line.split("=", 1) for line in lines) == expected
    assert arguments == "arguments: user add alice"


def test_the_file_of_settings_counts_more_than_the_unit(tmp_path: Path) -> None:
    done = told(tmp_path, "CAESURA_REGISTRATION=closed\n", getpass.getuser())
    assert "CAESURA_REGISTRATION=closed" in done.stdout.splitlines()


@pytest.mark.parametrize("line", ['KEY="a"', "KEY='a'", "KEY=a\\b", "KEY= a", "KEY"])
def test_a_line_that_systemd_may_read_otherwise_is_refused(tmp_path: Path, line: str) -> None:
    done = told(tmp_path, f"{line}\n", getpass.getuser())
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert "environment: " in done.stderr


def test_another_user_than_that_of_the_server_is_told_whom_to_be(tmp_path: Path) -> None:
    done = told(tmp_path, "", "somebody-else")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith("sudo -u somebody-else caesura user add alice\n")


def test_no_setting_on_the_page_has_a_comment_behind_it() -> None:
    """systemd and Docker would take it as a part of the value."""
    assert not re.findall(rf"^ *{PREFIX}[A-Z_]+=.*#", PAGE, re.MULTILINE)


def test_every_certificate_on_the_page_has_a_name_that_python_and_browsers_accept() -> None:
    made = [line for line in PAGE.splitlines() if "openssl req" in line]
    assert made
    assert all("subjectAltName=DNS:localhost,IP:127.0.0.1" in line for line in made)


def test_the_alerts_have_the_name_that_prometheus_is_told() -> None:
    [name] = re.findall(r"^    rule_files: \[(.*)\]$", PAGE, re.MULTILINE)
    assert f"cp deploy/alerts.yml /etc/prometheus/{name}\n" in PAGE


def test_the_extras_that_the_page_names_are_locked() -> None:
    named = re.findall(r"EXTRAS=\"?([a-z]+(?:[, ][a-z]+)*)", PAGE)
    assert named
    for extra in (extra for group in named for extra in re.split("[, ]", group)):
        assert (TOP / "requirements" / "extras" / f"{extra}.txt").exists(), extra


def test_the_unit_leaves_room_for_bubblewrap() -> None:
    """Each of these makes the kernel refuse what bubblewrap does."""
    settings = dict(re.findall(r"^(\w+)=(.*)$", FILES["caesura.service"], re.MULTILINE))
    forbidden = {
        "RestrictNamespaces",
        "ProtectKernelTunables",
        "ProtectKernelLogs",
        "ProtectProc",
        "ProcSubset",
    }
    assert not forbidden & set(settings)
    assert "AF_NETLINK" in settings["RestrictAddressFamilies"]
