"""The controls with known answers, in the built-in world: if one of these fails, no audit can be believed."""

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from wm_audit.core import Measurement, Reason, stream
from wm_audit.data import Counterfactual, Segments, assemble, collect, counterfactual, held, segments, uniform
from wm_audit.diagnostics import counterfactual_tau, pixel_mse, pixel_nll, pixel_ssim, return_ece, uncertainty_ece, uncertainty_rho
from wm_audit.diagnostics.evidence import Evidence
from wm_audit.diagnostics.parameters import Parameters
from wm_audit.envs import Oracle, make
from wm_audit.models.controls import CONTROLS

WORLDS: list[tuple[str, str]] = [("pixel_nav", "none"), ("two_room", "goal")]


def value(found: Measurement) -> float:
    assert found.value is not None, found.reason
    return found.value


@cache
def probes(env_id: str, terminal: str) -> tuple[Oracle, Segments, Counterfactual]:
    env = make(env_id, {"image": 16, "limit": 30, "reward": "dense", "terminal": terminal})
    shares = {"uniform": 0.5, "held": 0.5}
    episodes = collect(env, {"uniform": uniform, "held": held(6)}, shares, 900, root=5, seed=0)
    dataset = assemble(episodes, env.spec, {"train": 0.2, "probe": 0.4, "held_out": 0.4}, 5, 0)
    future = segments(dataset, "held_out", 24, context=3, horizon=8, stream=stream(5, "segments"))
    return env, future, counterfactual(dataset, env, n_states=12, n_actions=6, hold=6, context=3, stream=stream(5, "probe"))


@cache
def audited(control: str, env_id: str, terminal: str, batch: int = 24) -> Evidence:
    env, future, probe = probes(env_id, terminal)
    return Evidence(CONTROLS[control](env, 3), future, probe, Parameters(batch=batch))


@pytest.fixture(params=WORLDS, ids="-".join)
def audit(request: pytest.FixtureRequest) -> Callable[[str], Any]:
    return lambda control: audited(control, *request.param)


def test_the_oracle_is_perfect_to_the_bit(audit: Callable[[str], Evidence]) -> None:
    found = audit("oracle")
    assert return_ece.measure(found).value == 0.0
    assert counterfactual_tau.measure(found).value == 1.0
    assert pixel_mse.measure(found).value == pixel_mse.measure_open_loop(found).value == 0.0
    assert pixel_ssim.measure(found).value == pixel_ssim.measure_open_loop(found).value == 1.0
    for measure in (uncertainty_rho.measure, uncertainty_ece.measure, uncertainty_rho.measure_reward, uncertainty_ece.measure_reward):
        assert measure(found).reason is Reason.IDENTICAL_MEMBERS


def test_an_action_blind_model_looks_good_and_ranks_nothing(audit: Callable[[str], Evidence]) -> None:
    found = audit("action_blind")
    assert counterfactual_tau.measure(found).value == 0.0
    assert value(pixel_ssim.measure(found)) > 0.95
    assert value(pixel_mse.measure(found)) < value(pixel_mse.measure(audit("constant"))) / 4
    assert value(counterfactual_tau.measure_pooled(found)) > 0.3
    assert value(return_ece.measure(found)) > 0.0


def test_a_constant_model_ranks_nothing(audit: Callable[[str], Evidence]) -> None:
    found = audit("constant")
    assert counterfactual_tau.measure(found).value == 0.0
    assert value(return_ece.measure(found)) > 0.0
    assert value(pixel_nll.measure(found)) > value(pixel_nll.measure(audit("oracle")))


def test_a_shuffled_reward_keeps_the_pictures_and_loses_the_ranking(audit: Callable[[str], Evidence]) -> None:
    found = audit("shuffled_reward")
    assert pixel_mse.measure(found).value == 0.0
    assert abs(value(counterfactual_tau.measure(found))) < 0.35
    assert value(return_ece.measure(found)) > 0.0


def test_the_controls_do_not_feel_the_batch() -> None:
    other, plain = audited("action_blind", *WORLDS[0], batch=7), audited("action_blind", *WORLDS[0])
    for module in (pixel_mse, pixel_ssim, pixel_nll, return_ece, counterfactual_tau):
        assert module.measure(other) == module.measure(plain)
