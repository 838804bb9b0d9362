"""The search itself: against a scalar reference, on problems with known optima, and on broken scores."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as trials
from hypothesis import strategies as st
from numpy.typing import NDArray

from wm_audit.core import stream, strict_json
from wm_audit.policy.cem import CemSettings, PlanTrace, plan, select_elites

Floats = NDArray[np.float64]
GOLDEN = Path(__file__).parent / "golden" / "cem_trace.json"
LOW, HIGH = np.array([-1.0, -0.5]), np.array([1.0, 2.0])


def quadratic(goal: Floats) -> Callable[[Floats], Floats]:
    """Goal (B, T, A): best return 0 at the goal."""
    return lambda actions: np.asarray(-((actions - goal[:, None]) ** 2).sum(axis=(2, 3)))


def goals(batch: int, horizon: int) -> Floats:
    return stream(3, "goals").uniform((batch, horizon, 2), -0.5, 0.9)


def search(score: Callable[[Floats], Floats], batch: int, chosen: CemSettings, **more: Any) -> PlanTrace:
    return plan(score, LOW, HIGH, batch=batch, settings=chosen, stream=stream(1, "search"), **more)


def kept(trace: PlanTrace) -> Floats:
    assert trace.candidates is not None
    return trace.candidates


def reference(goal: Floats, chosen: CemSettings, problem: int) -> dict[str, Any]:
    """One problem, candidate by candidate, number by number; no warm start."""
    noise = stream(1, "search").child(problem)
    horizon, size = goal.shape
    mean = [[(LOW[a] + HIGH[a]) / 2 for a in range(size)] for _ in range(horizon)]
    std = [[chosen.init_std * (HIGH[a] - LOW[a]) for a in range(size)] for _ in range(horizon)]
    best: Any = None
    rounds: dict[str, list[Any]] = {"candidates": [], "returns": [], "elites": [], "mean": [], "std": []}
    for i in range(chosen.iterations):
        draw = noise.normal((chosen.candidates, horizon, size))
        batch = [
            [[min(max(mean[h][a] + std[h][a] * draw[j, h, a], LOW[a]), HIGH[a]) for a in range(size)] for h in range(horizon)]
            for j in range(chosen.candidates)
        ]
        if i > 0:
            batch[0], batch[1] = [list(row) for row in mean], best
        batch = [[[float(np.float32(number)) for number in row] for row in item] for item in batch]
        returns = [-sum((item[h][a] - goal[h, a]) ** 2 for h in range(horizon) for a in range(size)) for item in batch]
        order = sorted(range(len(batch)), key=lambda j: -returns[j])[: chosen.elites]
        best = batch[order[0]]
        for h in range(horizon):
            for a in range(size):
                values = [batch[j][h][a] for j in order]
                centre = sum(values) / len(values)
                spread = (sum((value - centre) ** 2 for value in values) / len(values)) ** 0.5
                mean[h][a] = chosen.alpha * mean[h][a] + (1 - chosen.alpha) * centre
                std[h][a] = max(chosen.alpha * std[h][a] + (1 - chosen.alpha) * spread, chosen.std_floor * (HIGH[a] - LOW[a]))
        state = ([list(row) for row in mean], [list(row) for row in std])
        for name, item in zip(rounds, (batch, returns, order, *state), strict=True):
            rounds[name].append(item)
    return rounds


@pytest.mark.parametrize("alpha", [0.0, 0.25])
def test_the_trace_equals_a_scalar_reference(alpha: float) -> None:
    chosen = CemSettings(horizon=3, candidates=9, elites=3, iterations=4, alpha=alpha)
    goal = goals(2, 3)
    trace = search(quadratic(goal), 2, chosen)
    for problem in range(2):
        expected = reference(goal[problem], chosen, problem)
        np.testing.assert_array_equal(trace.elites[:, problem], expected["elites"])
        for name in ("candidates", "returns", "mean", "std"):
            np.testing.assert_allclose(getattr(trace, name)[:, problem], expected[name], rtol=0, atol=2e-7, err_msg=name)


def test_the_trace_is_the_stored_one() -> None:
    """Guards the meaning of a stream: plans of published results can be made again."""
    stored = strict_json.load(GOLDEN)
    trace = search(quadratic(np.array(stored["goal"])), 2, CemSettings(**stored["settings"]))
    np.testing.assert_array_equal(trace.elites, stored["elites"])
    for name in ("candidates", "returns", "mean", "std", "plan"):
        np.testing.assert_allclose(getattr(trace, name), stored[name], rtol=0, atol=1e-6, err_msg=name)


def test_it_finds_the_optimum_of_a_quadratic() -> None:
    goal = goals(8, 3)
    trace = search(quadratic(goal), 8, CemSettings(horizon=3, candidates=200, elites=20, iterations=12, std_floor=0.001))
    np.testing.assert_allclose(trace.plan, goal, atol=0.03)


def test_it_beats_random_shooting_with_the_same_budget() -> None:
    goal, chosen = goals(32, 4), CemSettings(horizon=4, candidates=40, elites=6, iterations=5, std_floor=0.01)
    trace = search(quadratic(goal), 32, chosen)
    shots = LOW + (HIGH - LOW) * stream(2, "shooting").uniform((32, 200, 4, 2))
    by_search, by_chance = quadratic(goal)(trace.plan[:, None])[:, 0], quadratic(goal)(shots).max(axis=1)
    assert (by_search > by_chance).all()


def test_the_best_so_far_is_never_lost() -> None:
    trace = search(quadratic(goals(6, 4)), 6, CemSettings(horizon=4, candidates=12, elites=3, iterations=8))
    best = trace.returns.max(axis=2)
    assert (np.diff(best, axis=0) >= 0).all()


def test_the_mean_is_a_candidate_from_the_second_round_on() -> None:
    trace = search(quadratic(goals(2, 3)), 2, CemSettings(horizon=3, candidates=9, elites=3, iterations=4))
    np.testing.assert_allclose(kept(trace)[1:, :, 0], trace.mean[:-1], atol=1e-7)


def test_a_given_mean_is_a_candidate_at_once() -> None:
    mean = np.full((2, 3, 2), 0.25)
    trace = search(quadratic(goals(2, 3)), 2, CemSettings(horizon=3, candidates=9, elites=3, iterations=2), mean=mean)
    np.testing.assert_array_equal(kept(trace)[0, :, 0], mean)


@trials(max_examples=25, deadline=None)
@given(st.integers(2, 5), st.integers(0, 4), st.data())
def test_a_plan_does_not_depend_on_its_batch(batch: int, pick: int, data: st.DataObject) -> None:
    elites, alpha = data.draw(st.integers(2, 12)), data.draw(st.floats(0.0, 0.9))
    horizon, iterations, hold = (data.draw(st.integers(1, 3)) for _ in range(3))
    chosen = CemSettings(horizon, elites + 4, elites, iterations, alpha=alpha, hold=hold)
    goal, i = goals(batch, horizon * hold), pick % batch
    together = search(quadratic(goal), batch, chosen)
    alone = plan(quadratic(goal[i : i + 1]), LOW, HIGH, batch=1, settings=chosen, stream=[stream(1, "search").child(i)])
    np.testing.assert_array_equal(together.plan[i], alone.plan[0])
    np.testing.assert_array_equal(kept(together)[:, i], kept(alone)[:, 0])


def test_search_noise_differs_between_problems() -> None:
    candidates = kept(search(quadratic(np.zeros((2, 3, 2))), 2, CemSettings(horizon=3, candidates=9, elites=3, iterations=1)))
    assert not np.array_equal(candidates[0, 0], candidates[0, 1])


def test_the_same_stream_gives_the_same_plan_twice() -> None:
    chosen = CemSettings(horizon=3, candidates=9, elites=3, iterations=2)
    first, again = (search(quadratic(goals(2, 3)), 2, chosen, keep=keep) for keep in (True, False))
    np.testing.assert_array_equal(first.plan, again.plan)
    assert again.candidates is None


def test_ties_go_to_the_lower_index() -> None:
    np.testing.assert_array_equal(select_elites(np.array([[1.0, 2.0, 2.0, 1.0, 1.0]]), 4), [[1, 2, 0, 3]])
    many = stream(0, "ties").integers(3, (4, 500)).astype(np.float64)  # long enough for an unstable sort to show
    expected = [sorted(range(500), key=lambda j: (-row[j], j))[:400] for row in many]
    np.testing.assert_array_equal(select_elites(many, 400), expected)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_nonfinite_returns_are_never_elite(bad: float) -> None:
    np.testing.assert_array_equal(select_elites(np.array([[-3.0, bad, -1.0, -2.0]]), 3), [[2, 3, 0]])
    np.testing.assert_array_equal(select_elites(np.array([[-3.0, bad, -1.0]]), 3), [[2, 0, -1]])
    np.testing.assert_array_equal(select_elites(np.array([[bad, bad, -1e308]]), 2), [[2, -1]])

    def score(actions: Floats) -> Floats:  # finite returns are negative and best at -1; everything above zero is broken
        first = actions[:, :, 0, 0]
        returns: Floats = np.where(first > 0.0, bad, -10.0 - first)
        return returns

    trace = search(score, 3, CemSettings(horizon=2, candidates=16, elites=4, iterations=4))
    chosen = np.take_along_axis(trace.returns, np.maximum(trace.elites, 0), axis=2)
    assert np.isfinite(chosen[trace.elites >= 0]).all()
    np.testing.assert_array_equal(trace.n_nonfinite, (~np.isfinite(trace.returns)).sum(axis=2))
    assert trace.n_nonfinite[0].min() > 0
    assert not trace.blind.any()
    assert (trace.plan[:, 0, 0] < -0.5).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_without_a_finite_return_the_mean_stays_and_the_plan_is_marked(bad: float) -> None:
    def score(actions: Floats) -> Floats:
        returns: Floats = quadratic(np.zeros((2, 3, 2)))(actions)
        returns[1] = bad
        return returns

    chosen, mean = CemSettings(horizon=3, candidates=8, elites=2, iterations=3), np.full((2, 3, 2), 0.5)
    trace = search(score, 2, chosen, mean=mean)
    np.testing.assert_array_equal(trace.blind, [False, True])
    np.testing.assert_array_equal(trace.plan[1], mean[1])
    np.testing.assert_array_equal(trace.n_nonfinite[:, 1], 8)
    assert (trace.elites[:, 1] == -1).all()
    assert np.isfinite(trace.plan).all()


def test_one_round_without_a_finite_return_marks_the_plan() -> None:
    calls: list[int] = []

    def score(actions: Floats) -> Floats:
        calls.append(len(calls))
        returns: Floats = quadratic(np.zeros((1, 3, 2)))(actions)
        return returns * np.nan if len(calls) == 2 else returns

    trace = search(score, 1, CemSettings(horizon=3, candidates=8, elites=2, iterations=3))
    assert trace.blind.all()
    np.testing.assert_array_equal(trace.n_nonfinite[:, 0], [0, 8, 0])
    np.testing.assert_array_equal(trace.mean[1], trace.mean[0])
    np.testing.assert_array_equal(trace.std[1], trace.std[0])


def test_one_finite_return_leaves_a_spread_to_search_with() -> None:
    def score(actions: Floats) -> Floats:
        returns = np.full(actions.shape[:2], np.nan)
        returns[:, 5] = 1.0
        return returns

    chosen = CemSettings(horizon=2, candidates=8, elites=3, iterations=2, std_floor=0.1)
    trace = search(score, 1, chosen)
    np.testing.assert_allclose(trace.std[0, 0], np.broadcast_to(0.1 * (HIGH - LOW), (2, 2)))
    np.testing.assert_array_equal(trace.mean[0, 0], kept(trace)[0, 0, 5])


def test_a_held_decision_is_scored_on_every_step_it_lasts() -> None:
    shapes: list[tuple[int, ...]] = []

    def score(actions: Floats) -> Floats:
        shapes.append(actions.shape)
        assert np.array_equal(actions[:, :, 0::3], actions[:, :, 2::3])
        return np.asarray(actions.sum(axis=(2, 3)))

    trace = search(score, 2, CemSettings(horizon=4, candidates=8, elites=2, iterations=2, hold=3))
    assert shapes == [(2, 8, 12, 2)] * 2
    assert trace.plan.shape == (2, 4, 2)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"elites": 1}, "elites"),
        ({"elites": 0}, "elites"),
        ({"candidates": 4}, "candidates"),
        ({"horizon": 0}, "horizon"),
        ({"iterations": 0}, "iterations"),
        ({"hold": 0}, "hold"),
        ({"std_floor": 0.0}, "std_floor"),
        ({"init_std": 0.01}, "init_std"),
        ({"init_std": float("nan")}, "init_std"),
        ({"alpha": 1.0}, "alpha"),
    ],
)
def test_settings_without_exploration_are_refused(change: dict[str, Any], name: str) -> None:
    with pytest.raises(ValueError, match=name):
        CemSettings(**{"horizon": 3, "candidates": 8, "elites": 4, "iterations": 2, **change})


def test_wrong_use_is_refused() -> None:
    chosen = CemSettings(horizon=3, candidates=8, elites=4, iterations=2)
    with pytest.raises(ValueError, match="score must return"):
        search(lambda actions: actions.sum(axis=(2, 3)).T, 2, chosen)
    with pytest.raises(ValueError, match="mean"):
        search(quadratic(goals(2, 3)), 2, chosen, mean=np.zeros((2, 4, 2)))
    with pytest.raises(ValueError, match="mean"):
        search(quadratic(goals(2, 3)), 2, chosen, mean=np.full((2, 3, 2), np.nan))
    with pytest.raises(ValueError, match="streams"):
        plan(quadratic(goals(2, 3)), LOW, HIGH, batch=2, settings=chosen, stream=[stream(0)])
