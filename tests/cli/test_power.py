"""The command power: one line for a wrong value, the same bytes on every call, figures only where they can be drawn."""

import importlib.util
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from wm_audit.cli import power
from wm_audit.prereg.promise import loads_promise

ROOT = Path(__file__).resolve().parents[2]
PILOT = ROOT / "leaderboard" / "results_pixel_nav_pilot.json"
Line = Callable[[], str]
SMALL = ["--seeds", "5", "--capacities", "2", "--repetitions", "20"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--seeds", "0"], "--seeds"),
        (["--seeds", "5,x"], "--seeds"),
        (["--seeds", "30..5"], "--seeds"),
        (["--seeds", "5..x"], "--seeds"),
        (["--seeds", "1..1000000"], "--seeds"),
        (["--capacities", "-1"], "--capacities"),
        (["--icc", "1.5"], "--icc"),
        (["--icc", "nan"], "--icc"),
        (["--power", "1"], "--power"),
        (["--power", "0.8,0.9"], "--power"),
        (["--repetitions", "0"], "--repetitions"),
        (["--publish", "--seeds", "5"], "--seeds"),
        (["--publish", "--repetitions", "50"], "--repetitions"),
        (["--publish", "--yaml"], "--yaml"),
    ],
)
def test_wrong_values_on_the_command_line_give_3(arguments: list[str], said: str, one_line: Line) -> None:
    assert power.main(arguments) == 3
    assert said in one_line()


def test_wrong_files_give_2(one_line: Line, tmp_path: Path) -> None:
    assert power.main(["--from", str(tmp_path / "nowhere.json")]) == 2
    assert "nowhere.json" in one_line()
    assert power.main(["--preregistration", str(tmp_path / "nowhere.yaml")]) == 2
    assert "nowhere.yaml" in one_line()


def test_without_matplotlib_nothing_is_half_written(one_line: Line, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None if name == "matplotlib" else find(name, *rest))
    assert power.main([*SMALL, "--out", str(tmp_path / "out")]) == 2
    line = one_line()
    assert "matplotlib" in line
    assert "wm-audit[figures]" in line
    assert not (tmp_path / "out").exists()


def test_a_range_is_its_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    rest = ["--capacities", "1", "--repetitions", "2"]
    assert power.main(["--seeds", "4..6", *rest]) == 0
    first = capsys.readouterr()
    assert "6/6 designs" in first.err
    assert power.main(["--seeds", "6,4,5", *rest]) == 0
    assert capsys.readouterr().out == first.out


def test_tables_are_printed_and_the_same_on_every_call(capsys: pytest.CaptureFixture[str]) -> None:
    assert power.main(SMALL) == 0
    first = capsys.readouterr().out
    assert all(f"{question}: " in first for question in ("H1", "H2", "H3"))
    assert power.main(SMALL) == 0
    assert capsys.readouterr().out == first


@pytest.mark.skipif(importlib.util.find_spec("matplotlib") is None, reason="matplotlib is not installed")
def test_files_are_the_same_bytes_on_every_call(tmp_path: Path) -> None:
    for name in ("a", "b"):
        assert power.main([*SMALL, "--out", str(tmp_path / name)]) == 0
    names = ["power.json", "power.md", "power.svg", "power.yaml"]
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == names
    for name in names:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    svg = (tmp_path / "a" / "power.svg").read_text(encoding="utf-8")
    assert "dc:date" not in svg
    assert ">5 seeds<" in svg


def test_the_block_fits_a_promise(capsys: pytest.CaptureFixture[str]) -> None:
    assert power.main([*SMALL, "--from", str(PILOT), "--yaml"]) == 0
    block = capsys.readouterr().out
    text = (ROOT / "configs" / "preregistration.yaml").read_text(encoding="utf-8")
    held = loads_promise(re.sub(r"^power:\n( .*\n)+", lambda _: block, text, flags=re.MULTILINE)).data["power"]
    assert "sha256:" in held["source"]
    assert {item["seeds"] for item in held["table"]} == {5}
    assert all(0 <= item["intra_seed_correlation"] < 1 for item in held["table"])


def test_estimates_of_a_result_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert power.main([*SMALL, "--from", str(PILOT)]) == 0
    shown = capsys.readouterr().out
    assert "ICC(3,1)" in shown
    assert "perceptual" in shown


def test_an_asked_correlation_is_not_called_an_estimate(capsys: pytest.CaptureFixture[str]) -> None:
    assert power.main([*SMALL, "--from", str(PILOT), "--icc", "0.3"]) == 0
    assert "intra-seed correlation: assumed" in capsys.readouterr().out


def test_no_torch_is_imported() -> None:
    code = "import sys, wm_audit.cli.power; sys.exit('torch' in sys.modules or 'matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0
