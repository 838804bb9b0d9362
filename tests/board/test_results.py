import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from wm_audit.board import results, schema
from wm_audit.core import AuditError, Key, Reason, Row, strict_json
from wm_audit.core.record import seal

Rows = Callable[..., list[Row]]
Document = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def small(rows: Rows, document: Document) -> dict[str, Any]:
    return document(rows(seeds=3, capacities=1, levers=("int8",), arms=False))


def test_what_is_written_is_read_back(rows: Rows, document: Document, tmp_path: Path) -> None:
    made = rows(levers=("copy", "int8"), extras=("pixel_mse.open_loop",))
    built, path = document(made), tmp_path / "results_pixel_nav.json"
    results.write(path, built)
    assert results.read(path) == built
    assert results.rows_of(results.read(path)) == sorted(made, key=lambda row: row.key)
    assert built["status"] == "complete"


def test_the_same_content_gives_the_same_bytes_in_whatever_order_it_comes(rows: Rows, document: Document, small: dict[str, Any]) -> None:
    made = rows(seeds=3, capacities=1, levers=("int8",), arms=False)
    config = {"level": "0.9", "seeds": [0, 1, 2], "environments": ["pixel_nav"], "name": "small"}
    assert strict_json.dumps(document(made[::-1], config=config)) == strict_json.dumps(small)


def test_missing_cells_make_the_result_partial_and_are_named(rows: Rows, document: Document) -> None:
    absent = [Key("pixel_nav", 32, 32, 2), Key("pixel_nav", 16, 16, 2)]
    built = document(rows(), missing=absent)
    assert built["status"] == "partial"
    assert [Key(**entry) for entry in built["missing"]] == sorted(absent)


def test_the_claim_stands_on_every_verdict(rows: Rows, document: Document) -> None:
    built = document(rows(seeds=3, capacities=1, arms=False), claim="confirmatory")
    assert {item["claim"] for item in built["verdicts"]} == {"confirmatory"}


def test_the_digest_is_that_of_the_bytes_with_its_own_digits_zeroed(small: dict[str, Any]) -> None:
    import hashlib

    text = strict_json.dumps(small)
    bare = text.replace(small["digest"].removeprefix("sha256:"), "0" * 64)
    assert bare != text
    assert small["digest"] == "sha256:" + hashlib.sha256(bare.encode()).hexdigest()


@pytest.mark.parametrize(
    ("path", "value", "place"),
    [
        (("rows", 1, "manifest", "code"), "sha256:" + "e" * 64, "/rows/1"),
        (("rows", 2, "diagnostics", "pixel_mse", "value"), 0.5, "/rows/2"),
        (("rows", 0, "details", "returns"), [1.0], "/rows/0"),
        (("statistics", "pixel_nav", "holm", "m_tested"), 10, "/statistics/pixel_nav"),
        (("verdicts", 1, "label"), "SUPPORTED", "/verdicts/1"),
        (("verdicts", 0, "caveats"), ["noisy_outcome"], "/verdicts/0"),
        (("config", "name"), "other", "/digest"),
        (("environment", "torch"), "2.12.0", "/digest"),
        (("preregistration", "locked_on"), "2020-01-01", "/digest"),
        (("claim",), "confirmatory", "/digest"),
    ],
)
def test_a_changed_value_is_named_by_its_block(small: dict[str, Any], path: tuple[Any, ...], value: Any, place: str) -> None:
    changed: Any = json.loads(json.dumps(small))
    inner = changed
    for step in path[:-1]:
        inner = inner[step]
    assert inner[path[-1]] != value
    inner[path[-1]] = value
    with pytest.raises(AuditError, match=re.escape(f"results.json at {place}: was changed after it was written")):
        results.verify_text(strict_json.dumps(changed), where="results.json")


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_any_changed_byte_is_caught_and_the_file_is_named(small: dict[str, Any], tmp_path: Path, data: st.DataObject) -> None:
    raw = bytearray(strict_json.dumps(small).encode())
    place = data.draw(st.integers(0, len(raw) - 1))
    raw[place] = data.draw(st.integers(0, 255).filter(lambda byte: byte != raw[place]))
    path = tmp_path / "results.json"
    path.write_bytes(raw)
    with pytest.raises(AuditError, match=r"results\.json"):
        results.read(path)


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_a_file_cut_anywhere_is_refused(small: dict[str, Any], tmp_path: Path, data: st.DataObject) -> None:
    raw = strict_json.dumps(small).encode()
    path = tmp_path / "results.json"
    path.write_bytes(raw[: data.draw(st.integers(0, len(raw) - 1))])
    with pytest.raises(AuditError, match=r"results\.json"):
        results.read(path)


@pytest.mark.parametrize("spelling", ['"value": null, ', '"value":  null', '"value": 1e400', '"value": NaN'])
def test_another_spelling_is_another_file(small: dict[str, Any], spelling: str) -> None:
    text = strict_json.dumps(small)
    one = re.search(r'"value": [-0-9.e]+', text)
    assert one is not None
    with pytest.raises(AuditError):
        results.verify_text(text.replace(one.group(), spelling, 1), where="r.json")


def test_a_lone_surrogate_is_a_changed_block_not_a_crash(small: dict[str, Any]) -> None:
    text = strict_json.dumps(small).replace('"unit": "return"', '"unit": "\\ud800"', 1)
    with pytest.raises(AuditError, match="at /rows/0"):
        results.verify_text(text, where="r.json")


def test_a_resealed_block_is_still_caught_by_the_file(small: dict[str, Any]) -> None:
    changed = json.loads(json.dumps(small))
    changed["rows"][0]["outcome"]["value"] = 99.0
    changed["rows"][0] = seal(changed["rows"][0])
    with pytest.raises(AuditError, match="at /digest"):
        results.verify_text(strict_json.dumps(changed), where="r.json")


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("surprise",), 1, "r.json at /: "),
        (("rows", 0, "surprise"), 1, "r.json at /rows/0: "),
        (("rows", 0, "outcome", "surprise"), 1, "r.json at /rows/0/outcome: "),
        (("rows", 0, "outcome", "value"), None, "/rows/0/outcome: found .*a value or a reason, exactly one of them"),
        (("rows", 0, "outcome", "reason"), "no_idea", "/rows/0/outcome"),
        (("rows", 0, "outcome", "value"), "0.5", "/rows/0/outcome"),
        (("rows", 0, "outcome", "n"), -1, "/rows/0/outcome/n"),
        (("rows", 0, "key", "arm"), "untrained", "/rows/0/key/arm"),
        (("rows", 0, "key", "compression"), "int4", "/rows/0/key/compression"),
        (("verdicts", 0, "label"), "MAYBE", "/verdicts/0/label"),
        (("verdicts", 0, "p_raw"), 1.5, "/verdicts/0/p_raw"),
        (("verdicts", 0, "surprise"), 1, "r.json at /verdicts/0: "),
        (("statistics", "pixel_nav", "correlations", 0, "p"), 2.0, "/statistics/pixel_nav/correlations/0/p"),
        (("statistics", "pixel_nav", "surprise"), 1, "r.json at /statistics/pixel_nav: "),
        (("status",), "done", "/status"),
        (("schema",), "wm_audit/results/2", "is not a results file"),
    ],
)
def test_the_schema_is_strict_and_points_at_the_place(small: dict[str, Any], path: tuple[Any, ...], value: Any, message: str) -> None:
    changed: Any = json.loads(json.dumps(small))
    inner = changed
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    with pytest.raises(AuditError, match=message):
        results.verify_text(strict_json.dumps(changed), where="r.json")


def test_an_invalid_document_is_not_written(small: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(AuditError, match="status"):
        results.write(tmp_path / "r.json", small | {"status": "done"})
    assert list(tmp_path.iterdir()) == []


def test_an_unreadable_file_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(AuditError, match="cannot be read"):
        results.read(tmp_path / "nowhere.json")
    (tmp_path / "latin.json").write_bytes(b"\xe9")
    with pytest.raises(AuditError, match="not UTF-8"):
        results.read(tmp_path / "latin.json")
    (tmp_path / "list.json").write_text("[]")
    with pytest.raises(AuditError, match="is not a results file"):
        results.read(tmp_path / "list.json")


def test_the_published_schema_is_valid_and_knows_every_reason() -> None:
    published = schema.published()
    Draft202012Validator.check_schema(published)
    assert published["$defs"]["reason"]["enum"] == [reason.value for reason in Reason]


def test_every_object_of_the_published_schema_is_closed_or_said_to_be_free() -> None:
    free = []

    def walk(value: Any, place: str) -> None:
        if isinstance(value, dict):
            if value.get("type") == "object" and value.get("additionalProperties", True) is True:
                free.append(place)
            for name, item in value.items():
                walk(item, f"{place}/{name}")
        elif isinstance(value, list):
            for index, item in enumerate(value):
                walk(item, f"{place}/{index}")

    walk(schema.published(), "")
    assert free == [
        "/properties/config",
        "/properties/environment",
        "/properties/deviations/items",
        "/$defs/row/properties/details",
        "/$defs/row/properties/manifest",
    ]


def test_pointers_escape_what_they_must() -> None:
    assert schema.pointer("rows", 3, "a/b~c") == "/rows/3/a~1b~0c"
