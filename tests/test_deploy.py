"""docs/deploy.md and deploy/: what they name exists, and the programs that read the files accept them."""

import re
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
