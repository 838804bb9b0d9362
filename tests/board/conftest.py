"""Small results documents, whole and with gaps, as a run would leave them."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from wm_audit.board import results
from wm_audit.core import Key, Measurement, Reason, Row, stream
from wm_audit.core.record import Record, seal
from wm_audit.verdict import Rules, judge

PROMISE = {"version": 0, "digest": "sha256:" + "a" * 64, "status": "draft", "locked_on": None}
ENVIRONMENT = {"torch": "2.13.0", "digest": "sha256:" + "b" * 64}
CONFIG = {"name": "small", "environments": ["pixel_nav"], "seeds": [0, 1, 2], "level": "0.9"}
RULES = replace(Rules.default(), resamples=30, permutations=99)
FEATURES = {"pixel_lpips": "stlpips_alex", "rollout_fvd": "ftd_transnetv2"}


def _row(key: Key, extras: tuple[str, ...]) -> Row:
    """Diagnostics that follow a skill; larger models are better at everything."""
    draws = stream(0, "board", key.env, key.hidden, key.seed)
    worse = 0.0 if key.compression in ("none", "copy") else 0.3
    skill = float(draws.normal(1)[0]) + key.hidden / 16
    noise = draws.normal(len(RULES.slots) + len(extras))
    diagnostics = {}
    for place, name in enumerate((*RULES.slots, *extras)):
        orientation = RULES.slot(name).orientation
        value = orientation * (skill + float(noise[place]) - worse)
        repeat = value + 0.01 if key.compression == "none" else None
        diagnostics[name] = Measurement(value, n=64, orientation=orientation, repeat=repeat, feature=FEATURES.get(name))
    returns = (10.0 + skill + 0.1 * stream(0, "starts").normal(6)).tolist()
    outcome = Measurement(sum(returns) / 6, unit="return", n=6, orientation=1)
    return Row(key, outcome, diagnostics, {"returns": returns}, {"code": "sha256:" + "c" * 64})


def _arm(env: str, arm: str) -> Row:
    returns = [20.0 + 0.1 * start if arm == "oracle" else 0.1 * start for start in range(6)]
    diagnostics = {name: Measurement.null(Reason.NOT_APPLICABLE, orientation=slot.orientation) for name, slot in RULES.slots.items()}
    if arm == "oracle":
        alike = Measurement.null(Reason.IDENTICAL_MEMBERS)
        known = {"return_ece": Measurement(0.0, n=64, orientation=-1), "counterfactual_tau": Measurement(1.0, n=64, orientation=1)}
        diagnostics |= known | {"uncertainty_rho": alike, "uncertainty_ece": alike}
    outcome = Measurement(sum(returns) / 6, unit="return", n=6, orientation=1)
    return Row(Key(env, 0, 0, 0, arm), outcome, diagnostics, {"returns": returns}, {"code": "sha256:" + "c" * 64})


@pytest.fixture(scope="session")
def rows() -> Callable[..., list[Row]]:
    """`rows(seeds=3, ...)`: the evidence of one environment."""

    def build(
        *,
        seeds: int = 3,
        capacities: int = 2,
        env: str = "pixel_nav",
        levers: tuple[str, ...] = (),
        arms: bool = True,
        extras: tuple[str, ...] = (),
    ) -> list[Row]:
        grid = [(16 * 2**place, 16 * 2**place, seed) for seed in range(seeds) for place in range(capacities)]
        made = [
            _row(Key(env, hidden, embed, seed, "trained", lever), extras) for hidden, embed, seed in grid for lever in ("none", *levers)
        ]
        return made + ([_arm(env, "oracle"), _arm(env, "random")] if arms else [])

    return build


@pytest.fixture(scope="session")
def document() -> Callable[..., dict[str, Any]]:
    """`document(rows)`: judged and built."""

    def build(made: list[Row], rules: Rules = RULES, **said: Any) -> dict[str, Any]:
        statistics, verdicts = judge(made, rules)
        header: dict[str, Any] = {"preregistration": PROMISE, "config": CONFIG, "environment": ENVIRONMENT}
        return results.build(rows=made, statistics=statistics, verdicts=verdicts, **(header | said))

    return build


@pytest.fixture(scope="session")
def record() -> Callable[..., Record]:
    """`record(row)`: the row with what it was run under."""

    def build(row: Row, **said: Any) -> Record:
        under = {"resume_key": "sha256:" + "d" * 64, "preregistration": PROMISE, "config": CONFIG, "environment": ENVIRONMENT}
        return Record(**(under | said), row=seal(row.to_json()))

    return build
