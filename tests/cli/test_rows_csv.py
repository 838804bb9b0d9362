"""Rows leave as a CSV and come back with every number; what cannot come back whole is refused on either way."""

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from wm_audit.board import results
from wm_audit.cli import analyse, rows_csv
from wm_audit.core import AuditError, Key, Measurement, Reason, Row
from wm_audit.prereg.promise import Promise, load_promise

ROOT = Path(__file__).resolve().parents[2]
PILOT = ROOT / "leaderboard" / "results_pixel_nav_pilot.json"
# What is made of single starts and of the features' names, neither of which a cell can hold.
NOT_CARRIED = {"controls", "outcome_resolution", "feature", "sha256"}


@pytest.fixture(scope="module")
def promise() -> Promise:
    return load_promise(ROOT / "configs" / "preregistration.yaml")


@pytest.fixture(scope="module")
def pilot_csv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The published pilot's rows, as the command writes them."""
    path = tmp_path_factory.mktemp("csv") / "rows.csv"
    assert analyse.main([str(PILOT), "--csv", str(path)]) == 0
    return path


def carried(value: Any, place: str = "") -> dict[str, Any]:
    """Every leaf that a CSV can carry, under its place in the file."""
    if not isinstance(value, dict | list):
        return {place: value}
    items = value.items() if isinstance(value, dict) else enumerate(value)
    return {at: leaf for name, item in items if name not in NOT_CARRIED for at, leaf in carried(item, f"{place}/{name}").items()}


def near(one: Any, two: Any) -> bool:
    return isinstance(one, float) and isinstance(two, float) and abs(one - two) <= 1e-12


def test_the_exported_pilot_gives_the_published_statistics(pilot_csv: Path, tmp_path: Path) -> None:
    out = tmp_path / "results_again.json"
    assert analyse.main([str(pilot_csv), "--out", str(out)]) == 0
    published, again = results.read(PILOT), results.read(out)
    for block in ("statistics", "verdicts"):
        found, expected = carried(again[block]), carried(published[block])
        assert found.keys() == expected.keys()
        assert len(found) > 40
        # 1e-12: eigenvalues and arctanh differ in the last bits between processors; labels and reasons are text, and equal.
        wrong = {
            place: (leaf, expected[place]) for place, leaf in found.items() if leaf != expected[place] and not near(leaf, expected[place])
        }
        assert not wrong
    for name in ("n", "distinct", "share", "largest_tie_group", "capacities"):
        assert (
            again["statistics"]["pixel_nav"]["outcome_resolution"][name] == published["statistics"]["pixel_nav"]["outcome_resolution"][name]
        )
    for one, two in zip(again["statistics"]["pixel_nav"]["controls"], published["statistics"]["pixel_nav"]["controls"], strict=True):
        assert one["status"] == two["status"] or one["note"] == "the row holds no planner_returns"


def test_every_number_comes_back_to_the_last_bit(pilot_csv: Path, promise: Promise) -> None:
    published = {row.key: row for row in results.rows_of(results.read(PILOT))}
    found = {row.key: row for row in rows_csv.read(pilot_csv, promise)}
    assert found.keys() == published.keys()
    for key, row in published.items():
        assert (found[key].outcome.value, found[key].outcome.reason) == (row.outcome.value, row.outcome.reason)
        assert found[key].diagnostics.keys() == row.diagnostics.keys()
        for name, item in row.diagnostics.items():
            again = found[key].diagnostics[name]
            kept = ("value", "reason", "repeat", "unit", "orientation")
            assert [getattr(again, one) for one in kept] == [getattr(item, one) for one in kept]


def test_a_null_is_written_as_its_reason_and_the_same_rows_give_the_same_text(pilot_csv: Path, promise: Promise) -> None:
    text = pilot_csv.read_text(encoding="utf-8")
    lines = list(csv.DictReader(text.splitlines()))
    assert {line["pixel_mse"] for line in lines if line["arm"] == "random"} == {"not_applicable"}
    rows = rows_csv.read(pilot_csv, promise)
    assert rows_csv.write(rows[::-1], promise, where="rows") == text


@pytest.mark.parametrize("value", [0.1 + 0.2, 5e-324, -9.999999999999999e99, -0.0, 1e22, 3.0])
def test_awkward_numbers_and_names_survive(value: float, promise: Promise, tmp_path: Path) -> None:
    low, null = Measurement(value, repeat=value), Measurement.null(Reason.PROBE_DEGENERATE)
    rows = [Row(Key('a,"b" ü', 1, 2, 3), Measurement(value), {"pixel_mse": low, "pixel_ssim": null})]
    path = tmp_path / "rows.csv"
    path.write_bytes(rows_csv.write(rows, promise, where="rows").encode())
    (again,) = rows_csv.read(path, promise)
    assert again.key == rows[0].key
    for item in (again.outcome.value, again.diagnostics["pixel_mse"].value, again.diagnostics["pixel_mse"].repeat):
        assert repr(item) == repr(value)
    assert again.diagnostics["pixel_ssim"].reason is Reason.PROBE_DEGENERATE


@pytest.mark.parametrize(("diagnostics", "said"), [({"pixel_mse": 1.0}, "has no 'pixel_ssim'"), ({"psnr": 1.0}, "'psnr'")])
def test_rows_that_would_not_come_back_are_not_written(diagnostics: dict[str, float], said: str, promise: Promise) -> None:
    whole = Row(Key("w", 1, 1, 0), Measurement(1.0), {"pixel_mse": Measurement(1.0), "pixel_ssim": Measurement(1.0)})
    other = Row(Key("w", 1, 1, 1), Measurement(1.0), {name: Measurement(value) for name, value in diagnostics.items()})
    with pytest.raises(AuditError, match=said):
        rows_csv.write([whole, other], promise, where="rows")


@pytest.mark.parametrize(
    ("found", "wanted", "said"),
    [
        ("pixel_mse", "outcome", "'outcome' twice"),
        ("pixel_mse", "pixel_ssim.repeat", "pixel_ssim beside it"),
        ("0.0500", "0,0500", "line 2: has 8 cells; expected 7"),
        ("0.0500,", "", "line 2: has 6 cells; expected 7"),
        ("0.0500", '"0.0500', "cannot be read"),
        ("0.0500", "1_0", "holds '1_0'"),
        ("my_world,16,16,0", "my_world,1_6,16,0", "holds '1_6'"),
    ],
)
def test_a_table_that_would_be_misread_is_refused(
    rows_csv: Path, found: str, wanted: str, said: str, one_line: Callable[[], str], tmp_path: Path
) -> None:
    rows_csv.write_text(rows_csv.read_text(encoding="utf-8").replace(found, wanted, 1), encoding="utf-8")
    assert analyse.main([str(rows_csv), "--csv", str(tmp_path / "again.csv")]) == 2
    assert said in one_line()
    assert not (tmp_path / "again.csv").exists()


@pytest.mark.parametrize("name", ["rows.csv", "again.txt"])
def test_a_wrong_place_is_wrong_usage(name: str, rows_csv: Path, one_line: Callable[[], str], tmp_path: Path) -> None:
    before = rows_csv.read_bytes()
    assert analyse.main([str(rows_csv), "--csv", str(tmp_path / name)]) == 3
    assert "--csv" in one_line()
    assert rows_csv.read_bytes() == before
