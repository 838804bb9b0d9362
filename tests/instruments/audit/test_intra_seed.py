"""The intra-seed correlation of a real result."""

from typing import Any

import numpy as np
import pytest

from wm_audit.core import Key, Measurement, Row, stream
from wm_audit.instruments.audit.intra_seed import assumed, intra_seed
from wm_audit.instruments.audit.simulate import Plan, spread
from wm_audit.verdict import Rules

RULES = Rules.default()


def rows(seeds: int, capacities: int, icc: float) -> list[Row]:
    """Every diagnostic is a side of its own; the outcome another; a lever adds a contrast whose cells agree perfectly."""
    names = list(RULES.slots)
    sides = spread(Plan(seeds, capacities, icc), len(names) + 1, stream(4, "rows"))
    shift = stream(4, "lever").normal(seeds)
    made = []
    for s in range(seeds):
        for c in range(capacities):
            key, outcome = Key("toy", 8 * (c + 1), 8, s), Measurement(float(sides[-1, s, c]) + 5.0 * c, unit="return", orientation=1)
            values = {name: float(sides[place, s, c]) for place, name in enumerate(names)}
            worse = {name: value - RULES.slots[name].orientation * (name in RULES.calibration) * shift[s] for name, value in values.items()}
            for compression, numbers in (("none", values), ("int8", worse), ("copy", values)):
                diagnostics = {name: Measurement(number, orientation=RULES.slots[name].orientation) for name, number in numbers.items()}
                made.append(Row(Key(key.env, key.hidden, key.embed, key.seed, "trained", compression), outcome, diagnostics))
    return made


def entry(found: list[dict[str, Any]], of: str) -> dict[str, Any]:
    return next(item for item in found if item["of"] == of)


def test_seed_effects_are_found_and_capacity_effects_are_not() -> None:
    found = intra_seed(rows(300, 3, 0.5), RULES)
    assert [item["of"] for item in found] == ["outcome", "perceptual", "control", "contrast under int8"]
    for of in ("outcome", "perceptual", "control"):
        low, high = entry(found, of)["interval"]
        assert low < 0.5 < high + 0.05  # ranks agree a little less than what they rank
        assert high - low < 0.15
    assert entry(found, "contrast under int8")["icc"] == pytest.approx(1.0)
    estimate, upper = assumed(found), assumed(found, upper=True)
    assert estimate is not None
    assert upper is not None
    assert 0.4 < estimate < upper < 0.6


def test_one_seed_or_one_capacity_gives_null_with_a_reason() -> None:
    for seeds, capacities, reason in ((1, 3, "too_few_seeds"), (6, 1, "too_few_samples")):
        found = intra_seed(rows(seeds, capacities, 0.5), RULES)
        assert entry(found, "outcome")["icc"] is None
        assert entry(found, "outcome")["reason"] == reason
        assert entry(found, "outcome")["interval_reason"] == reason
        assert assumed(found) is None


def test_a_missing_cell_takes_its_seed_out() -> None:
    made = [row for row in rows(6, 3, 0.5) if (row.key.hidden, row.key.seed, row.key.compression) != (8, 2, "none")]
    found = intra_seed(made, RULES)
    assert {(item["n_seeds"], item["n_dropped_seeds"]) for item in found} == {(5, 1)}


def test_negative_estimates_count_as_zero() -> None:
    found = [
        {"environment": "a", "of": name, "icc": value, "interval": [value - 0.1, value + 0.3]}
        for name, value in (("outcome", -0.2), ("perceptual", 0.5), ("control", 0.4))
    ]
    assert assumed(found) == 0.0
    assert assumed(found, upper=True) == pytest.approx(np.sqrt(0.1 * 0.8))
