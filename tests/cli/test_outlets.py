"""Commands whose output cannot be written end honestly: the work is done, the exit code is not 0, and there is no traceback."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
needs_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")


def shell(line: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs a line in which PY stands for the interpreter; the exit code is the command's own, also before a pipe."""
    text = line.replace("PY", f'"{sys.executable}"')
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", text],
        cwd=ROOT,
        env=os.environ | {"OMP_NUM_THREADS": "1"} | environment,
        capture_output=True,
        check=False,
        timeout=120,
    )
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


@pytest.mark.parametrize(
    ("place", "why"),
    [
        pytest.param(">/dev/full", "No space left on device", marks=needs_full),
        (">&-", "it is closed"),
        ("| true", "Broken pipe"),
    ],
)
@pytest.mark.parametrize("command", ["lock show", "lock show --canonical", "lock --help"])
def test_an_answer_that_nobody_gets_is_no_success(command: str, place: str, why: str) -> None:
    done = shell(f"(sleep 0.2; exec PY -m experiments.{command}) {place}")  # by then a reader that does not read is gone
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: standard output: cannot be written ({why})")
    assert len(done.stderr.splitlines()) == 1


def test_the_work_is_done_though_nobody_hears_of_it(tmp_path: Path) -> None:
    """What the command was asked to write is there, as it would be."""
    rows = "leaderboard/results_pixel_nav_pilot.json"
    for name, place in (("heard", ""), ("unheard", ">&-")):
        assert shell(f"PY -m experiments.analyse {rows} --out {tmp_path / name}.json {place}").returncode == (2 if place else 0)
    heard, unheard = ((tmp_path / f"{name}.json").read_bytes() for name in ("heard", "unheard"))
    assert heard == unheard


@pytest.mark.parametrize("place", [pytest.param("2>/dev/full", marks=needs_full), "2>&-", ">&- 2>&-"])
def test_an_error_that_nobody_gets_keeps_its_code(place: str) -> None:
    assert shell(f"PY -m experiments.lock show nowhere.yaml {place}").returncode == 2
    assert shell(f"PY -m experiments.lock shwo {place}").returncode == 3


@pytest.mark.parametrize(
    "environment",
    [{"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}, {"PYTHONIOENCODING": "latin-1"}],
)
def test_letters_that_a_terminal_does_not_have_stop_nothing(environment: dict[str, str]) -> None:
    done = shell("PY -m experiments.analyse leaderboard/results_pixel_nav_pilot.json", **environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert "H1 INCONCLUSIVE" in done.stdout
    assert "\\u" in done.stdout
