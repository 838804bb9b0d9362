"""Checks of a results file, each against a document that is wrong in one place."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from wm_audit.board.verification.check import Check, State
from wm_audit.board.verification.compare import differences, same
from wm_audit.board.verification.grid import grid
from wm_audit.board.verification.integrity import integrity
from wm_audit.board.verification.lineage import lineage
from wm_audit.board.verification.nulls import nulls
from wm_audit.board.verification.promised import Promised, claims, deviations, lock, time
from wm_audit.board.verification.subject import Subject
from wm_audit.board.verification.verify import exit_code
from wm_audit.core import Key
from wm_audit.instruments.audit.protocol import planned
from wm_audit.prereg.promise import load_promise

ROOT = Path(__file__).resolve().parents[2]
PILOT = ROOT / "leaderboard" / "results_pixel_nav_pilot.json"
PROMISE = load_promise(ROOT / "configs" / "superseded" / "draft_0_without_power.yaml")
Change = Callable[[dict[str, Any]], Any]


@pytest.fixture(scope="module")
def pilot() -> dict[str, Any]:
    """The published pilot."""
    found: dict[str, Any] = json.loads(PILOT.read_text(encoding="utf-8"))
    return found


def changed(pilot: dict[str, Any], change: Change) -> Subject:
    document = copy.deepcopy(pilot)
    change(document)
    return Subject(PILOT, "", document, None)


def put(*path: Any) -> Change:
    """Puts the last argument at the place of the others."""

    def change(document: Any) -> None:
        for step in path[:-2]:
            document = document[step]
        document[path[-2]] = path[-1]

    return change


def places(check: Check) -> list[str]:
    return [place.where for place in check.places]


@pytest.mark.parametrize(
    ("change", "where"),
    [
        (put("rows", 3, "manifest", "preregistration", "sha256:" + "0" * 64), "/rows/3/manifest/preregistration"),
        (put("rows", 3, "manifest", "environment", "sha256:" + "0" * 64), "/rows/3/manifest/environment"),
        (put("rows", 3, "manifest", "dataset", None), "/rows/3/manifest/dataset"),
        (put("rows", 3, "manifest", "code", "unknown"), "/rows/3/manifest/code"),
        (put("rows", 3, "manifest", "code", "sha256:" + "0" * 64), "/rows/3/manifest/code"),
    ],
)
def test_lineage_names_the_row(pilot: dict[str, Any], change: Change, where: str) -> None:
    assert lineage(changed(pilot, lambda _: None), None).state is State.PASS
    found = lineage(changed(pilot, change), None)
    assert (found.state, places(found)) == (State.FAIL, [where])


def test_rows_measured_elsewhere_have_no_lineage(pilot: dict[str, Any]) -> None:
    elsewhere = changed(pilot, put("environment", {"digest": "measured elsewhere"}))
    assert lineage(elsewhere, None).state is State.CANNOT_CHECK
    assert deviations(elsewhere, Promised(PROMISE)).state is State.CANNOT_CHECK


def test_uncommitted_sources_are_said(pilot: dict[str, Any]) -> None:
    assert "no commit holds" in lineage(changed(pilot, put("rows", 0, "manifest", "dirty", True)), None).sentence


def test_descent_is_unknown_where_git_does_not_know_the_commit(pilot: dict[str, Any]) -> None:
    found = lineage(changed(pilot, lambda _: None), "0" * 40)
    assert found.state is State.CANNOT_CHECK


def test_the_grid_counts_every_cell(pilot: dict[str, Any]) -> None:
    assert grid(changed(pilot, lambda _: None), planned).state is State.PASS
    missing = changed(pilot, lambda document: document["rows"].pop(4))
    assert places(grid(missing, planned)) == ["/missing"]
    twice = changed(pilot, lambda document: document["rows"].insert(0, document["rows"][0]))
    assert places(grid(twice, planned)) == ["/rows/0/key", "/rows/1/key"]
    extra = changed(pilot, put("rows", 0, "key", Key("pixel_nav", 1, 1, 0).to_json()))
    assert "/rows/0/key" in places(grid(extra, planned))

    def stated(document: dict[str, Any]) -> None:
        document["missing"].append(document["rows"].pop(4)["key"])

    partial = grid(changed(pilot, stated), planned)
    assert (partial.state, partial.incomplete, exit_code([partial], strict=False)) == (State.PASS, True, 2)


def test_a_null_needs_a_known_reason_and_a_number_none(pilot: dict[str, Any]) -> None:
    assert nulls(changed(pilot, lambda _: None)).state is State.PASS
    silent = nulls(changed(pilot, put("rows", 5, "diagnostics", "pixel_mse", "value", None)))
    assert places(silent) == ["/rows/5/diagnostics/pixel_mse/reason"]
    both = nulls(changed(pilot, put("rows", 5, "diagnostics", "pixel_mse", "reason", "single_member")))
    assert places(both) == ["/rows/5/diagnostics/pixel_mse/reason"]
    made_up = nulls(changed(pilot, put("verdicts", 0, "interval_reason", "bad luck")))
    assert places(made_up) == ["/verdicts/0/interval_reason"]


@pytest.mark.parametrize(("member", "value"), [("present", 99), ("coverage", 0.5), ("strict", 1.0), ("relaxed", None)])
def test_coverage_adds_up(pilot: dict[str, Any], member: str, value: Any) -> None:
    def change(document: dict[str, Any]) -> None:
        entry = document["statistics"]["pixel_nav"]["composites"][0]
        if member == "strict":
            entry |= {"present": entry["planned"] - 1, "coverage": (entry["planned"] - 1) / entry["planned"]}
        entry[member] = value

    found = nulls(changed(pilot, change))
    assert found.state is State.FAIL
    assert f"/statistics/pixel_nav/composites/0/{member}" in places(found)


@pytest.mark.parametrize(
    ("member", "value"), [("version", 3), ("status", "locked"), ("locked_on", "2030-01-01"), ("digest", "sha256:" + "0" * 64)]
)
def test_the_header_says_what_the_promise_says(pilot: dict[str, Any], member: str, value: Any) -> None:
    assert lock(changed(pilot, lambda _: None), Promised(PROMISE)).state is State.PASS
    found = lock(changed(pilot, put("preregistration", member, value)), Promised(PROMISE))
    assert (found.state, places(found)) == (State.FAIL, [f"/preregistration/{member}"])


def test_without_a_promise_its_checks_cannot_be_made(pilot: dict[str, Any]) -> None:
    read, nowhere = changed(pilot, lambda _: None), Promised(None, "it is nowhere")
    assert {check.state for check in (lock(read, nowhere), time(nowhere), deviations(read, nowhere))} == {State.CANNOT_CHECK}
    assert claims(read, nowhere).state is State.PASS  # under a draft everything is exploratory
    assert lock(read, Promised(None, "torn", broken=True)).state is State.FAIL


def test_a_run_beyond_the_promise_is_named(pilot: dict[str, Any]) -> None:
    found = deviations(changed(pilot, put("config", "training", "batch", 5)), Promised(PROMISE))
    assert (found.state, places(found)) == (State.FAIL, ["/config/training/batch"])
    invented = deviations(changed(pilot, put("deviations", [{"id": "D1"}])), Promised(PROMISE))
    assert invented.state is State.FAIL


@pytest.mark.parametrize("change", [put("config", "capacities", [3]), put("config", "seeds", []), put("config", "arms", None)])
def test_a_configuration_that_plans_nothing_fails_the_grid(change: Change, pilot: dict[str, Any]) -> None:
    found = grid(changed(pilot, change), planned)
    assert (found.state, places(found)) == (State.FAIL, ["/config"])


def test_an_environment_that_has_no_digest_is_named(pilot: dict[str, Any]) -> None:
    found = integrity(changed(pilot, put("environment", "torch", 0.5)), dict)
    assert "/environment/digest" in places(found)


def test_a_label_that_the_rules_do_not_give_is_named(pilot: dict[str, Any]) -> None:
    found = claims(changed(pilot, put("claim", "confirmatory")), Promised(PROMISE))
    assert places(found) == ["/claim"]
    found = claims(changed(pilot, put("verdicts", 1, "claim", "confirmatory")), Promised(PROMISE))
    assert places(found) == ["/verdicts/1/claim"]


def test_rounding_is_no_difference_and_a_type_is() -> None:
    assert same(1.0, 1.0 + 1e-10)
    assert not same(1.0, 1.0 + 1e-8)
    assert same(1e12, 1e12 + 1.0)
    assert not same(1, True)
    assert not same(None, 0.0)
    assert not same(3, 4)
    assert [place.where for place in differences({"a": [1, 2]}, {"a": [1, 3], "b": 0})] == ["/a/1", "/b"]
    assert [place.where for place in differences([1], [1, 2], "/x")] == ["/x"]


def test_exit_codes() -> None:
    good, bad, unsure = Check("a", State.PASS, ""), Check("b", State.FAIL, ""), Check("c", State.CANNOT_CHECK, "")
    partial = Check("d", State.PASS, "", incomplete=True)
    assert exit_code([good, Check("e", State.NOT_REQUESTED, "")], strict=True) == 0
    assert exit_code([good, unsure], strict=False) == 0
    assert exit_code([good, unsure], strict=True) == 1
    assert exit_code([bad, partial], strict=False) == 1
    assert exit_code([good, partial], strict=False) == 2
