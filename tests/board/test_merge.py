from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wm_audit.board import merge, results
from wm_audit.core import AuditError, Key, Measurement, Row, strict_json
from wm_audit.core.record import Record, file_name, seal, write_record
from wm_audit.instruments.audit.decide import conclude
from wm_audit.verdict import Rules, judge

Rows = Callable[..., list[Row]]
Make = Callable[..., Record]


@pytest.fixture(scope="module")
def named(rows: Rows, record: Make) -> list[tuple[str, Record]]:
    return [(f"shard{place % 2}/{file_name(row.key)}", record(row)) for place, row in enumerate(rows())]


def planned(named: list[tuple[str, Record]]) -> list[Key]:
    return [item.key for _, item in named]


def text_of(merged: merge.Merged) -> str:
    made = [Row.from_json(entry) for entry in merged.rows]
    statistics, verdicts = judge(made, Rules(resamples=20, permutations=50))
    document = results.build(
        rows=merged.rows,
        statistics=statistics,
        verdicts=verdicts,
        preregistration=merged.preregistration,
        config=merged.config,
        environment=merged.environment,
        missing=merged.missing,
    )
    return strict_json.dumps(document)


@settings(max_examples=3, deadline=None)
@given(random=st.randoms(use_true_random=False))
def test_shards_merged_in_any_order_give_the_same_bytes(named: list[tuple[str, Record]], random: Any) -> None:
    expected = text_of(merge.merge(named, planned(named)))
    shuffled = [*named, *random.sample(named, 3)]
    random.shuffle(shuffled)
    assert text_of(merge.merge(shuffled, planned(named)[::-1])) == expected


def test_folders_are_read_back_as_they_were_written(named: list[tuple[str, Record]], tmp_path: Path) -> None:
    for name, item in named:
        write_record(tmp_path / name.partition("/")[0], item)
    found = merge.gather([tmp_path / "shard1", tmp_path / "shard0"])
    merged = merge.merge(found, planned(named))
    assert list(merged.rows) == sorted((item.row for _, item in named), key=lambda row: Key(**row["key"]))
    assert (merged.status, merged.missing) == ("complete", ())


def test_a_folder_without_records_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AuditError, match="holds no records"):
        merge.gather([tmp_path / "nowhere"])


def test_a_torn_record_is_named(named: list[tuple[str, Record]], tmp_path: Path) -> None:
    path = write_record(tmp_path, named[0][1])
    path.write_text(path.read_text(encoding="utf-8")[:-40], encoding="utf-8")
    with pytest.raises(AuditError, match=path.name):
        merge.gather([tmp_path])


@pytest.mark.parametrize(
    ("part", "change", "said"),
    [
        ("preregistration", {"digest": 3}, "/preregistration/digest"),
        ("preregistration", {"version": [1]}, "/preregistration/version"),
        ("row", {"manifest": []}, "/row/manifest"),
        ("row", {"details": {"returns": ["a"]}}, "/row/details/returns/0"),
        ("row", {"diagnostics": {"pixel_mse": Measurement(1e300).to_json()}}, "/row/diagnostics/pixel_mse"),
        ("row", {"diagnostics": {"pixel_mse": {"value": 1.0}}}, "cannot be read"),
        ("row", {"outcome": Measurement(1.0).to_json() | {"unit": 3}}, "Measurement.unit must be text, found 3"),
    ],
)
def test_a_record_that_was_sealed_anew_must_still_be_a_record(
    part: str, change: dict[str, Any], said: str, named: list[tuple[str, Record]], tmp_path: Path
) -> None:
    record = named[0][1]
    value = getattr(record, part) | change
    new: dict[str, Any] = {part: seal(value) if part == "row" else value}
    path = write_record(tmp_path, replace(record, **new))
    with pytest.raises(AuditError) as caught:
        merge.gather([tmp_path])
    assert str(caught.value).startswith(str(path))
    assert said in str(caught.value)


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"capacities": 3},
        {"capacities": [{"hidden": "a", "embed": 1}], "environments": ["w"], "arms": ["trained"], "seeds": [0], "levers": []},
        {"capacities": [], "environments": [["w"]], "arms": ["oracle"], "seeds": [0], "levers": []},
        {"capacities": [], "environments": ["w"], "arms": ["oracle"], "seeds": [], "levers": []},
    ],
)
def test_a_configuration_that_plans_nothing_is_named(config: dict[str, Any], named: list[tuple[str, Record]], tmp_path: Path) -> None:
    path = write_record(tmp_path, replace(named[0][1], config=config))
    with pytest.raises(AuditError, match="plans no cells") as caught:
        conclude([tmp_path])
    assert str(path) in str(caught.value)


def test_nothing_to_merge() -> None:
    with pytest.raises(AuditError, match="no records"):
        merge.merge([], [])


@pytest.mark.parametrize(
    ("member", "changed", "message"),
    [
        ("preregistration", {"digest": "sha256:" + "f" * 64}, "different promises: .* at /preregistration/digest"),
        ("config", {"level": "0.95"}, "different configurations: .*'0.9' at /config/level, this record '0.95'"),
        ("config", {"name": None}, "different configurations: .* at /config/name"),
        ("environment", {"torch": "2.12.0"}, "different environments: .*'2.13.0' at /environment/torch, this record '2.12.0'"),
    ],
)
def test_a_mix_is_refused_and_the_first_difference_named(
    named: list[tuple[str, Record]], record: Make, member: str, changed: dict[str, Any], message: str
) -> None:
    row = Row.from_json(named[-1][1].row)
    other = record(row, **{member: getattr(named[0][1], member) | changed})
    with pytest.raises(AuditError, match=message):
        merge.merge([*named[:-1], ("other.json", other)], planned(named))


def test_an_environment_with_a_further_field_is_another_one(named: list[tuple[str, Record]], rows: Rows, record: Make) -> None:
    other = record(rows()[-1], environment=named[0][1].environment | {"renderer": "egl"})
    with pytest.raises(AuditError, match="'nothing' at /environment/renderer, this record 'egl'"):
        merge.merge([*named[:-1], ("other.json", other)], planned(named))


def test_one_cell_with_two_contents_is_refused(named: list[tuple[str, Record]], record: Make) -> None:
    row = Row.from_json(named[0][1].row)
    other = Row(row.key, Measurement(99.0, unit="return", n=6, orientation=1), row.diagnostics, row.details, row.manifest)
    with pytest.raises(AuditError, match=r"zz\.json: differs from shard0/.* at /outcome/value: .* and 99.0"):
        merge.merge([*named, ("zz.json", record(other))], planned(named))


def test_one_cell_from_two_codes_is_refused(named: list[tuple[str, Record]], record: Make) -> None:
    twin = record(Row.from_json(named[0][1].row), resume_key="sha256:" + "0" * 64)
    with pytest.raises(AuditError, match="at /resume_key"):
        merge.merge([*named, ("zz.json", twin)], planned(named))


@pytest.mark.parametrize(("member", "said"), [("code", "different sources"), ("model", "different models")])
def test_rows_of_two_sources_or_two_models_are_refused(member: str, said: str, named: list[tuple[str, Record]], record: Make) -> None:
    def made_by(index: int, digest: str) -> tuple[str, Record]:
        name, old = named[index]
        return name, record(Row.from_json(old.row | {"manifest": old.row["manifest"] | {member: digest}}))

    one, two = ("sha256:" + digit * 64 for digit in "12")
    alike = [made_by(index, one) for index in range(len(named))]
    assert merge.merge(alike, planned(named)).status == "complete"
    with pytest.raises(AuditError, match=f"{said}.*manifest/{member}"):
        merge.merge([*alike[:-1], made_by(-1, two)], planned(named))


def test_an_unplanned_cell_is_refused(named: list[tuple[str, Record]]) -> None:
    with pytest.raises(AuditError, match="is a cell that the configuration does not name"):
        merge.merge(named, planned(named)[1:])


def test_a_missing_cell_makes_the_result_partial_and_is_named(named: list[tuple[str, Record]]) -> None:
    merged = merge.merge(named[1:], planned(named))
    assert merged.status == "partial"
    assert merged.missing == (named[0][1].key,)
