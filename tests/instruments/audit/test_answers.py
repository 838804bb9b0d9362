"""What a whole audit must say of the models whose answers are known."""

from pathlib import Path

import numpy as np
import pytest

from wm_audit.board import results
from wm_audit.core import Key, Reason, Row
from wm_audit.models.dreamer_lite import KL_RULE

pytestmark = pytest.mark.xdist_group("tiny audit")  # one reference run for all of them


@pytest.fixture(scope="module")
def rows(reference: Path) -> dict[Key, Row]:
    return {row.key: row for row in results.rows_of(results.read(reference))}


def arm(rows: dict[Key, Row], name: str) -> Row:
    return rows[Key("pixel_nav", 0, 0, 0, name)]


def test_the_oracle_is_perfect(rows: dict[Key, Row]) -> None:
    oracle = arm(rows, "oracle")
    assert oracle.diagnostics["return_ece"].value == 0.0
    assert oracle.diagnostics["counterfactual_tau"].value == 1.0
    assert oracle.diagnostics["uncertainty_rho"].reason is Reason.IDENTICAL_MEMBERS
    assert oracle.diagnostics["uncertainty_ece"].reason is Reason.IDENTICAL_MEMBERS
    assert oracle.diagnostics["pixel_mse"].value == 0.0


def test_the_oracle_plans_as_the_planner_on_the_environment_itself(rows: dict[Key, Row]) -> None:
    details = arm(rows, "oracle").details
    assert details["returns"] == details["planner_returns"]
    assert len(details["returns"]) == 20


def test_the_action_blind_model_looks_good_and_fails_control(rows: dict[Key, Row]) -> None:
    blind, constant, random = (arm(rows, name) for name in ("action_blind", "constant", "random"))
    assert blind.diagnostics["counterfactual_tau"].value == 0.0
    assert (blind.diagnostics["pixel_mse"].value or 0.0) < 0.2 * (constant.diagnostics["pixel_mse"].value or 0.0)
    oracle = np.mean(arm(rows, "oracle").details["returns"])
    gap = oracle - np.mean(random.details["returns"])
    assert np.mean(blind.details["returns"]) - np.mean(random.details["returns"]) < 0.25 * gap


def test_the_null_lever_changes_nothing(rows: dict[Key, Row]) -> None:
    copies = [key for key in rows if key.compression == "copy"]
    assert len(copies) == 4
    for key in copies:
        whole = rows[Key(key.env, key.hidden, key.embed, key.seed)]
        assert rows[key].outcome == whole.outcome
        assert {name: item.value for name, item in rows[key].diagnostics.items()} == {
            name: item.value for name, item in whole.diagnostics.items()
        }
        assert rows[key].details["returns"] == whole.details["returns"]


def test_k36_int8_rows_say_what_was_compressed(rows: dict[Key, Row]) -> None:
    for key in (key for key in rows if key.compression == "int8"):
        details = rows[key].details
        assert "integer" in details["engine"]
        assert set(details["compressed_share"]) == {"encoder", "dynamics", "decoder", "reward", "continue"}
        assert min(details["compressed_share"].values()) > 0.0
        assert details["size_bytes"] < rows[Key(key.env, key.hidden, key.embed, key.seed)].details["size_bytes"]


def test_k18_k31_float_rows_carry_their_repetition_and_rule_and_every_row_its_data(rows: dict[Key, Row]) -> None:
    for key, row in rows.items():
        assert row.manifest["dataset"].startswith("sha256:")
        if key.arm == "trained" and key.compression == "none":
            assert all(item.repeat is not None for item in row.diagnostics.values() if item.value is not None)
            assert len(row.details["training"]["active_units"]) == 3
            assert row.details["training"]["kl_rule"] == KL_RULE


def test_the_random_policy_has_a_return_and_nothing_else(rows: dict[Key, Row]) -> None:
    random = arm(rows, "random")
    assert random.outcome.value is not None
    assert {item.reason for item in random.diagnostics.values()} == {Reason.NOT_APPLICABLE}
