"""`verify` passes what was published, and names the place of whatever was changed."""

import json
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from wm_audit.board import results
from wm_audit.board.verification.verify import NAMES
from wm_audit.cli import make_leaderboard, verify
from wm_audit.core import strict_json
from wm_audit.core.record import seal

ROOT = Path(__file__).resolve().parents[2]
PUBLISHED = sorted((ROOT / "leaderboard").glob("results_*.json"))
NAME = "results_pixel_nav_pilot.json"
PROMISE = "draft_0_without_power.yaml"
Checks = dict[str, dict[str, object]]


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Configurations, results and pages of the project in a folder of their own."""
    for part in ("configs", "leaderboard"):
        shutil.copytree(ROOT / part, tmp_path / part)
    shutil.copy(ROOT / "README.md", tmp_path)
    monkeypatch.setattr(verify, "ROOT", tmp_path)
    return tmp_path


def run(path: Path, capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, Checks]:
    code = verify.main([str(path), "--json", *options])
    return code, {check["check"]: check for check in json.loads(capsys.readouterr().out)["checks"]}


@pytest.mark.parametrize("path", PUBLISHED, ids=lambda path: path.name)
def test_every_published_result_verifies(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, checks = run(path, capsys)
    assert code == 0
    assert list(checks) == list(NAMES)
    assert {str(check["state"]) for name, check in checks.items() if name != "re-run"} <= {"PASS", "CANNOT CHECK"}


def test_nothing_of_torch_is_imported() -> None:
    program = f"import sys; from wm_audit.cli import verify; verify.main([{str(PUBLISHED[0])!r}]); sys.exit('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "PASS          integrity" in done.stdout


def flip(path: Path, place: int) -> None:
    """Another digit at this place of the text."""
    text = path.read_text(encoding="utf-8")
    digit = str((int(text[place]) + 1) % 10)
    path.write_text(text[:place] + digit + text[place + 1 :], encoding="utf-8")


def digits(path: Path) -> list[int]:
    return [match.start() for match in re.finditer("[0-9]", path.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("seed", range(50))
def test_one_flipped_digit_of_the_results_is_named(seed: int, clone: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = clone / "leaderboard" / NAME
    place = random.Random(seed).choice(digits(path))  # noqa: S311 - a place, not a secret
    before = json.loads(path.read_text(encoding="utf-8"))
    flip(path, place)
    assert verify.main([str(path), "--json"]) != 0
    shown = capsys.readouterr()
    if not shown.out:  # a schema's or member's name, or a text that is no JSON any more
        assert NAME in shown.err
        return
    checks = {check["check"]: check for check in json.loads(shown.out)["checks"]}
    assert checks["integrity"]["state"] == "FAIL"
    where = [entry["where"] for check in checks.values() for entry in check["places"]]
    changed = changed_pointers(before, strict_json.loads(path.read_text(encoding="utf-8"), where=NAME))
    assert any(pointer.startswith(block.rstrip("/")) for pointer in changed for block in where), (changed, where)


def changed_pointers(one: object, two: object, where: str = "") -> list[str]:
    if isinstance(one, dict) and isinstance(two, dict) and list(one) == list(two):
        return [found for name in one for found in changed_pointers(one[name], two[name], f"{where}/{name}")]
    if isinstance(one, list) and isinstance(two, list):
        return [found for index in range(len(one)) for found in changed_pointers(one[index], two[index], f"{where}/{index}")]
    if one == two:
        return []
    inside = where.split("/")[1] in ("rows", "statistics", "verdicts")
    return [where if inside else "/digest"]


@pytest.mark.parametrize("seed", range(10))
def test_one_flipped_digit_of_the_promise_is_named(seed: int, clone: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = clone / "configs" / "superseded" / PROMISE
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    values = [
        sum(map(len, lines[:number])) + match.start()
        for number, line in enumerate(lines)
        if ":" in line and not line.lstrip().startswith("#")
        for match in re.finditer(r"(?<=[ \[.0-9])[0-9](?![0-9a-zA-Z_]*:)", line.partition("#")[0])
    ]
    flip(path, random.Random(seed).choice(values))  # noqa: S311 - a place, not a secret
    code, checks = run(clone / "leaderboard" / NAME, capsys)
    assert (code, checks["lock"]["state"]) == (1, "FAIL")
    assert PROMISE in json.dumps(checks["lock"])


@pytest.mark.parametrize("page", ["leaderboard/LEADERBOARD.md", "README.md"])
@pytest.mark.parametrize("seed", range(5))
def test_one_flipped_digit_of_a_page_is_named_by_its_line(seed: int, page: str, clone: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = clone / page
    text = path.read_text(encoding="utf-8")
    first, last = (text.index("<!-- leaderboard/results_"), text.index("<!-- end -->")) if page == "README.md" else (0, len(text))
    first = text.index("\n", first)
    place = random.Random(seed).choice([place for place in digits(path) if first < place < last])  # noqa: S311 - a place
    flip(path, place)
    code, checks = run(clone / "leaderboard" / NAME, capsys)
    assert (code, checks["artefacts"]["state"]) == (1, "FAIL")
    assert f"{path.name} line {text[:place].count(chr(10)) + 1}" in json.dumps(checks["artefacts"])


def test_a_number_changed_with_all_its_seals_is_caught_by_the_recomputation(clone: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = clone / "leaderboard" / NAME
    document = json.loads(path.read_text(encoding="utf-8"))
    document["verdicts"][0] = seal(document["verdicts"][0] | {"label": "SUPPORTED"})
    path.write_text(strict_json.dumps(document | {"digest": results.digest_of(strict_json.dumps(document))}), encoding="utf-8")
    make_leaderboard.main(["--folder", str(clone / "leaderboard")])
    capsys.readouterr()
    code, checks = run(path, capsys)
    assert (code, checks["integrity"]["state"]) == (1, "FAIL")
    assert "/verdicts/0/label" in json.dumps(checks["integrity"])


def test_a_missing_row_makes_it_incomplete(clone: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = clone / "leaderboard" / NAME
    document = json.loads(path.read_text(encoding="utf-8"))
    del document["rows"][5]
    path.write_text(json.dumps(document), encoding="utf-8")
    code, checks = run(path, capsys)
    assert code == 1
    assert checks["grid"]["state"] == "FAIL"


@pytest.mark.parametrize("content", [b"", b"{}", b"[1]", b"\xff\xfe", b'{"schema": "wm_audit/cell/1"}', b"{" * 5000])
def test_what_is_no_results_file_is_one_line(content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "results_x.json"
    path.write_bytes(content)
    assert verify.main([str(path)]) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1
    assert verify.main([str(tmp_path / "absent.json")]) == 2
    assert verify.main([str(path), "--rerun", "-1"]) == 3


def test_another_promise_named_by_hand_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = tmp_path / "other.yaml"
    text = (ROOT / "configs" / "preregistration.yaml").read_text(encoding="utf-8")
    other.write_text(text.replace("version: 0", "version: 1", 1), encoding="utf-8")
    code, checks = run(PUBLISHED[0], capsys, "--lock", str(other))
    assert (code, checks["lock"]["state"]) == (1, "FAIL")
