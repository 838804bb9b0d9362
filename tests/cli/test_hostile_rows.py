"""Rows that no run would write: each is refused in one line, with its place and the right exit code, and nothing is written."""

import csv
import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from wm_audit.board import results
from wm_audit.cli import analyse, frame
from wm_audit.core import AuditError, Key, Measurement, Row, strict_json
from wm_audit.instruments.audit.decide import document
from wm_audit.verdict import Rules

Line = Callable[[], str]
HEAD = "env,hidden,embed,seed,outcome,pixel_mse"


def rows(count: int = 4) -> list[dict[str, Any]]:
    return [Row(Key("w", 8, 8, seed), Measurement(1.0 + seed), {"pixel_mse": Measurement(0.5 - seed)}).to_json() for seed in range(count)]


def written(path: Path, value: Any) -> Path:
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


def changed(place: tuple[str, ...], value: Any) -> list[dict[str, Any]]:
    made = rows()
    target = made[2]
    for step in place[:-1]:
        target = target[step]
    target[place[-1]] = value
    return made


@pytest.mark.parametrize(
    ("place", "value", "said"),
    [
        (("key", "env"), ["w"], "row 2 at /key/env"),
        (("key", "env"), "w\x1b[31m", "row 2: cannot be read (env must be printable"),
        (("key", "env"), "\ud800", "row 2"),
        (("key", "hidden"), "8", "row 2 at /key/hidden"),
        (("key", "hidden"), True, "row 2"),
        (("key", "hidden"), 8.0, "row 2: cannot be read (hidden must be a whole"),
        (("key", "seed"), None, "row 2 at /key/seed"),
        (("key", "seed"), {}, "row 2 at /key/seed"),
        (("key", "seed"), 10**300, "row 2 at /key/seed"),
        (("key", "arm"), "tained", "row 2 at /key/arm"),
        (("key", "arm"), [], "row 2 at /key/arm"),
        (("key", "compression"), {"a": 1}, "row 2 at /key/compression"),
        (("key",), [1, 2], "row 2 at /key"),
        (("key", "colour"), "red", "row 2 at /key"),
        (("outcome", "value"), "1.5", "row 2 at /outcome"),
        (("outcome", "value"), True, "row 2 at /outcome"),
        (("outcome", "value"), 10**200, "row 2 at /outcome"),
        (("outcome", "value"), 1e308, "row 2 at /outcome"),
        (("outcome", "n"), -1, "row 2 at /outcome/n"),
        (("outcome",), 3, "row 2 at /outcome"),
        (("diagnostics",), [], "row 2 at /diagnostics"),
        (("diagnostics", "pixel_mse"), None, "row 2 at /diagnostics/pixel_mse"),
        (("details",), [], "row 2 at /details"),
        (("details", "returns"), ["a"], "row 2 at /details/returns/0"),
        (("details", "returns"), [1.0, 1e200], "row 2 at /details/returns/1"),
        (("details", "normalised_return"), {"value": 1.0}, "row 2 at /details/normalised_return"),
        (("details", "counterfactual_tau.pooled"), {}, "row 2 at /details/counterfactual_tau.pooled"),
        (("manifest",), "none", "row 2 at /manifest"),
    ],
)
def test_a_row_of_odd_types_is_named_with_its_member(place: tuple[str, ...], value: Any, said: str, one_line: Line, tmp_path: Path) -> None:
    path, out = written(tmp_path / "rows.json", changed(place, value)), tmp_path / "results_x.json"
    assert analyse.main([str(path), "--out", str(out)]) == 2
    line = one_line()
    assert said in line
    assert line.isprintable()
    assert not out.exists()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (HEAD, "holds no rows"),
        ("", "has no column"),
        (f"{HEAD}\n\n\n", "holds no rows"),
        (f"{HEAD}\nw,8,8,0,1e308,0.1", "line 2 at /outcome"),
        (f"{HEAD}\nw,8,8,0,1.0,-1e101", "line 2 at /diagnostics/pixel_mse"),
        (f"{HEAD}\nw,8,8,{'9' * 5000},1.0,0.1", "line 2 column seed"),
        (f"{HEAD}\nw,8,8,{'9' * 400},1.0,0.1", "line 2 at /key/seed"),
        (f"{HEAD}\nw,8,8,0,1.0,0.1\nw,8,8,1,1.0,{'9' * (csv.field_size_limit() + 1)}", "line 3: cannot be read"),
        (f"{HEAD}\nw,8,8,0,1.0,{'x' * 100_000}", "line 2 column pixel_mse"),
        (f"{HEAD}\nw\x1b[2J,8,8,0,1.0,0.1", "line 2: cannot be read (env must be printable"),
        (f"{HEAD},arm\nw,8,8,0,1.0,0.1,tained", "line 2 at /key/arm"),
        (f"{HEAD}\nw,8,8,0,1.0,0.1\x00", "line 2"),
    ],
)
def test_a_table_beyond_reason_is_named_with_its_line(text: str, said: str, one_line: Line, tmp_path: Path) -> None:
    path, out = written(tmp_path / "rows.csv", text), tmp_path / "results_x.json"
    assert analyse.main([str(path), "--out", str(out)]) == 2
    line = one_line()
    assert said in line
    assert len(line) < 1500
    assert not out.exists()


@pytest.mark.parametrize("digits", [400, 5000])
def test_an_integer_beyond_any_float_is_no_number(digits: int, one_line: Line, tmp_path: Path) -> None:
    text = strict_json.dumps(rows()).replace('"value": 3.0', f'"value": {"9" * digits}')
    assert analyse.main([str(written(tmp_path / "rows.json", text))]) == 2
    line = one_line()
    assert "not finite" in line
    assert len(line) < 300


def test_the_largest_numbers_that_are_taken_are_judged_and_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """1e100 and 1e-300 side by side: nothing overflows, nothing that is printed or written is without a value or a reason."""
    floats = [
        Row(Key("w", 8, 8, seed), Measurement((-1) ** seed * 1e100), {"pixel_mse": Measurement(seed * 1e-300, repeat=-1e100)})
        for seed in range(6)
    ]
    twins = [Row(replace(row.key, compression="int8"), row.outcome, {"pixel_mse": Measurement(1e100)}) for row in floats]
    arms = [Row(Key("w", 0, 0, 0, arm), Measurement(value), {}) for arm, value in (("random", 0.0), ("oracle", 1e-300))]
    made, out = [row.to_json() for row in (*floats, *twins, *arms)], tmp_path / "results_x.json"
    assert analyse.main([str(written(tmp_path / "rows.json", made)), "--out", str(out)]) == 0
    assert "inf" not in capsys.readouterr().out
    assert results.read(out)["status"] == "complete"


def test_a_gap_in_the_grid_is_named_on_screen_and_in_the_file(rows_csv: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = rows_csv.read_text(encoding="utf-8").splitlines()
    first, second = tmp_path / "results_one.json", tmp_path / "results_two.json"
    assert analyse.main([str(written(rows_csv, "\n".join(lines[:-1]))), "--out", str(first)]) == 2
    assert "my_world-32x32-seed4-trained-none" in capsys.readouterr().out
    missing = [{"env": "my_world", "hidden": 32, "embed": 32, "seed": 4, "arm": "trained", "compression": "none"}]
    assert (results.read(first)["status"], results.read(first)["missing"]) == ("partial", missing)
    assert analyse.main([str(first), "--out", str(second)]) == 2
    assert "my_world-32x32-seed4-trained-none" in capsys.readouterr().out
    assert results.read(second)["missing"] == missing


def test_a_whole_seed_that_a_results_file_misses_stays_missing(rows_csv: Path, tmp_path: Path) -> None:
    """Only the file says that this seed was promised: no row spans it."""
    whole, partial, again = (tmp_path / f"results_{name}.json" for name in ("whole", "partial", "again"))
    assert analyse.main([str(rows_csv), "--out", str(whole)]) == 0
    found = results.read(whole)
    kept = [row for row in found["rows"] if row["key"]["seed"] != 4]
    absent = [Key.from_json(row["key"]) for row in found["rows"] if row["key"]["seed"] == 4]
    parts = {name: found[name] for name in ("statistics", "preregistration", "config", "environment")}
    results.write(partial, results.build(rows=kept, verdicts=[], missing=absent, **parts))
    assert analyse.main([str(partial), "--out", str(again)]) == 2
    found = results.read(again)
    assert [Key.from_json(item) for item in found["missing"]] == sorted(absent)
    assert found["statistics"]["my_world"]["grid"]["seeds"] == [0, 1, 2, 3, 4]


def test_what_is_only_printed_is_checked_too(rows_csv: Path, monkeypatch: pytest.MonkeyPatch, one_line: Line) -> None:
    monkeypatch.setattr("wm_audit.cli.analyse.document", lambda *args, **more: document(*args, **more) | {"claim": "proven"})
    assert analyse.main([str(rows_csv)]) == 2
    assert "at /claim" in one_line()


def test_names_from_files_cannot_write_to_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    frame.say("one\x1b[31m\ntwo")
    assert capsys.readouterr().out == "one\\x1b[31m\ntwo\n"


@pytest.mark.parametrize(("seeds", "said"), [(10_001, "holds 10001 rows"), (501, "holds 501 seeds")])
def test_more_than_can_be_judged_in_minutes_is_refused_at_once(seeds: int, said: str, one_line: Line, tmp_path: Path) -> None:
    lines = [HEAD, *(f"w,8,8,{seed},{seed % 7},{seed % 5}" for seed in range(seeds))]
    begun = time.monotonic()
    assert analyse.main([str(written(tmp_path / "rows.csv", "\n".join(lines)))]) == 2
    assert said in one_line()
    assert time.monotonic() - begun < 60


@pytest.mark.parametrize("count", ["resamples", "permutations"])
def test_no_file_asks_for_all_memory(count: str) -> None:
    too_many: dict[str, Any] = {count: 10**10}
    with pytest.raises(AuditError, match=f"rules.{count} is 10000000000"):
        Rules(**too_many)
